//! The plan of each engine: a new engine is a line here.

use std::sync::Arc;

use crate::board::Size;
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::engine::{Engine, Plan};
use crate::join::JoinPlan;

/// The plan of an engine of this library for the board of size `n`.
///
/// # Panics
/// `engine` is [`Engine::Own`], whose plans are made elsewhere.
pub fn plan(engine: Engine, n: Size) -> Arc<dyn Plan> {
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(n)),
        Engine::Join => Arc::new(JoinPlan::new(n)),
        Engine::Census => Arc::new(CensusPlan::new(n)),
        Engine::Own => panic!("the plan of an own engine is made by its owner"),
    }
}

/// The plans of all engines that count all solutions of the board of size `n`.
pub(super) fn plans(n: Size) -> impl Iterator<Item = Arc<dyn Plan>> {
    let engines = Engine::ALL.into_iter();
    engines
        .filter(|engine| engine.counts_all())
        .map(move |engine| plan(engine, n))
}

/// The plan by which devices count the board of size `n`; `None` if no engine has a kernel for it.
pub fn device_plan(n: Size) -> Option<Arc<dyn Plan>> {
    plans(n).find(|plan| plan.launcher().is_ok())
}
