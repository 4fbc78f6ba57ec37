//! Stops a job that keeps its finished tasks, and continues it: `cargo run -p queenfold-ledger --example resume DIR`.

use std::time::Duration;

use queenfold::{Job, JobError, Size};
use queenfold_ledger::{RunDirectory, RunDirectoryError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("name a new directory")?;
    let job = Job::new(Size::new(16)?).time_limit(Duration::from_millis(1));
    match RunDirectory::create(&directory, &job).run() {
        Ok(_) => println!("finished before the time limit"),
        Err(RunDirectoryError::Job(JobError::Stopped(stopped))) => println!("{stopped}"),
        Err(error) => return Err(error.into()),
    }
    // The process could have ended here, even by a crash.
    let resumed = RunDirectory::resume(directory)?.run()?;
    println!("{} solutions", resumed.result.outcome.total);
    Ok(())
}
