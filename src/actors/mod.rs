//! The runtime: producer, workers and collector around one bounded queue, and the run that owns
//! them.

mod control;
mod report;
mod spec;

pub use control::{Control, Eta, Progress, RunState};
pub use report::{Report, RunError, WorkerReport};
pub use spec::RunSpec;

use crate::engine::Tally;

/// Runs the plans of `spec` to the end, or until `control` stops it.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run(spec: &RunSpec, _control: &Control) -> Result<Report, RunError> {
    let start = std::time::Instant::now();
    let mut report = Report {
        finished: true,
        ..Report::default()
    };
    for plan in &spec.plans {
        let mut counter = plan.counter(&spec.counter);
        let mut sum = Tally::default();
        for index in 0..plan.tasks() {
            let task = plan.task(index);
            sum += counter
                .count(&task)
                .map_err(|mismatch| RunError::Mismatch {
                    task: task.id,
                    ranks: task.ranks.clone(),
                    message: mismatch.to_string(),
                })?;
        }
        report.tasks_done += plan.tasks();
        report.tasks_total += plan.tasks();
        report.tallies.insert(plan.engine(), sum);
    }
    report.elapsed = start.elapsed();
    Ok(report)
}
