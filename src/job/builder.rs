//! What a caller of the library asks for: a job, step by step.

use std::sync::Arc;
use std::time::Duration;

use super::{DeviceChoice, Hardware, HardwareSettings, JobError};
use crate::actors::{Control, Observer};
use crate::board::{GivenBoard, Size};
use crate::engine::Plan;
use crate::outcome::Outcome;
use crate::simd::Isa;

/// Counts the board of `n` × `n` squares, 1 to 32, by everything that this machine has.
///
/// ```
/// assert_eq!(queenfold::count(8)?.total, 92);
/// # Ok::<(), queenfold::JobError>(())
/// ```
///
/// # Errors
/// There is no board of this size, or the run failed.
pub fn count(n: u32) -> Result<Outcome, JobError> {
    Ok(Job::new(Size::new(n)?).run()?.outcome)
}

/// What to count, how, and on what. Every setting has a default: all solutions and those that differ
/// by more than a symmetry, by the fastest engine, on all cores and GPUs.
///
/// ```
/// use queenfold::{DeviceChoice, Engine, Job, Size, plan};
///
/// // By the colour engine, on two cores alone, without the unique count.
/// let job = Job::of(plan(Engine::Colour, Size::new(10)?))
///     .workers(2)
///     .devices(DeviceChoice::Off)
///     .unique(false);
/// assert_eq!(job.run()?.outcome.total, 724);
/// // Settings that could not count are refused.
/// assert!(job.workers(0).run().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Job {
    pub(super) board: GivenBoard,
    /// Counts all solutions. `None`: the plan of the fastest engine.
    pub(super) plan: Option<Arc<dyn Plan>>,
    /// Whether the engine of the plan was asked for, and not chosen for the hardware.
    pub(super) engine_asked_for: bool,
    pub(super) unique: bool,
    #[doc(hidden)]
    pub settings: RunSettings,
}

/// On what tasks are counted, how, and for how long, whatever board they are of.
#[derive(Clone, Default)]
pub struct RunSettings {
    /// The hardware to look for.
    pub hardware: HardwareSettings,
    /// How tasks are audited.
    pub tuning: Tuning,
    /// After this long, the run stops. `None`: never.
    pub time_limit: Option<Duration>,
    /// Through a clone of it, another thread can see the progress, pause and stop the run.
    pub control: Control,
    /// Who gets the [events](crate::actors::RunEvent) of the run.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// How the runtime treats tasks. The defaults suit every board.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// The share of the tasks, 0 to 1, that another kernel counts a second time. Where no count is known, all tasks are
    /// counted a second time while that takes a minute, unless the share is 0.
    pub audit: f64,
    /// How often each worker and device counts its canary, besides the start and the end of a run.
    /// `None`: never.
    pub canary: Option<Duration>,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            audit: 1e-3,
            canary: Some(Duration::from_secs(15 * 60)),
        }
    }
}

impl Job {
    /// Counts a board by the engine that is fastest for it on the hardware of the job: all solutions of a
    /// [`Size`], or the completions of a board on which queens and holes are given.
    ///
    /// ```
    /// use queenfold::{GivenBoard, Job, Size};
    ///
    /// let board = GivenBoard::parse(Size::new(8)?, "b4,d5", "")?;
    /// assert_eq!(Job::new(board).run()?.outcome.total, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(board: impl Into<GivenBoard>) -> Self {
        Self {
            board: board.into(),
            plan: None,
            engine_asked_for: false,
            unique: true,
            settings: RunSettings::default(),
        }
    }

    /// Counts the tasks of `plan`: that of one [engine](super::plan) of this library, or of an engine of
    /// your own. Its tallies must add up to all solutions of its board.
    pub fn of(plan: Arc<dyn Plan>) -> Self {
        Self {
            plan: Some(Arc::clone(&plan)),
            engine_asked_for: true,
            ..Self::new(plan.given())
        }
    }

    /// Uses this instruction set. Default: the widest that the processor has.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.settings.hardware.isa = Some(isa);
        self
    }

    /// Uses this number of CPU workers, up to 1024; 0 leaves all work to devices. Default: one for
    /// each core that the process may use.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.settings.hardware.workers = Some(workers);
        self
    }

    /// Uses these devices. Default: every GPU of the machine, where that pays.
    #[must_use]
    pub fn devices(mut self, choice: DeviceChoice) -> Self {
        self.settings.hardware.devices = choice;
        self
    }

    /// Whether to count the solutions up to symmetry too, which takes a census of the symmetric
    /// solutions. Default: yes.
    #[must_use]
    pub fn unique(mut self, unique: bool) -> Self {
        self.unique = unique;
        self
    }

    /// Stops after this long. Default: never.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.settings.time_limit = Some(limit);
        self
    }

    /// How tasks are audited.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.settings.tuning = tuning;
        self
    }

    /// Runs under this handle: through a clone of it, another thread can see the progress, pause and
    /// stop the job.
    #[must_use]
    pub fn control(mut self, control: &Control) -> Self {
        self.settings.control = control.clone();
        self
    }

    /// Tells `observer` what happens in the job: see [`RunEvent`](crate::actors::RunEvent). More than
    /// one may be given. A closure will do:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use queenfold::{EventKind, Job, RunEvent, Size};
    ///
    /// let watch = |event: &RunEvent| {
    ///     if let EventKind::State(state) = &event.kind {
    ///         println!("{state:?}");
    ///     }
    /// };
    /// Job::new(Size::new(8)?).observer(Arc::new(watch)).run()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.settings.observers.push(observer);
        self
    }

    /// Replaces all settings but those of what is counted.
    #[must_use]
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// The engine was chosen for the hardware, which may have been to leave its devices out.
    #[doc(hidden)]
    pub const fn engine_was_chosen(mut self) -> Self {
        self.engine_asked_for = false;
        self
    }

    /// Why the devices of `hardware` take no part in this job, if they could and do not: their kernels
    /// do not count its engine or its board. `None` without devices, for an engine that was chosen in
    /// place of theirs, for boards that are done before a device is open, and if the job is refused for
    /// that reason.
    pub fn unused_devices(&self, hardware: &Hardware) -> Option<JobError> {
        let (plan, devices) = (self.plan.as_ref()?, hardware.devices());
        if !devices.are_worth_opening(plan.as_ref()) {
            return None;
        }
        let plans = std::slice::from_ref(plan);
        if self.engine_asked_for {
            devices.check_engine(plans).ok()?;
        }
        devices.for_plans(plans, hardware.workers).ok()?;
        let is_known = |why: &JobError| {
            self.engine_asked_for || matches!(why, JobError::BoardNotForDevices { .. })
        };
        devices.unused(plans).filter(is_known)
    }

    /// The size of the board.
    pub const fn size(&self) -> Size {
        self.board.size()
    }

    /// The board.
    pub const fn board(&self) -> GivenBoard {
        self.board
    }
}
