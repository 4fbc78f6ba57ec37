//! Job arrays: what `array` writes, what `gather` adds up, and both with the real schedulers.

mod apart;
mod array;
mod asking;
mod commands;
mod directives;
mod hyperqueue;
mod more_shards;
mod put;
mod queue;
mod scripts;
mod slurm;
mod slurm_cluster;
