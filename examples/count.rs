//! Counts a board in the fastest way for this machine: `cargo run --release --example count 16`.

use queenfold::{Job, Size};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = std::env::args().nth(1).map_or(Ok(10), |n| n.parse())?;
    let result = Job::new(Size::new(n)?).run()?;
    println!(
        "{} solutions, by {}",
        result.outcome.total,
        result.plan.name()
    );
    if let Some(unique) = result.outcome.unique() {
        println!("{unique} that differ by more than a rotation or reflection");
    }
    Ok(())
}
