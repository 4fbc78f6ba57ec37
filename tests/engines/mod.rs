//! The engines from outside: plans, kernels, totals, estimates.

mod canaries;
mod chain_kernels;
mod chain_partition;
mod chain_plan;
mod colour;
mod estimate;
mod given;
