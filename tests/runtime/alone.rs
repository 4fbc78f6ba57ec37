//! Executes one run at a time, and checks that it leaves no thread.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use queenfold::actors::{Control, Report, RunError, RunSpec, run};

/// Threads of this process that the runtime started.
fn threads() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| name.starts_with("worker-"))
        .collect()
}

/// Runs while no other test does, and checks that no thread is left.
pub fn run_alone(spec: &RunSpec, control: &Control) -> Result<Report, RunError> {
    let _alone = crate::ALONE.lock();
    let outcome = run(spec, &[], control);
    // The system lists a thread for a moment after it has been joined.
    let since = Instant::now();
    while !threads().is_empty() && since.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    assert_eq!(threads(), BTreeSet::new(), "left running");
    outcome
}
