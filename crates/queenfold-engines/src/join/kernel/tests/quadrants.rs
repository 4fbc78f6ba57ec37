//! The loops that make and cross boards of quadrants, with every instruction set, against plain
//! iterators.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::{
    Boards, Entry, JoinKernel, KeyBatch, NewColumn, QuadrantBoards, Queen, Run, SLACK,
};
use super::{Random, sorted};
use crate::board::bits;
use crate::join::half::MAX_ROWS;
use crate::join::row_sets::RowSets;
use crate::simd::stamp_tests;

/// Boards of a quadrant as plain lists, with random lines and keys, and the slack that follows them.
struct Quadrant {
    lines: Vec<u32>,
    low: Vec<u32>,
    high: Vec<u32>,
}

impl Quadrant {
    fn random(random: &mut Random, count: usize) -> Self {
        let [lines, low, high] = [(); 3].map(|()| random.keys(count + SLACK));
        Self { lines, low, high }
    }

    fn boards(&self) -> Boards<'_> {
        Boards {
            lines: &self.lines,
            low: &self.low,
            high: &self.high,
        }
    }

    fn key(&self, board: usize, high: bool) -> u64 {
        let upper = if high { self.high[board] } else { 0 };
        u64::from(upper) << 32 | u64::from(self.low[board])
    }
}

fn range(run: Run) -> std::ops::Range<usize> {
    run.begin as usize..run.end as usize
}

/// A run of so many boards of 200.
fn run_of(count: u32) -> Run {
    let begin = (200 - count) / 2;
    Run {
        begin,
        end: begin + count,
    }
}

fn crossings(kernel: impl JoinKernel) {
    let mut random = Random::new(4);
    let [left, right] = [(); 2].map(|()| Quadrant::random(&mut random, 200));
    let boards = [left.boards(), right.boards()];
    // An empty side, single boards, and more boards than the registers hold; either side in
    // vectors.
    let counts = [
        (0, 5),
        (3, 0),
        (1, 1),
        (5, 7),
        (9, 8),
        (7, 9),
        (12, 38),
        (38, 33),
        (66, 70),
        (1, 150),
        (150, 2),
        (200, 3),
    ];
    for (left_count, right_count) in counts {
        let pair = [run_of(left_count), run_of(right_count)];
        for high in [true, false] {
            let pairs = range(pair[0]).flat_map(|i| range(pair[1]).map(move |j| (i, j)));
            let expected: Vec<u64> = pairs
                .filter(|&(i, j)| left.lines[i] & right.lines[j] == 0)
                .map(|(i, j)| left.key(i, high) | right.key(j, high))
                .collect();
            // What is there stays.
            let mut found: KeyBatch = [42].into_iter().collect();
            if !high {
                found.high.clear();
            }
            let done = kernel.cross(&[pair], boards, high, &mut found);
            assert_eq!((done, found.high.is_empty()), (1, !high));
            assert_eq!(found.ends, [1 + expected.len() as u32]);
            let found: Vec<u64> = found.iter().collect();
            assert_eq!(found[0], 42);
            assert_eq!(sorted(&found[1..]), sorted(&expected), "{pair:?}");
        }
    }
}

/// A crossing stops when there are enough keys, and the next call continues there.
fn crossings_in_batches(kernel: impl JoinKernel) {
    let quadrant = Quadrant {
        lines: vec![0; 100 + SLACK],
        low: (0..100 + SLACK as u32).collect(),
        high: vec![0; 100 + SLACK],
    };
    let boards = [quadrant.boards(); 2];
    let runs = [[Run { begin: 0, end: 30 }; 2]; 7];
    let mut rest = &runs[..];
    let mut batches = Vec::new();
    while !rest.is_empty() {
        let mut found = KeyBatch::default();
        let done = kernel.cross(rest, boards, true, &mut found);
        assert_eq!(found.low.len(), 900 * done);
        let ends: Vec<u32> = (1..=done as u32).map(|run| 900 * run).collect();
        assert_eq!(found.ends, ends);
        batches.push(done);
        rest = &rest[done..];
    }
    assert_eq!(batches, [3, 3, 1]);
}

