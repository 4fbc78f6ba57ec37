//! Counts every solution of the N-Queens problem, all and unique.
//!
//! Start with a [`Job`](job::Job): it counts a board with what the machine has, and checks the result.
//!
//! ```
//! use queenfold::board::Size;
//! use queenfold::job::Job;
//!
//! let outcome = Job::new(Size::new(8)?).run()?.outcome;
//! assert_eq!((outcome.total, outcome.unique()), (92, Some(12)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` shows how to watch a job, how to resume one, and how to run an engine of your own.
//!
//! # Debug builds
//!
//! A debug build of your crate counts more than 100 times as slowly as a release, unless its `Cargo.toml` says:
//!
//! ```toml
//! [profile.dev.package.queenfold-engines]
//! opt-level = 3
//! ```
//!
//! # Features
//!
//! A library that only counts on CPUs needs none of them: `default-features = false`. All but
//! `nats` and `fault-injection` are on by default.
//!
//! * `cli`: the program `queenfold`, with the rooms `config` and `cli`. It includes `ledger`.
//! * `tui`: its dashboard.
//! * `ledger`: jobs that keep their finished tasks in a directory.
//! * `cuda`: GPUs through CUDA. `emulated-gpu`: a device made of host threads, for tests.
//! * `nats`: one run over many hosts through a NATS server.
//! * `fault-injection`: a test hook.
//!
//! # Layout
//!
//! The crate consists of rooms. The lowest seven are a crate of their own,
//! [`queenfold_engines`]: [`board`], [`simd`], [`engine`], [`chain`], [`colour`], [`census`] and [`solve`]. Each
//! of the others knows only these, and the rooms before it in this list:
//!
//! * [`system`]: what operating systems do differently.
//! * [`machine`]: what this machine offers: cores, memory, its processor.
//! * [`device`]: devices that count many subtrees at once, real and emulated.
//! * [`estimate`]: what counting a plan will take, from a sample of its tasks.
//! * [`ladder`]: the historical methods, one by one; a crate of its own, too.
//! * [`outcome`]: from tallies to a checked result.
//! * [`actors`]: the runtime.
//! * [`bench`]: how fast CPU workers or a device count.
//! * [`telemetry`]: what a run shows: trace, profile, progress line, events, metrics, snapshots.
//! * [`job`]: counts a board with what there is; what a library user starts with.
//! * [`ledger`]: the durable record of a run.
//! * [`run_directory`]: a job whose finished tasks a ledger keeps, and how it is continued.
//! * [`cluster`]: one run over many hosts: job arrays, and leases over NATS.
//! * [`certificate`]: the result of a run as a text that a stranger can check.
//! * [`report`]: a run as a page that explains it, and the picture of the ladder.
//! * [`config`]: settings: what there is, what is allowed, where each value comes from.
//! * [`cli`]: the command line, one file for each command.
//!
//! [`bench`]: mod@bench
//! [`solve`]: mod@solve

#[doc(inline)]
pub use queenfold_engines::{board, census, chain, colour, engine, simd, solve};

pub mod actors;
pub mod bench;
#[cfg(feature = "ledger")]
pub mod certificate;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "ledger")]
pub mod cluster;
#[cfg(feature = "cli")]
pub mod config;
pub mod device;
pub mod estimate;
pub mod job;
pub mod ladder;
#[cfg(feature = "ledger")]
pub mod ledger;
pub mod machine;
pub mod outcome;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "ledger")]
pub mod run_directory;
pub mod system;
pub mod telemetry;
