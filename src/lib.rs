//! Counts every solution of the N-Queens problem, all and unique.
//!
//! # Layout
//!
//! Rooms, from the ground up; each knows only those above it in this list:
//!
//! * [`board`]: size, squares, the eight symmetries, orbits, known counts.
//! * [`simd`]: instruction sets: one folder for each, one list, one dispatch.
//! * [`machine`]: what this machine offers: cores, memory, its processor.
//! * [`engine`]: what engines have in common: plans, tasks, counters, tallies.
//! * [`estimate`]: what counting a plan will take, from a sample of its tasks.
//! * [`chain`]: the carry-chain engine.
//! * [`join`]: the join engine.
//! * [`gpu`]: devices that count many subtrees at once, real and emulated.
//! * [`census`]: the solutions fixed by a half or quarter turn.
//! * [`ladder`]: the historical methods, one by one.
//! * [`outcome`]: from tallies to a checked result.
//! * [`actors`]: the runtime.
//! * [`bench`]: what a device reaches.
//! * [`telemetry`]: what a run tells of itself.
//! * [`ledger`]: the durable record of a run.
//! * [`job`]: counts a board with what there is; what a library user starts with.
//! * [`config`]: settings: what there is, what is allowed, where each value comes from.
//! * [`cli`]: the command line, one file for each command.
//!
//! [`bench`]: mod@bench

pub mod actors;
pub mod bench;
pub mod board;
pub mod census;
pub mod chain;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod config;
pub mod engine;
pub mod estimate;
pub mod gpu;
pub mod job;
pub mod join;
pub mod ladder;
#[cfg(feature = "ledger")]
pub mod ledger;
pub mod machine;
pub mod outcome;
pub mod simd;
pub mod telemetry;
