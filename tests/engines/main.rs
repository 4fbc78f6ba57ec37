//! The engines from outside: plans, kernels, totals, estimates.

mod canaries;
mod chain_exact;
mod chain_kernels;
mod chain_plan;
mod estimate;
mod join;
#[path = "../common/run_spec.rs"]
mod run_spec;
#[path = "../common/skip.rs"]
mod skip;
