//! Boards on which queens and holes are given: every engine and kernel counts their completions.

use fastrand::Rng;
use queenfold::board::{GivenBoard, Size, Square, Symmetry, known};
use queenfold::engine::{Counter, CounterSettings, Engine, Plan, Tally};
use queenfold::job::plan;
use queenfold::outcome::Outcome;
use queenfold::simd::Isa;

use crate::common::completions::{Counts, completions, counts};
use crate::common::random_board::random_board;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn sum(plan: &dyn Plan, mut counter: Box<dyn Counter>) -> Tally {
    let tasks = (0..plan.tasks()).map(|index| plan.task(index));
    tasks.map(|task| counter.count(&task).unwrap()).sum()
}

/// The tally of a board by the kernel of an instruction set.
fn tally(engine: Engine, board: GivenBoard, isa: Isa) -> Tally {
    let plan = plan(engine, board);
    let counter = plan.counter(&CounterSettings { isa });
    sum(plan.as_ref(), counter)
}

fn total(engine: Engine, board: GivenBoard) -> u128 {
    tally(engine, board, Isa::best()).completions.solutions()
}

/// Counts a board by every kernel and oracle.
fn check(board: GivenBoard, expected: Counts) {
    let census = plan(Engine::Census, board);
    let settings = CounterSettings { isa: Isa::best() };
    let symmetric = sum(census.as_ref(), census.counter(&settings));
    let oracle = sum(census.as_ref(), census.oracle());
    assert!(
        symmetric.agrees_with(&oracle),
        "{board:?}: {symmetric:?} {oracle:?}"
    );
    for engine in [Engine::Chain, Engine::Colour] {
        let plan = plan(engine, board);
        let oracle = sum(plan.as_ref(), plan.oracle());
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let found = tally(engine, board, isa);
            assert!(
                found.agrees_with(&oracle),
                "{engine} {isa} {board:?}: {found:?} {oracle:?}"
            );
        }
        let outcome = Outcome::new(board, &oracle, Some(&symmetric));
        let outcome = outcome.unwrap_or_else(|wrong| panic!("{engine} {board:?}: {wrong}"));
        let counted = Counts {
            total: outcome.total,
            unique: outcome.unique().unwrap(),
            r180: symmetric.r180,
            r90: symmetric.r90,
        };
        assert_eq!(counted, expected, "{engine} {board:?}");
    }
}

fn squares(n: Size) -> impl Iterator<Item = Square> {
    let last = n.get() as u8;
    (0..last).flat_map(move |row| (0..last).map(move |column| Square::new(row, column)))
}

fn one_queen(n: Size, square: Square) -> GivenBoard {
    GivenBoard::new(n, [square], []).unwrap()
}

#[test]
fn every_single_queen_and_every_single_hole_has_the_completions_of_a_list() {
    for n in (1..=9).map(size) {
        let all = completions(n);
        for square in squares(n) {
            for (queens, holes) in [(vec![square], vec![]), (vec![], vec![square])] {
                let board = GivenBoard::new(n, queens, holes).unwrap();
                check(board, counts(&board, &all));
            }
        }
    }
}

#[test]
fn random_queens_and_holes_have_the_completions_of_a_list() {
    let mut random = Rng::with_seed(21);
    for n in (2..=9).map(size) {
        let all = completions(n);
        for symmetric in [false, true] {
            for _ in 0..24 {
                let board = random_board(n, &mut random, symmetric);
                check(board, counts(&board, &all));
            }
        }
    }
}

/// The completions with one queen given, for each square of a row, are all solutions.
#[test]
fn the_completions_of_the_squares_of_a_row_add_up_to_all_solutions() {
    for n in (4..=15).map(size) {
        // An outer row, an inner one, and the middle one.
        let mut rows = vec![0, n.get() / 3, n.get() / 2];
        rows.dedup();
        for engine in [Engine::Chain, Engine::Colour] {
            for &row in &rows {
                let queens = (0..n.get()).map(|column| Square::new(row as u8, column as u8));
                let sum: u128 = queens.map(|queen| total(engine, one_queen(n, queen))).sum();
                assert_eq!(sum, known(n).unwrap().total, "{engine}, n = {n}, row {row}");
            }
        }
    }
}

/// The well-known numbers of solutions with a queen on each square of the first row.
#[test]
fn eight_queens_have_the_published_counts_by_the_square_of_one_queen() {
    let n = size(8);
    for engine in [Engine::Chain, Engine::Colour] {
        let row = |row| {
            [0, 1, 2, 3, 4, 5, 6, 7]
                .map(|column| total(engine, one_queen(n, Square::new(row, column))))
        };
        assert_eq!(row(0), [4, 8, 16, 18, 18, 16, 8, 4], "{engine}");
        assert_eq!(row(1), [8, 16, 14, 8, 8, 14, 16, 8], "{engine}");
        assert_eq!(row(2), [16, 14, 4, 12, 12, 4, 14, 16], "{engine}");
        assert_eq!(row(3), [18, 8, 12, 8, 8, 12, 8, 18], "{engine}");
    }
}

#[test]
fn the_images_of_a_board_have_as_many_completions() {
    let mut random = Rng::with_seed(8);
    for n in [10, 11, 13].map(size) {
        for symmetric in [false, true] {
            let board = random_board(n, &mut random, symmetric);
            let counts = Symmetry::ALL.map(|symmetry| {
                let image = board.image(symmetry);
                let totals = [Engine::Chain, Engine::Colour].map(|engine| total(engine, image));
                let census = tally(Engine::Census, image, Isa::best());
                (totals, census.r180, census.r90)
            });
            let (totals, ..) = counts[0];
            assert_eq!(totals, [totals[0]; 2], "{board:?}");
            assert_eq!(counts, [counts[0]; 8], "{board:?}");
        }
    }
}

/// Larger boards with so much given that each engine counts them at once: keys of 32 and of 64 bits, lists
/// without a middle queen, lanes of 16 and of 32 bits.
#[test]
fn the_engines_agree_on_larger_boards_with_many_queens() {
    let mut random = Rng::with_seed(4);
    for (n, queens) in [
        (14, 2),
        (16, 4),
        (17, 5),
        (18, 6),
        (19, 6),
        (20, 8),
        (21, 9),
    ] {
        let n = size(n);
        let board = with_queens(n, queens, &mut random);
        let expected = tally(Engine::Chain, board, Isa::best())
            .completions
            .solutions();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for engine in [Engine::Chain, Engine::Colour] {
                let found = tally(engine, board, isa).completions.solutions();
                assert_eq!(found, expected, "{engine} {isa} {board:?}");
            }
        }
    }
}

/// A board with this number of queens of a solution that is found by chance, and a few holes elsewhere.
fn with_queens(n: Size, queens: usize, random: &mut Rng) -> GivenBoard {
    loop {
        let mut board = GivenBoard::free(n);
        for _ in 0..200 {
            let open: Vec<_> = board.open().iter().collect();
            let Some(&square) = random.choice(&open) else {
                break;
            };
            let placed: Vec<_> = board.queens().iter().chain([square]).collect();
            if let Ok(more) = GivenBoard::new(n, placed, []) {
                board = more;
            }
            if board.queens().len() as usize == queens {
                let holes: Vec<_> = board
                    .open()
                    .iter()
                    .filter(|_| random.u32(..40) == 0)
                    .collect();
                let holes = holes
                    .into_iter()
                    .filter(|hole| !board.queens().contains(*hole));
                return GivenBoard::new(n, board.queens().iter(), holes).unwrap();
            }
        }
    }
}
