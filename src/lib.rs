//! Counts every solution of the N-Queens problem, all and unique.
//!
//! ```
//! let outcome = queenfold::count(12)?;
//! assert_eq!((outcome.total, outcome.unique()), (14_200, Some(1_787)));
//! # Ok::<(), queenfold::JobError>(())
//! ```
//!
//! Every result is checked: the identities between its counts, the known counts, and second counts of tasks. One that
//! contradicts any of them is an error.
//!
//! | what you want | where to begin |
//! |---|---|
//! | count a board in your own way: engine, workers, devices, time limit | [`Job`] |
//! | queens and holes that are given | [`GivenBoard`] |
//! | see, pause and stop a job from another thread | [`Job::control`], [`Control`] |
//! | hear what happens in it | [`Job::observer`], [`RunEvent`] |
//! | keep what was counted, resume, divide, count again | [`queenfold_ledger`](https://docs.rs/queenfold-ledger) |
//! | the solutions themselves | [`solutions`], [`solve`](fn@solve) |
//! | how long a board will take | [`Draw`] |
//! | an engine of your own | [`FunctionPlan`], [`Plan`] |
//! | the known counts | [`known`] |
//!
//! Programs that do these things are in
//! [`examples/`](https://github.com/queenfold/queenfold/tree/main/examples).
//!
//! # What is promised
//!
//! [Semantic versioning](https://semver.org) holds for what this page lists. The crate has more that is public, for its
//! own program, tests and Python module; that is hidden here and may change in any version.
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
//! # Features and crates
//!
//! `cuda`, on by default: GPUs through CUDA. A library that only counts on CPUs needs it not: `default-features = false`.
//!
//! Without it this crate builds 41 others, actix and tokio among them: actors are what lets a job be seen, paused, stopped
//! and mended. For a count on your own threads, [`queenfold_engines`](https://docs.rs/queenfold-engines) alone builds 10; its first page shows how. The program
//! is the crate `queenfold-cli`.

// Rooms: ARCHITECTURE.md says what each of them is for, and in which order they may use each other.
#[doc(hidden)]
pub use queenfold_engines::{board, census, chain, colour, engine, simd, solve};

#[doc(hidden)]
pub mod actors;
#[doc(hidden)]
pub mod device;
#[doc(hidden)]
pub mod estimate;
#[doc(hidden)]
pub mod job;
#[doc(hidden)]
pub mod machine;
#[doc(hidden)]
pub mod outcome;
#[doc(hidden)]
pub mod system;
#[doc(hidden)]
pub mod words;

// What users of the library see. `tests/project/facade.rs` counts it.
#[doc(inline)]
pub use actors::{
    Control, CorrectedCount, Eta, EventKind, FaultyWorker, Observer, PauseReason, Progress, Report,
    RunEnd, RunError, RunEvent, RunState, StopCause, TimeSpan, WorkerProgress, WorkerState,
};
#[doc(inline)]
pub use board::{
    GivenBoard, GivenError, Inconsistent, Known, Orbits, Size, SizeError, Square, known,
};
#[doc(inline)]
pub use engine::{
    Completions, CountedBy, Counter, CounterSettings, Engine, FunctionPlan, Origin, Plan, PlanName,
    Tally, Task, TaskKey, TaskWatch, WorkerId,
};
#[doc(inline)]
pub use estimate::{Draw, Interval, Sample, SampleProgress, Total, count_sample};
#[doc(inline)]
pub use job::{
    CensusResult, DeviceChoice, Hardware, HardwareSettings, Job, JobError, JobResult, RunSettings,
    Stopped, Tuning, count, plan,
};
#[doc(inline)]
pub use outcome::{Checked, Contradiction, Outcome, Symmetric};
#[doc(inline)]
pub use simd::{Isa, UnknownIsa};
#[doc(inline)]
pub use solve::{Choice, Chosen, Solutions, Solved, solutions, solve};
