//! The settings of a run that most tests share.

use std::sync::Arc;
use std::time::Duration;

use queenfold::actors::{RunSpec, WholePlans};
use queenfold::engine::{CounterSettings, Plan};
use queenfold::simd::Isa;

/// A run that counts all of `plans` on `workers` CPU workers with the kernel `isa`. It has no time
/// limit, audit, recorder or observer.
pub fn run_spec(plans: Vec<Arc<dyn Plan>>, workers: usize, isa: Isa) -> RunSpec {
    RunSpec {
        plans,
        workers,
        counter: CounterSettings { isa },
        batch_time: Duration::from_millis(50),
        time_limit: None,
        audit: 0.0,
        audit_all: Duration::ZERO,
        canary: None,
        check: None,
        source: Arc::new(WholePlans),
        recorder: None,
        observers: Vec::new(),
    }
}
