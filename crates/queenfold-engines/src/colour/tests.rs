//! Tests of the colour engine: kernels, oracle and pairs of lists count the same.

use fastrand::Rng;

use super::counter::NewCounter;
use super::lines::{Lines, Parity};
use super::oracle::Colour;
use super::orientation::Orientation;
use super::{ColourBoard, ColourPlan, counter, naive};
use crate::board::{GivenBoard, Size, Square, Symmetry, known};
use crate::engine::{Counter, CounterSettings, Plan, Tally, Task};
use crate::simd::{Algorithm, Isa, Simd, stamp_tests};

stamp_tests! {
    totals_are_the_known_ones: totals,
    #[ignore = "minutes; run with cargo test --release -p queenfold-engines -- --ignored colour"]
    totals_of_18_to_20_queens_are_the_known_ones: large_totals,
    #[ignore = "minutes; run with cargo test --release -p queenfold-engines -- --ignored colour"]
    sets_of_26_to_30_queens_are_counted_the_same_in_all_ways: large_sets,
    every_set_is_counted_as_by_the_oracle: sets,
    every_set_is_counted_the_same_by_odd_columns: transposed,
    every_set_of_a_given_board_is_counted_as_by_the_oracle: given,
    counters_of_large_boards_count_the_same: large_counters,
}

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn sum(plan: &dyn Plan, mut counter: Box<dyn Counter>) -> Tally {
    let tasks = (0..plan.tasks()).map(|index| plan.task(index));
    tasks.map(|task| counter.count(&task).unwrap()).sum()
}

fn total(plan: &dyn Plan, counter: Box<dyn Counter>) -> u128 {
    sum(plan, counter).completions.solutions()
}

/// A task of one rank.
fn single(plan: &ColourPlan, rank: u64) -> Task {
    Task {
        ranks: rank..rank + 1,
        ..plan.task(0)
    }
}

/// The completions of a set: every cell (R, C) from pairs of lists, each as often as its orientation says.
fn naive(board: &ColourBoard, rank: u64) -> u64 {
    let n = board.size();
    let partition = board.partition(rank).unwrap();
    let orientation = Orientation::of(n);
    let rows = orientation.class([partition.set.even, partition.set.odd]);
    let white = partition.set.rows().count_ones();
    let columns = (0..=n.full_mask()).filter(|columns| columns.count_ones() == white);
    columns
        .map(|columns| {
            let times = match board.is_oriented {
                true => {
                    let class = orientation.class(Lines::split(columns));
                    Orientation::weight(rows, class)
                }
                false => 1,
            };
            if times == 0 {
                return 0;
            }
            let others = n.full_mask() & !columns;
            let white = naive::cell(n.get(), &partition, Colour::White, columns);
            if white == 0 {
                return 0;
            }
            times * white * naive::cell(n.get(), &partition, Colour::Black, others)
        })
        .sum()
}

#[test]
fn the_oracle_counts_each_set_as_pairs_of_lists_do() {
    for n in (1..=8).map(size) {
        let (plan, board) = (ColourPlan::new(n), ColourBoard::from(n));
        let mut oracle = plan.oracle();
        for rank in 0..plan.ranks() {
            let tally = oracle.count(&single(&plan, rank)).unwrap();
            let set = board.partition(rank).unwrap().set;
            let expected = u128::from(set.weight) * u128::from(naive(&board, rank));
            assert_eq!(tally.completions.solutions(), expected, "n = {n}, {set:?}");
        }
    }
}

fn settings<S: Simd>(_: S) -> CounterSettings {
    CounterSettings { isa: S::ISA }
}

fn totals<S: Simd>(simd: S) {
    // Portable code takes several seconds for 18 queens.
    let last = if S::ISA == Isa::Portable { 17 } else { 18 };
    for n in 1..=last {
        expect_known(simd, n);
    }
}

fn large_totals<S: Simd>(simd: S) {
    for n in [18, 19, 20] {
        expect_known(simd, n);
    }
}

fn expect_known<S: Simd>(simd: S, n: u32) {
    let plan = ColourPlan::new(size(n));
    let found = total(&plan, plan.counter(&settings(simd)));
    assert_eq!(found, known(size(n)).unwrap().total, "n = {n}");
}

fn large_sets<S: Simd>(simd: S) {
    for n in (26..=30).map(size) {
        let plan = ColourPlan::new(n);
        let counter = |by_last_row, columns| {
            let counter = NewCounter {
                board: n.into(),
                by_last_row,
                columns,
            };
            counter.run(simd)
        };
        let task = single(&plan, plan.ranks() / 3);
        let [expected, others @ ..] = [
            counter(false, Parity::Even),
            counter(true, Parity::Even),
            counter(true, Parity::Odd),
        ]
        .map(|mut counter| counter.count(&task).unwrap());
        assert!(expected.completions.solutions() > 0, "n = {n}");
        for other in others {
            assert!(
                expected.agrees_with(&other),
                "n = {n}: {expected:?} {other:?}"
            );
        }
    }
}

/// Compares the tallies of all sets of a plan.
fn compare(plan: &ColourPlan, mut one: Box<dyn Counter>, mut other: Box<dyn Counter>) {
    for rank in 0..plan.ranks() {
        let task = single(plan, rank);
        let [one, other] = [&mut one, &mut other].map(|counter| counter.count(&task).unwrap());
        let given = plan.given();
        assert!(
            one.agrees_with(&other),
            "{given:?}, {rank}: {one:?} {other:?}"
        );
    }
}

