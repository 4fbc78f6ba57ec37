use std::sync::Arc;

use crate::board::Size;
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::engine::{Engine, Plan};
use crate::join::JoinPlan;

/// The plan of an engine for the board of size `n`.
pub fn plan(engine: Engine, n: Size) -> Arc<dyn Plan> {
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(n)),
        Engine::Join => Arc::new(JoinPlan::new(n)),
        Engine::Census => Arc::new(CensusPlan::new(n)),
    }
}