/// Runs that go beyond the end of either list, or end before they begin, are refused.
fn boards_that_are_not_there(kernel: impl JoinKernel) {
    let mut random = Random::new(10);
    let quadrant = Quadrant::random(&mut random, 10);
    let refuses = |runs: [Run; 2], boards: [Boards<'_>; 2]| {
        catch_unwind(AssertUnwindSafe(|| {
            kernel.cross(&[runs], boards, true, &mut KeyBatch::default());
        }))
        .is_err()
    };
    let run = |begin, end| Run { begin, end };
    let (one, all) = (run(0, 1), run(0, 10));
    let boards = quadrant.boards();
    assert!(!refuses([all, all], [boards; 2]));
    for wrong in [
        run(1, 11),
        run(10, 11),
        run(0, 43),
        run(u32::MAX, 1),
        run(2, 1),
    ] {
        for pair in [[one, wrong], [wrong, one]] {
            assert!(refuses(pair, [boards; 2]), "{pair:?}");
        }
    }
    // The shortest of the lists decides.
    let shorter = |list: &'static str| {
        let cut = |name, all: &'_ [u32]| {
            if name == list {
                all.len() - 1
            } else {
                all.len()
            }
        };
        Boards {
            lines: &boards.lines[..cut("lines", boards.lines)],
            low: &boards.low[..cut("low", boards.low)],
            high: &boards.high[..cut("high", boards.high)],
        }
    };
    for list in ["lines", "low", "high"] {
        assert!(refuses([all, one], [shorter(list), boards]), "{list}");
        assert!(refuses([one, all], [boards, shorter(list)]), "{list}");
    }
}

fn moved_lines(kernel: impl JoinKernel) {
    let mut random = Random::new(11);
    let lines: Vec<u32> = (0..37).map(|_| random.next() as u32).collect();
    // Each diagonal on its own: a row from 0 to 15, or none if it leaves the half board.
    let moved = |lines: u32, columns: i32| {
        let places = (0..32).filter(|place| lines >> place & 1 == 1);
        places.fold(0u32, |moved, place| {
            let (row, base, steps) = if place < 16 {
                (place, 0, columns)
            } else {
                (place - 16, 16, -columns)
            };
            let row = row + steps;
            moved
                | if (0..16).contains(&row) {
                    1 << (base + row)
                } else {
                    0
                }
        })
    };
    for columns in (0..=20).chain([40]) {
        for (rising, steps) in [(true, columns), (false, -columns)] {
            let mut found = vec![1, 2, 3];
            kernel.move_lines(&lines, columns as u32, rising, &mut found);
            let expected: Vec<u32> = lines.iter().map(|lines| moved(*lines, steps)).collect();
            assert_eq!(found, expected, "{columns} columns, {rising}");
        }
    }
}

/// A board of a quadrant: lines, low and high part of the key.
type Board = [u32; 3];

/// For each set of rows, in the order of their numbers, and each row of the queen placed last: the
/// boards.
type Grown = Vec<Vec<Board>>;

/// Grows boards as [`Grow::grow`](super::super::Grow::grow) does: `parents` has one list for each set of
/// rows.
fn grown(
    parents: &[Vec<Board>],
    lines: &[u32],
    queens: &[Queen; MAX_ROWS],
    (rows, size): (&RowSets, usize),
    wanted: impl Fn(usize) -> bool,
) -> Grown {
    // The lines of each parent board in the column of the queen.
    let mut lines = lines.iter();
    let parents: Vec<Vec<Board>> = parents
        .iter()
        .map(|boards| {
            let with_lines = |&[_, low, high]: &Board| [*lines.next().unwrap(), low, high];
            boards.iter().map(with_lines).collect()
        })
        .collect();
    let mut grown = Vec::new();
    for (number, &set) in rows.sets(size).iter().enumerate() {
        for row in bits(set) {
            let queen = &queens[row as usize];
            let fits =
                |board: &&Board| wanted(number) && queen.there != 0 && board[0] & queen.lines == 0;
            let fitting = parents[rows.number(set ^ 1 << row)].iter().filter(fits);
            let added = fitting.map(|&[lines, low, high]| {
                [lines | queen.lines, low | queen.low, high | queen.high]
            });
            grown.push(added.collect());
        }
    }
    grown
}

