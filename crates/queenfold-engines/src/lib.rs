//! What counts the solutions of the N-Queens problem: boards, instruction sets, engines.
//!
//! A crate of its own, so that its kernels are optimised as far as possible whatever the rest of the
//! program is. Nothing here knows actors, devices, files or terminals. Users of the library start with the
//! crate `queenfold`, which passes on all that is here.
//!
//! ARCHITECTURE.md says in which order these modules may use each other.

pub mod board;
pub mod census;
pub mod chain;
pub mod colour;
pub mod engine;
pub mod simd;
pub mod solve;
