//! Completions themselves, not their number: the first ones that a search finds, or random ones.
//!
//! * [`solve`]: lists completions of a board.
//! * [`solutions`]: each of them, however many there are.
//! * `search`: the search, which stops at each solution and goes on from there.

mod search;

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::board::GivenBoard;
use search::{NodesUsedUp, Order, Search};

/// Up to this size all completions are listed, however long that takes: 14,200 on the free board of 12
/// queens, in some milliseconds.
const LISTED: u32 = 12;

/// Nodes in which the completions of a larger board are listed if they can be: less than a second.
const FEW_NODES: u64 = 1 << 20;

/// Nodes after which a random search begins again; twice as many each time, so that it comes to an end.
const FIRST_LIMIT: u64 = 1 << 12;

/// After this many draws in a row that give boards found before, no more are looked for.
const REPEATS: u32 = 100;

/// Which completions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The first ones that the search finds. Its order is the same on every machine.
    First,
    /// Random ones. The same seed chooses the same.
    Random {
        /// The seed.
        seed: u64,
    },
}

/// How completions were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// They are the first ones of the search.
    First,
    /// All sets of completions of this size were equally probable.
    Uniform,
    /// By a search that tries squares in random order: some completions are more probable than others.
    NotUniform,
}

/// Some completions of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Different completions: for each row from the top, the column of its queen.
    pub boards: Vec<Vec<u8>>,
    /// How they were chosen.
    pub chosen: Chosen,
    /// Whether it is known that there are no others.
    pub all: bool,
    /// Whether a random search gave up before it had found as many as were wanted, because it found the same
    /// ones again and again: there may be others.
    pub gave_up: bool,
}

/// Lists up to `count` different completions of `board`.
///
/// ```
/// # mod queenfold { pub use queenfold_engines::{board::*, solve::*}; }
/// use queenfold::{Choice, GivenBoard, Size, solve};
///
/// let board = GivenBoard::parse(Size::new(8)?, "b4,d5", "")?;
/// let solved = solve(&board, 10, Choice::First);
/// assert_eq!((solved.boards.len(), solved.all), (2, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(board: &GivenBoard, count: usize, choice: Choice) -> Solved {
    match choice {
        Choice::First => {
            let (boards, ended) = list(board, count, u64::MAX);
            Solved {
                all: ended,
                boards,
                chosen: Chosen::First,
                gave_up: false,
            }
        }
        Choice::Random { seed } => draw(board, count, Rng::with_seed(seed)),
    }
}

/// Each completion of `board`: for each row from the top, the column of its queen, from 0. The order is the same on every
/// machine. Each is found when it is asked for.
///
/// ```
/// # mod queenfold { pub use queenfold_engines::{board::*, solve::*}; }
/// use queenfold::{GivenBoard, Size, solutions};
///
/// let board = GivenBoard::free(Size::new(8)?);
/// assert_eq!(solutions(&board).count(), 92);
/// assert_eq!(solutions(&board).next(), Some(vec![0, 4, 7, 5, 2, 6, 1, 3]));
/// # Ok::<(), queenfold::SizeError>(())
/// ```
pub fn solutions(board: &GivenBoard) -> Solutions {
    Solutions(Search::new(board, Order::FewestFirst, u64::MAX))
}

/// The same in lexicographic order: by the column of the queen in the top row, then in the next one, and so on. On large
/// boards the first one takes long.
pub fn solutions_by_rows(board: &GivenBoard) -> Solutions {
    Solutions(Search::new(board, Order::Rows, u64::MAX))
}

/// Whether a completion of `board` stands for its orbit: it is the smallest of its images under the symmetries that fix
/// the board.
pub fn is_representative(board: &GivenBoard, queens: &[u8]) -> bool {
    let mut group = board.symmetries().iter();
    group.all(|symmetry| queens <= &symmetry.apply_to_placement(queens)[..])
}

/// The completions of a board, one after the other: see [`solutions`].
pub struct Solutions(Search);

