//! The engines from outside: plans, kernels, totals, estimates.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod canaries;
mod chain_exact;
mod chain_kernels;
mod chain_plan;
mod colour;
#[path = "../common/completions.rs"]
mod completions;
mod estimate;
mod given;
#[path = "../common/random_board.rs"]
mod random_board;
#[path = "../common/run_spec.rs"]
mod run_spec;
#[path = "../common/skip.rs"]
mod skip;