fn sets<S: Simd>(simd: S) {
    for n in (1..=12).map(size) {
        let plan = ColourPlan::new(n);
        compare(&plan, plan.counter(&settings(simd)), plan.oracle());
    }
}

fn transposed<S: Simd>(simd: S) {
    for n in (1..=14).map(size) {
        let plan = ColourPlan::new(n);
        let [one, other] = [
            plan.counter(&settings(simd)),
            plan.recounter(&settings(simd)),
        ];
        assert_ne!(one.backend(), other.backend());
        compare(&plan, one, other);
    }
}

fn given<S: Simd>(simd: S) {
    let mut random = Rng::with_seed(35);
    for n in (2..=11).map(size) {
        for symmetries in [
            &Symmetry::ALL[..1],
            &[Symmetry::Transpose],
            &SOME,
            &Symmetry::ALL,
        ] {
            let board = random_board(n, symmetries, &mut random);
            let plan = ColourPlan::new(board);
            compare(&plan, plan.counter(&settings(simd)), plan.oracle());
            compare(&plan, plan.recounter(&settings(simd)), plan.oracle());
        }
    }
}

/// The counters that only large boards have, on small ones.
fn large_counters<S: Simd>(simd: S) {
    // Miri takes its time.
    let sizes = if cfg!(miri) { 9..=10 } else { 1..=12 };
    for n in sizes.map(size) {
        let plan = ColourPlan::new(n);
        for columns in [Parity::Even, Parity::Odd] {
            let counter = NewCounter {
                board: n.into(),
                by_last_row: true,
                columns,
            };
            compare(&plan, counter.run(simd), plan.counter(&settings(simd)));
        }
    }
}

/// Symmetries of boards on which solutions are counted in both orientations.
const SOME: [Symmetry; 2] = [Symmetry::MirrorColumns, Symmetry::MirrorRows];

/// A board with some holes and one queen at most, all with their images under some symmetries.
fn random_board(n: Size, symmetries: &[Symmetry], random: &mut Rng) -> GivenBoard {
    let mut square = || Square::new(random.u8(..n.get() as u8), random.u8(..n.get() as u8));
    let mut images = |count: u32, all: &mut Vec<Square>| {
        for _ in 0..count {
            all.push(square());
        }
        let mut at = 0;
        while at < all.len() {
            let more = symmetries.iter().map(|symmetry| symmetry.apply(n, all[at]));
            let more: Vec<_> = more.filter(|image| !all.contains(image)).collect();
            all.extend(more);
            at += 1;
        }
        all.sort_unstable_by_key(|square| (square.row, square.column));
        all.dedup();
    };
    let (mut queens, mut holes) = (Vec::new(), Vec::new());
    images(1, &mut queens);
    images(n.get() / 2, &mut holes);
    holes.retain(|hole| !queens.contains(hole));
    GivenBoard::new(n, queens, holes.iter().copied())
        .or_else(|_| GivenBoard::new(n, [], holes.iter().copied()))
        .unwrap()
}

/// All solutions, each as the columns of its queens from the top.
fn solutions(n: u8, queens: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
    let row = queens.len() as u8;
    if row == n {
        return found.push(queens.clone());
    }
    for column in 0..n {
        let queen = Square::new(row, column);
        let mut placed = (0..).zip(queens.iter());
        if placed.all(|(row, &column)| !queen.attacks(Square::new(row, column))) {
            queens.push(column);
            solutions(n, queens, found);
            queens.pop();
        }
    }
}

#[test]
fn the_weights_of_the_images_of_a_solution_add_up_to_its_orbit() {
    for n in (1..=10).map(size) {
        let (board, ranks) = (ColourBoard::from(n), ColourPlan::new(n).ranks());
        let sets: Vec<_> = (0..ranks)
            .map(|rank| board.partition(rank).unwrap().set)
            .collect();
        let orientation = Orientation::of(n);
        let weight = |columns: &[u8]| {
            let white: Vec<_> = (0u32..)
                .zip(columns)
                .filter(|&(row, &column)| (row + u32::from(column)).is_multiple_of(2))
                .collect();
            let rows = white.iter().fold(0, |rows, (row, _)| rows | 1 << row);
            let columns = white
                .iter()
                .fold(0, |columns, (_, column)| columns | 1 << **column);
            let set = sets.iter().find(|set| set.rows() == rows);
            set.map_or(0, |set| {
                let [even, odd] = Lines::split(columns);
                let rows = orientation.class([set.even, set.odd]);
                let weights = counter::weights(&board, rows, Parity::Even, even);
                let rank = orientation.rank(Parity::Odd, odd);
                u32::from(set.weight) * weights.map_or(0, |weights| weights.of(rank).into())
            })
        };
        let mut all = Vec::new();
        solutions(n.get() as u8, &mut Vec::new(), &mut all);
        for solution in all {
            let mut images = Symmetry::ALL
                .map(|s| s.apply_to_placement(&solution))
                .to_vec();
            images.sort_unstable();
            images.dedup();
            let sum: u32 = images.iter().map(|image| weight(image)).sum();
            assert_eq!(sum, images.len() as u32, "{solution:?}");
        }
    }
}