impl Iterator for Solutions {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        // Its nodes are not limited.
        Some(self.0.next().ok()??.to_vec())
    }
}

/// Up to `most` completions, found in at most this many nodes, and whether there are no others.
fn list(board: &GivenBoard, most: usize, nodes: u64) -> (Vec<Vec<u8>>, bool) {
    let mut search = Search::new(board, Order::FewestFirst, nodes);
    let mut boards = Vec::new();
    loop {
        match search.next() {
            Ok(Some(queens)) if boards.len() < most => boards.push(queens.to_vec()),
            Ok(Some(_)) | Err(NodesUsedUp) => return (boards, false),
            Ok(None) => return (boards, true),
        }
    }
}

fn draw(board: &GivenBoard, count: usize, mut random: Rng) -> Solved {
    let nodes = match board.size().get() {
        ..=LISTED => u64::MAX,
        _ => FEW_NODES,
    };
    let (mut boards, ended) = list(board, usize::MAX, nodes);
    if ended {
        let all = boards.len() <= count;
        random.shuffle(&mut boards);
        boards.truncate(count);
        return Solved {
            boards,
            chosen: Chosen::Uniform,
            all,
            gave_up: false,
        };
    }
    draw_by_search(board, count, random)
}

/// Draws by a random search, which starts again for each completion.
fn draw_by_search(board: &GivenBoard, count: usize, mut random: Rng) -> Solved {
    let mut boards = Vec::new();
    let mut found = BTreeSet::new();
    let mut repeats = 0;
    while boards.len() < count && repeats < REPEATS {
        let Some(queens) = draw_one(board, &mut random) else {
            return Solved {
                boards,
                chosen: Chosen::NotUniform,
                all: true,
                gave_up: false,
            };
        };
        repeats += 1;
        if found.insert(queens.clone()) {
            repeats = 0;
            boards.push(queens);
        }
    }
    Solved {
        gave_up: boards.len() < count,
        boards,
        chosen: Chosen::NotUniform,
        all: false,
    }
}

