//! The plan of each engine: a new engine is a line here.

use std::sync::Arc;

use crate::board::{GivenBoard, Size};
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::colour::ColourPlan;
use crate::engine::{self, Engine, Plan};
use crate::simd::Isa;

/// The plan of an engine of this library for a board: its size, or a board on which queens and holes are
/// given.
///
/// # Panics
/// `engine` is [`Engine::Own`], whose plans are made elsewhere.
pub fn plan(engine: Engine, board: impl Into<GivenBoard>) -> Arc<dyn Plan> {
    let board = board.into();
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(board)),
        Engine::Colour => Arc::new(ColourPlan::new(board)),
        Engine::Census => Arc::new(CensusPlan::new(board)),
        Engine::Own => panic!("the plan of an own engine is made by its owner"),
    }
}

/// Expected core-seconds of a board by an engine with an instruction set.
pub(super) fn core_seconds(engine: Engine, board: &GivenBoard, isa: Isa) -> f64 {
    let free = engine::core_seconds(engine, board.size(), isa);
    match engine {
        Engine::Chain => ChainPlan::work_for(board) * free,
        Engine::Colour => ColourPlan::work_for(board) * free,
        Engine::Census | Engine::Own => free,
    }
}

/// The smallest board that an H100 counts as fast by the colour engine as by the chain (`docs/PERFORMANCE.md`).
const FIRST_COLOUR: u32 = 16;

/// The plan by which devices count the board of size `n` fastest; `None` if no engine has a kernel for it.
pub fn device_plan(n: Size) -> Option<Arc<dyn Plan>> {
    let engine = if n.get() < FIRST_COLOUR {
        Engine::Chain
    } else {
        Engine::Colour
    };
    Some(plan(engine, n)).filter(|plan| plan.launcher().is_ok())
}
