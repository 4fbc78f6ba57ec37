//! What counts the solutions of the N-Queens problem: boards, instruction sets, engines.
//!
//! A crate of its own, so that its kernels are optimised as far as possible whatever the rest of the
//! program is. Nothing here knows actors, devices, files or terminals. Users of the library start with the
//! crate `queenfold`, which passes on all that is here: the examples of what it lists name `board::Size` as its users do,
//! `queenfold::Size`.
//!
//! Whoever wants neither actors nor their checks, pauses and progress, but a count on threads, needs this crate
//! alone:
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use std::thread;
//!
//! use queenfold_engines::board::Size;
//! use queenfold_engines::chain::ChainPlan;
//! use queenfold_engines::engine::{CounterSettings, Mismatch, Plan, Tally};
//! use queenfold_engines::simd::Isa;
//!
//! let plan = ChainPlan::new(Size::new(12)?);
//! let settings = CounterSettings { isa: Isa::best() };
//! let next = AtomicU64::new(0);
//! let count = || -> Result<Tally, Mismatch> {
//!     let mut counter = plan.counter(&settings);
//!     let mut tally = Tally::default();
//!     loop {
//!         let task = next.fetch_add(1, Ordering::Relaxed);
//!         if task >= plan.tasks() {
//!             return Ok(tally);
//!         }
//!         tally += counter.count(&plan.task(task))?;
//!     }
//! };
//! let tallies = thread::scope(|scope| {
//!     let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
//!     threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
//! });
//! let tally = tallies.into_iter().sum::<Result<Tally, _>>()?;
//! assert_eq!(tally.completions.solutions(), 14_200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ARCHITECTURE.md says in which order these modules may use each other.

pub mod board;
pub mod census;
pub mod chain;
pub mod colour;
pub mod engine;
pub mod simd;
pub mod solve;
