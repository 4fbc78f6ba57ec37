//! What an event says to a person who watches a run.

use queenfold::actors::{EventKind, PauseReason, RunEvent, RunState};
use queenfold::words::several;

/// What an event says to a person who watches a run, in one line; `None` for the many that only a
/// program wants to know.
pub fn incident(event: &RunEvent) -> Option<String> {
    Some(match &event.kind {
        // The reasons follow at once.
        EventKind::State(RunState::Paused) => return None,
        EventKind::State(state) => state.name().to_owned(),
        EventKind::PausedFor { reasons } => format!("paused: {}", PauseReason::list(reasons)),
        EventKind::Failed { reason } => format!("failed: {reason}"),
        EventKind::TaskPanicked {
            worker,
            key,
            message,
        } => {
            format!("{worker}: task {key} panicked: {message}")
        }
        EventKind::DeviceReady { worker, device } => format!("{worker} is ready: {}", device.name),
        EventKind::DeviceGivenUp { worker, reason } => {
            format!("{worker} failed, and counts nothing more: {reason}")
        }
        EventKind::Faulty(of) => {
            format!(
                "{} is faulty, and counts nothing more: {}",
                of.worker, of.reason
            )
        }
        EventKind::Corrected(count) => format!(
            "task {}: the count by {} was wrong, and is corrected",
            count.wrong.key, count.wrong.origin.worker
        ),
        EventKind::Contradicted { reason } => format!("contradiction: {reason}"),
        EventKind::Planned { plans, workers } => {
            let tasks = plans.iter().map(|plan| plan.tasks).sum();
            let tasks = several(tasks, "task");
            let workers = several(workers.len() as u64, "worker");
            format!("planned: {tasks} for {workers}")
        }
        _ => return None,
    })
}
