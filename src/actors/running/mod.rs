//! Who begins and ends a run? The run as an actor, its states, what it is asked to do, and what its parts share.

pub(super) mod control;
pub(super) mod messages;
pub(super) mod panics;
pub(super) mod report;
pub(super) mod roster;
pub(super) mod run;
pub(super) mod shared;
pub(super) mod spec;
pub(super) mod state;
