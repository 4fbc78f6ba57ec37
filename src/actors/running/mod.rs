//! Who begins and ends a run? The run as an actor, its states, what it is asked to do, and what its parts share.
//!
//! * `spec`: what a run is asked to do; `run`: the actor that owns all others; `state`: its states; `report`: what it
//!   gives.
//! * `control`: how it is asked from outside to stop, pause or go on.
//! * `messages`: what actors tell each other; `shared`: what all of them know; `roster`: who counts, and who does no
//!   more.
//! * `panics`: what becomes of a panic of a worker.

pub(super) mod control;
pub(super) mod messages;
pub(super) mod panics;
pub(super) mod report;
pub(super) mod roster;
pub(super) mod run;
pub(super) mod shared;
pub(super) mod spec;
pub(super) mod state;