fn expect_boards(boards: &QuadrantBoards, entry: Entry, expected: &Grown) {
    let Boards { lines, low, high } = boards.boards(entry);
    let all: Vec<Board> = expected.concat();
    let zipped = lines.iter().zip(low).zip(high);
    let found: Vec<Board> = zipped
        .take(all.len())
        .map(|((a, b), c)| [*a, *b, if boards.has_high() { *c } else { 0 }])
        .collect();
    assert!(found == all, "{} boards", all.len());
    assert_eq!(lines.len(), all.len() + SLACK);
    let mut next = 0;
    let mut starts: Vec<u32> = expected
        .iter()
        .map(|boards| {
            next += boards.len() as u32;
            next - boards.len() as u32
        })
        .collect();
    starts.push(next);
    assert_eq!(boards.starts(entry), starts);
}

/// Random queens, a few of them not there, whose diagonals are rare enough that many boards stay
/// free.
fn random_queens(random: &mut Random) -> [Queen; MAX_ROWS] {
    std::array::from_fn(|_| Queen {
        lines: (random.key() & random.key()) as u32,
        low: random.key() as u32,
        high: random.key() as u32,
        there: if random.next().is_multiple_of(8) {
            0
        } else {
            u32::MAX
        },
    })
}

fn growing(kernel: impl JoinKernel) {
    for high in [true, false] {
        growing_keys(kernel, high);
    }
}

/// With `high` false, all high parts of keys are 0.
fn growing_keys(kernel: impl JoinKernel, high: bool) {
    const ROWS: u32 = if cfg!(miri) { 3 } else { 6 };
    let mut random = Random::new(12);
    let rows = RowSets::new(ROWS);
    let mut boards = QuadrantBoards::default();
    let mut entry = boards.add_empty(high);
    let mut parents: Vec<Vec<Board>> = vec![vec![[0; 3]]];
    expect_boards(&boards, entry, &parents);
    for size in 1..=ROWS as usize {
        let mut queens = random_queens(&mut random);
        if !high {
            queens.iter_mut().for_each(|queen| queen.high = 0);
        }
        let count: usize = parents.iter().map(Vec::len).sum();
        let sparse = |random: &mut Random| (random.key() & random.key()) as u32;
        let lines: Vec<u32> = (0..count + SLACK).map(|_| sparse(&mut random)).collect();
        // Only sets of rows whose rank is at most this get boards.
        let ranks: Vec<u32> = rows
            .sets(size)
            .iter()
            .map(|_| random.next() as u32 % 9)
            .collect();
        for most in [0, 4, 8] {
            let grow = |number: usize| ranks[number] <= most;
            let expected = grown(&parents, &lines, &queens, (&rows, size), grow);
            let wanted = Some((&ranks[..], most));
            let part = kernel
                .grow(
                    &mut boards,
                    entry,
                    &lines,
                    &NewColumn {
                        queens: &queens,
                        rows: &rows,
                        size,
                        wanted,
                        high,
                    },
                    u64::MAX,
                )
                .unwrap();
            expect_boards(&boards, part, &expected);
            boards.remove_last(part);
        }
        let expected = grown(&parents, &lines, &queens, (&rows, size), |_| true);
        let before = boards.bytes();
        entry = kernel
            .grow(
                &mut boards,
                entry,
                &lines,
                &NewColumn {
                    queens: &queens,
                    rows: &rows,
                    size,
                    wanted: None,
                    high,
                },
                u64::MAX,
            )
            .unwrap();
        expect_boards(&boards, entry, &expected);
        let made: usize = expected.iter().map(Vec::len).sum();
        let words = 3 * made + boards.starts(entry).len();
        assert_eq!(boards.bytes() - before, 4 * words as u64);
        parents = expected.chunks(size).map(<[_]>::concat).collect();
    }
    let made: usize = parents.iter().map(Vec::len).sum();
    assert!(made > 0, "no board is left to be compared");
}

