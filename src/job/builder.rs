//! What a caller of the library asks for: a job, step by step.

#[cfg(feature = "ledger")]
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "ledger")]
use super::directory;
use super::{DeviceChoice, Hardware, HardwareSettings, JobError};
use crate::actors::{Control, Observer};
use crate::board::{GivenBoard, Size};
use crate::engine::Plan;
#[cfg(feature = "ledger")]
use crate::ledger::Shard;
use crate::simd::Isa;

/// What to count, how, and on what. Every setting has a default: all solutions and those that differ
/// by more than a symmetry, by the fastest engine, on all cores and GPUs.
///
/// ```
/// use queenfold::board::Size;
/// use queenfold::engine::Engine;
/// use queenfold::job::{DeviceChoice, Job, plan};
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
    pub(super) hardware: HardwareSettings,
    pub(super) tuning: Tuning,
    pub(super) time_limit: Option<Duration>,
    pub(super) control: Control,
    pub(super) observers: Vec<Arc<dyn Observer>>,
    /// The directory of a run that the job continues.
    #[cfg(feature = "ledger")]
    pub(super) resumed: Option<Resumed>,
    /// The directory that the job makes.
    #[cfg(feature = "ledger")]
    pub(super) directory: Option<PathBuf>,
    /// `None`: all tasks of the run.
    #[cfg(feature = "ledger")]
    pub(super) shard: Option<Shard>,
    #[cfg(feature = "ledger")]
    pub(super) configuration: Option<String>,
}

/// The run that a job continues.
#[cfg(feature = "ledger")]
#[derive(Clone)]
pub(super) struct Resumed {
    pub(super) directory: PathBuf,
    /// Whether it counts the solutions up to symmetry too.
    pub(super) unique: bool,
}

/// How the runtime treats tasks. The defaults suit every board.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How many batches may wait in the queue for each worker, 1 to 64.
    pub queue_per_worker: usize,
    /// How long a batch should keep a worker busy, from 1 ms.
    pub batch_time: Duration,
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
            queue_per_worker: 2,
            batch_time: Duration::from_millis(50),
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
    /// use queenfold::board::{GivenBoard, Size};
    /// use queenfold::job::Job;
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
            hardware: HardwareSettings::default(),
            tuning: Tuning::default(),
            time_limit: None,
            control: Control::new(),
            observers: Vec::new(),
            #[cfg(feature = "ledger")]
            resumed: None,
            #[cfg(feature = "ledger")]
            directory: None,
            #[cfg(feature = "ledger")]
            shard: None,
            #[cfg(feature = "ledger")]
            configuration: None,
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

    /// Continues the run in `directory`: its board, engine and shard, with the hardware and the
    /// settings of this job. A finished run gives its result again.
    ///
    /// ```
    /// use queenfold::board::Size;
    /// use queenfold::job::Job;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let directory = folder.path().join("n9");
    /// Job::new(Size::new(9)?).directory(&directory).run()?;
    /// let again = Job::resume(directory)?.run()?;
    /// assert_eq!(again.outcome.unique(), Some(46));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The directory holds no run, or one that this program cannot read.
    #[cfg(feature = "ledger")]
    pub fn resume(directory: impl Into<PathBuf>) -> Result<Self, JobError> {
        let directory = directory.into();
        let (plan, unique) = directory::counting_plan(&directory)?;
        Ok(Self {
            unique,
            resumed: Some(Resumed { directory, unique }),
            ..Self::of(plan)
        })
    }

    /// Uses this instruction set. Default: the widest that the processor has.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.hardware.isa = Some(isa);
        self
    }

    /// Uses this number of CPU workers, up to 1024; 0 leaves all work to devices. Default: one for
    /// each core that the process may use.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.hardware.workers = Some(workers);
        self
    }

    /// Uses these devices. Default: every GPU of the machine, where that pays.
    #[must_use]
    pub fn devices(mut self, choice: DeviceChoice) -> Self {
        self.hardware.devices = choice;
        self
    }

    /// Whether to count the solutions up to symmetry too, which takes a census of the symmetric
    /// solutions. Default: yes. A run that is resumed keeps what it was begun with.
    #[must_use]
    pub fn unique(mut self, unique: bool) -> Self {
        self.unique = unique;
        self
    }

    /// Stops after this long. Default: never.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// How tasks are batched and audited.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Runs under this handle: through a clone of it, another thread can see the progress, pause and
    /// stop the job.
    #[must_use]
    pub fn control(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Tells `observer` what happens in the job: see [`RunEvent`](crate::actors::RunEvent). More than
    /// one may be given.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Keeps every finished task in this new directory, so that [`resume`](Self::resume) can continue
    /// the run after a stop or a crash. A run that is resumed keeps its own directory.
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The directory that keeps the finished tasks of the job, if there is one.
    #[cfg(feature = "ledger")]
    pub fn run_directory(&self) -> Option<&Path> {
        let resumed = self.resumed.as_ref().map(|resumed| &resumed.directory);
        resumed.or(self.directory.as_ref()).map(PathBuf::as_path)
    }

    /// Counts only this share of the tasks. It needs a [`directory`](Self::directory), where
    /// [`merge`](crate::ledger::merge) can put the tasks of all shards together. A run that is resumed
    /// keeps the shard that it was begun with.
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Keeps `text` in the directory as the configuration of the run. Only people read it. It needs a
    /// [`directory`](Self::directory).
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn configuration(mut self, text: String) -> Self {
        self.configuration = Some(text);
        self
    }

    /// The engine was chosen for the hardware, which may have been to leave its devices out.
    #[cfg(feature = "cli")]
    pub(crate) const fn engine_was_chosen(mut self) -> Self {
        self.engine_asked_for = false;
        self
    }

    /// Why the devices of `hardware` take no part in this job, if they could and do not: their kernels
    /// do not count its engine or its board. `None` without devices, for an engine that was chosen in
    /// place of theirs, for boards that are done before a device is open, and if the job is refused for
    /// that reason.
    pub fn unused_devices(&self, hardware: &Hardware) -> Option<JobError> {
        let plans = std::slice::from_ref(self.plan.as_ref()?);
        let devices = hardware.devices();
        if !plans
            .iter()
            .any(|plan| devices.are_worth_opening(plan.as_ref()))
        {
            return None;
        }
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
