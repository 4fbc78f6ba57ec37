//! Watches a job: prints its states and its speed: `cargo run --release --example watch 18`.

use std::sync::Arc;

use queenfold::{EventKind, Job, RunEvent, Size};

fn show(event: &RunEvent) {
    match &event.kind {
        EventKind::State(state) => println!("{state:?}"),
        EventKind::Advanced {
            nodes_per_second, ..
        } => println!("{nodes_per_second:.2e} nodes/s"),
        _ => {}
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = std::env::args().nth(1).map_or(Ok(12), |n| n.parse())?;
    let job = Job::new(Size::new(n)?).observer(Arc::new(show));
    println!("{} solutions", job.run()?.outcome.total);
    Ok(())
}
