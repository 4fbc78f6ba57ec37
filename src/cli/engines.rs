use std::sync::Arc;

use crate::board::Size;
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::config::Auto;
use crate::engine::{Engine, Plan};

/// The engine for the board: the one asked for, or the fastest.
pub fn choose(asked: Auto<Engine>) -> Engine {
    asked.0.unwrap_or(Engine::Chain)
}

/// The plan of an engine for the board.
pub fn plan(engine: Engine, n: Size) -> Arc<dyn Plan> {
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(n)),
        Engine::Census => Arc::new(CensusPlan::new(n)),
    }
}
