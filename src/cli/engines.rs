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

/// The largest board whose join plan a run can keep track of: beyond, its column sets are sliced
/// into more tasks than there is memory to record.
const LAST_JOIN: u32 = 28;

/// The engine for the board: the one asked for, or the fastest. `on_devices`: devices were asked for,
/// and it is to be one that they count.
pub fn choose(asked: Auto<Engine>, n: Size, on_devices: bool) -> Engine {
    let join_is_faster = (FIRST_JOIN..=LAST_JOIN).contains(&n.get());
    asked.0.unwrap_or(if join_is_faster && !on_devices {
        Engine::Join
    } else {
        Engine::Chain
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_the_join_for_large_boards_that_no_device_counts() {
        let choose = |n, on_devices| choose(Auto(None), Size::new(n).unwrap(), on_devices);
        assert_eq!([1, 17, 18, 28, 29, 32].map(|n| choose(n, false)), {
            use Engine::{Chain, Join};
            [Chain, Chain, Join, Join, Chain, Chain]
        });
        assert_eq!(choose(20, true), Engine::Chain);
    }
}
