//! Where tests let a run go wrong. In the program of users nothing does.

use std::sync::{Arc, OnceLock};

use super::CountKind;
use crate::engine::{Tally, TaskKey, WorkerId};

/// What happens to a run where workers can fail. Tests implement it; `()` lets everything go well.
pub trait FaultHook: Send + Sync {
    /// A task is about to be counted for the first time.
    fn before_task(&self, _: TaskKey) {}

    /// A task of a batch was counted.
    fn after_task(&self) {}

    /// The tally of a count, as this worker gives it.
    fn tally(&self, _: WorkerId, _: CountKind, tally: Tally) -> Tally {
        tally
    }
}

impl FaultHook for () {}

/// The hook of all runs of the process whose control has none of its own.
static OF_PROCESS: OnceLock<Arc<dyn FaultHook>> = OnceLock::new();

/// From now on, all runs of this process go wrong by `hook`. The first one stays.
pub fn inject_everywhere(hook: Arc<dyn FaultHook>) {
    let _ = OF_PROCESS.set(hook);
}

/// The hook of a run whose control has this one.
pub(super) fn or_of_process(own: Option<&Arc<dyn FaultHook>>) -> Arc<dyn FaultHook> {
    let hook = own.or_else(|| OF_PROCESS.get());
    hook.map_or_else(|| Arc::new(()) as _, Arc::clone)
}
