//! Counts with an engine of your own, on all cores: `cargo run --release --example own_engine 12`.

use std::sync::Arc;

use queenfold::{FunctionPlan, Job, Size, Tally};

/// Solutions of the remaining rows. Occupied columns and diagonals are bits.
fn count(full: u32, columns: u32, left: u32, right: u32) -> u128 {
    let free = (0..32).map(|column| (1 << column) & full & !(columns | left | right));
    let below = |q| count(full, columns | q, (left | q) << 1, (right | q) >> 1);
    u128::from(columns == full) + free.filter(|q| *q != 0).map(below).sum::<u128>()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = std::env::args().nth(1).map_or(Ok(9), |n| n.parse())?;
    // A task for each column of the first queen.
    let plan = FunctionPlan::new(Size::new(n)?, n.into(), move |column| {
        let (full, q) = (u32::MAX >> (32 - n), 1 << column);
        let mut tally = Tally::default();
        tally.completions.add(1, count(full, q, q << 1, q >> 1));
        tally
    });
    println!("{} solutions", Job::of(Arc::new(plan)).run()?.outcome.total);
    Ok(())
}