/// A completion by a random search; `None` if there is none.
fn draw_one(board: &GivenBoard, random: &mut Rng) -> Option<Vec<u8>> {
    let mut limit = FIRST_LIMIT;
    loop {
        match Search::new(board, Order::Random(random.fork()), limit).next() {
            Ok(found) => return found.map(<[u8]>::to_vec),
            Err(NodesUsedUp) => limit *= 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Size, Square, known};

    fn board(n: u32, queens: &str, holes: &str) -> GivenBoard {
        GivenBoard::parse(Size::new(n).unwrap(), queens, holes).unwrap()
    }

    fn is_completion(board: &GivenBoard, queens: &[u8]) -> bool {
        let squares: Vec<_> = (0..)
            .zip(queens)
            .map(|(row, &column)| Square::new(row, column))
            .collect();
        let given = board.queens().iter().all(|queen| squares.contains(&queen));
        let peace = squares
            .iter()
            .all(|a| squares.iter().all(|b| !a.attacks(*b)));
        let free = squares
            .iter()
            .all(|square| !board.holes().contains(*square));
        given && peace && free && queens.len() == board.size().get() as usize
    }

    #[test]
    fn all_completions_are_found_once() {
        for n in 1..=10 {
            let solved = solve(&board(n, "", ""), usize::MAX, Choice::First);
            let different: BTreeSet<_> = solved.boards.iter().collect();
            let total = known(Size::new(n).unwrap()).unwrap().total;
            assert_eq!(
                (different.len() as u128, solved.all),
                (total, true),
                "n = {n}"
            );
            let is_solution = |queens: &Vec<u8>| is_completion(&board(n, "", ""), queens);
            assert!(solved.boards.iter().all(is_solution));
        }
    }

    #[test]
    fn by_rows_the_order_is_lexicographic() {
        for (n, queens, holes) in [(8, "", ""), (9, "c3", "a1"), (1, "", ""), (3, "", "")] {
            let given = board(n, queens, holes);
            let by_rows: Vec<_> = solutions_by_rows(&given).collect();
            let mut all: Vec<_> = solutions(&given).collect();
            all.sort();
            assert_eq!(by_rows, all, "n = {n}");
        }
    }

    #[test]
    fn each_orbit_has_one_representative() {
        for n in 1..=9 {
            let free = board(n, "", "");
            let found = solutions(&free).filter(|queens| is_representative(&free, queens));
            let unique = known(Size::new(n).unwrap()).unwrap().unique;
            assert_eq!(found.count() as u128, unique, "n = {n}");
        }
        // Only the half turn fixes these holes.
        let given = board(8, "", "a2,h7");
        let found = solutions(&given).filter(|queens| is_representative(&given, queens));
        let fixed = |queens: &Vec<u8>| {
            crate::board::Symmetry::HalfTurn.apply_to_placement(queens) == *queens
        };
        let (all, fixed) = (
            solutions(&given).count(),
            solutions(&given).filter(fixed).count(),
        );
        assert_eq!(found.count(), (all + fixed) / 2);
    }

    #[test]
    fn no_more_than_asked_for_are_listed() {
        let solved = solve(&board(8, "a1", ""), 3, Choice::First);
        assert_eq!((solved.boards.len(), solved.all), (3, false));
        let solved = solve(&board(8, "a1", ""), 4, Choice::First);
        assert_eq!((solved.boards.len(), solved.all), (4, true));
        let solved = solve(&board(3, "a1", ""), 4, Choice::Random { seed: 1 });
        assert_eq!((solved.boards.len(), solved.all), (0, true));
    }

    #[test]
    fn small_boards_are_drawn_uniformly() {
        let given = board(8, "", "d4");
        let (all, _) = list(&given, usize::MAX, u64::MAX);
        let mut times = std::collections::BTreeMap::new();
        let draws = 200 * all.len() as u64;
        for seed in 0..draws {
            let solved = solve(&given, 1, Choice::Random { seed });
            assert_eq!(solved.chosen, Chosen::Uniform);
            *times.entry(solved.boards[0].clone()).or_insert(0) += 1;
        }
        // Five standard deviations of a number of mean 200.
        assert_eq!(times.len(), all.len());
        assert!(
            times.values().all(|times| (130..=270).contains(times)),
            "{times:?}"
        );
    }

    #[test]
    fn large_boards_are_drawn_by_a_random_search() {
        let given = board(28, "c3,d20,k9", "a1,e5");
        let solved = solve(&given, 5, Choice::Random { seed: 7 });
        assert_eq!(
            (solved.boards.len(), solved.chosen),
            (5, Chosen::NotUniform)
        );
        assert!(
            solved
                .boards
                .iter()
                .all(|queens| is_completion(&given, queens))
        );
        assert_eq!(solved, solve(&given, 5, Choice::Random { seed: 7 }));
        assert_ne!(solved, solve(&given, 5, Choice::Random { seed: 8 }));
    }

    #[test]
    fn a_random_search_that_gives_up_says_so() {
        let draw = |count| draw_by_search(&board(8, "", ""), count, Rng::with_seed(1));
        let solved = draw(1000);
        assert!((50..=92).contains(&solved.boards.len()), "{solved:?}");
        assert!(solved.gave_up && !solved.all, "{solved:?}");
        assert!(!draw(5).gave_up);
    }

    /// A board of 32 queens without completions: no queen fits the last row.
    #[test]
    fn a_large_board_without_completions_has_none() {
        let n = Size::new(32).unwrap();
        let holes = (0..32).map(|column| Square::new(31, column));
        let given = GivenBoard::new(n, [], holes).unwrap();
        for choice in [Choice::First, Choice::Random { seed: 3 }] {
            let solved = solve(&given, 1, choice);
            assert_eq!((solved.boards.len(), solved.all), (0, true));
        }
    }
}
