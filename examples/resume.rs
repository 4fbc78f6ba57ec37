//! Stops a job that keeps its finished tasks, and continues it: `cargo run --example resume DIR`.

use std::time::Duration;

use queenfold::board::Size;
use queenfold::job::{Job, JobError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a new directory")?;
    let job = Job::new(Size::new(16)?).directory(&directory);
    match job.time_limit(Duration::from_millis(1)).run() {
        Ok(_) => println!("finished before the time limit"),
        Err(JobError::Stopped(stopped)) => println!("{stopped}"),
        Err(error) => return Err(error.into()),
    }
    // The process could have ended here, even by a crash.
    let result = Job::resume(directory)?.run()?;
    println!("{} solutions", result.outcome.total);
    Ok(())
}