/// Boards are not made where there is no room for them, nor from lines that are too few.
fn growing_without_room(kernel: impl JoinKernel) {
    let rows = RowSets::new(8);
    let queens = [Queen {
        there: u32::MAX,
        ..Queen::default()
    }; MAX_ROWS];
    let mut boards = QuadrantBoards::default();
    let mut entry = boards.add_empty(true);
    for size in 1..=3 {
        let lines = vec![0; boards.boards(entry).lines.len()];
        entry = kernel
            .grow(
                &mut boards,
                entry,
                &lines,
                &NewColumn {
                    queens: &queens,
                    rows: &rows,
                    size,
                    wanted: None,
                    high: true,
                },
                u64::MAX,
            )
            .unwrap();
    }
    let lines = vec![0; boards.boards(entry).lines.len()];
    assert_eq!(lines.len(), 8 * 7 * 6 + SLACK);
    let column = NewColumn {
        queens: &queens,
        rows: &rows,
        size: 4,
        wanted: None,
        high: true,
    };
    let (bytes, starts) = (boards.bytes(), boards.starts(entry).to_vec());
    // No room at all; then for the runs, so that it ends after some of the boards.
    for room in [0, bytes + 4 * (4 * rows.sets(4).len() as u64 + 1)] {
        let made = kernel.grow(&mut boards, entry, &lines, &column, room);
        assert!(made.is_none(), "{room} bytes");
        assert_eq!(boards.bytes(), bytes);
        assert_eq!(boards.starts(entry), starts);
    }
    let made = kernel.grow(&mut boards, entry, &lines, &column, u64::MAX);
    let made = made.expect("there is room");
    assert_eq!(boards.boards(made).lines.len(), 8 * 7 * 6 * 5 + SLACK);
    boards.remove_last(made);
    for missing in [1, SLACK, 8 * 7 * 6 + SLACK] {
        let fewer = &lines[missing..];
        let grow = || kernel.grow(&mut boards, entry, fewer, &column, u64::MAX);
        let grown = catch_unwind(AssertUnwindSafe(grow));
        assert!(grown.is_err(), "{missing} lines missing");
    }
    // An entry without boards is read by whole vectors too.
    let nobody = [Queen::default(); MAX_ROWS];
    let none = NewColumn {
        queens: &nobody,
        ..column
    };
    let empty = kernel.grow(&mut boards, entry, &lines, &none, u64::MAX);
    let empty = empty.expect("there is room");
    assert_eq!(boards.boards(empty).lines.len(), SLACK);
    let column = NewColumn { size: 5, ..column };
    for missing in [1, SLACK] {
        let lines = &[0; SLACK][missing..];
        let grow = || kernel.grow(&mut boards, empty, lines, &column, u64::MAX);
        assert!(catch_unwind(AssertUnwindSafe(grow)).is_err());
    }
}

stamp_tests! {
    crossings_are_all_pairs_that_do_not_attack: crossings,
    crossings_come_in_batches: crossings_in_batches,
    boards_that_are_not_there_are_refused: boards_that_are_not_there,
    lines_move_along_their_diagonals: moved_lines,
    boards_grow_by_every_queen_that_is_free: growing,
    boards_without_room_or_lines_are_refused: growing_without_room,
}
