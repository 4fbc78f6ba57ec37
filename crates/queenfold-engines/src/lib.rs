//! What counts the solutions of the N-Queens problem: boards, instruction sets, engines.
//!
//! A crate of its own, so that its kernels are optimised as far as possible whatever the rest of the
//! program is. Nothing here knows actors, devices, files or terminals. Users of the library start with the
//! crate `queenfold`, which passes on all that is here.
//!
//! The crate consists of rooms. Each knows only the rooms before it in this list:
//!
//! * [`board`]: size, squares, the eight symmetries, orbits, known counts.
//! * [`simd`]: instruction sets, one folder for each.
//! * [`engine`]: what engines have in common: plans, tasks, counters, tallies.
//! * [`chain`]: the carry-chain engine.
//! * [`colour`]: the colour engine.
//! * [`census`]: the solutions fixed by a half or quarter turn.
//! * [`solve`](mod@solve): some completions of a board themselves.

pub mod board;
pub mod census;
pub mod chain;
pub mod colour;
pub mod engine;
pub mod simd;
pub mod solve;
