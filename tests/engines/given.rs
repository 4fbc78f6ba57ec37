//! Boards on which queens and holes are given: every engine and kernel counts their completions.

use fastrand::Rng;
use queenfold::board::{GivenBoard, Size, Square};
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
