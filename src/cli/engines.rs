use std::sync::Arc;

use crate::board::Size;
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::config::Auto;
use crate::engine::{Engine, Plan};
use crate::join::JoinPlan;

/// The smallest board on which the join is the faster engine.
///
/// Measured on 2026-11-20, one worker of an Intel Xeon with AVX-512 at 2.6 GHz, core-seconds of
/// chain and join: n = 16 0.045 and 0.050, n = 17 0.29 and 0.54, n = 18 2.1 and 1.6.
const FIRST_JOIN: u32 = 18;

/// The engine for the board: the one asked for, or the fastest. `on_devices`: devices were asked for,
/// and it is to be one that they count.
pub fn choose(asked: Auto<Engine>, n: Size, on_devices: bool) -> Engine {
    asked.0.unwrap_or(if on_devices || n.get() < FIRST_JOIN {
        Engine::Chain
    } else {
        Engine::Join
    })
}

/// The plan of an engine for the board.
pub fn plan(engine: Engine, n: Size) -> Arc<dyn Plan> {
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(n)),
        Engine::Join => Arc::new(JoinPlan::new(n)),
        Engine::Census => Arc::new(CensusPlan::new(n)),
    }
}
