//! What a job gives: a checked result, a checked census, or how far it came before it was stopped.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{Hardware, JobError};
use crate::actors::{Report, StopCause};
use crate::board::GivenBoard;
use crate::engine::{Engine, Plan, Tally};
use crate::outcome::{Checked, Contradiction, Outcome};
use crate::words;

/// What a finished job found.
#[derive(Clone)]
pub struct JobResult {
    /// The counts, checked.
    pub outcome: Outcome,
    /// How they were checked, beside what no counts may contradict.
    pub checked: Checked,
    /// The plan that counted all solutions.
    pub plan: Arc<dyn Plan>,
    /// The number of CPU workers.
    pub workers: usize,
    /// The kernel of the CPU workers: `avx512`, `portable`, ….
    pub kernel: &'static str,
    /// What this process did.
    pub report: Report,
    /// Wall time from the first step of the plan to the final tally, of all processes that worked on
    /// the run; second counts have a time of their own.
    pub elapsed: Duration,
    /// CPU time of all of them; `None` if an earlier version of the program, which did not record it, worked on the run.
    pub cpu: Option<Duration>,
}

impl JobResult {
    /// Checks the counts of `report`. `time`: wall time and CPU time of the whole run.
    #[doc(hidden)]
    pub fn new(
        plan: Arc<dyn Plan>,
        hardware: &Hardware,
        report: Report,
        time: (Duration, Option<Duration>),
    ) -> Result<Self, JobError> {
        let outcome = outcome(plan.as_ref(), |engine| report.tallies.get(&engine))?;
        Ok(Self {
            checked: Checked::new(outcome.is_known, report.twice, report.tasks_planned),
            outcome,
            workers: hardware.workers_of_run(),
            kernel: plan.kernel(hardware.counter.isa),
            plan,
            report,
            elapsed: time.0,
            cpu: time.1,
        })
    }
}

impl fmt::Debug for JobResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobResult")
            .field("outcome", &self.outcome)
            .field("plan", &self.plan.name())
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}

/// The symmetric solutions of a board.
#[derive(Clone, Debug)]
pub struct CensusResult {
    /// Solutions fixed by the half turn.
    pub r180: u128,
    /// Solutions fixed by the quarter turn.
    pub r90: u128,
    /// How they were checked.
    pub checked: Checked,
    /// What the run did.
    pub report: Report,
}

/// The checked result of the tallies of `plan` and, if it was run, the census.
///
/// # Errors
/// The counts contradict each other or a known count.
pub fn outcome<'a>(
    plan: &dyn Plan,
    tally: impl Fn(Engine) -> Option<&'a Tally>,
) -> Result<Outcome, Contradiction> {
    let none = Tally::default();
    let all = tally(plan.engine()).unwrap_or(&none);
    Outcome::new(plan.given(), all, tally(Engine::Census))
}

/// How far a job came that was stopped before its end.
#[derive(Debug)]
pub struct Stopped {
    /// The board.
    pub board: GivenBoard,
    /// What stopped it.
    pub cause: StopCause,
    /// Wall time of all processes that worked on the run.
    pub elapsed: Duration,
    /// What this process did.
    pub report: Report,
}

impl Stopped {
    /// That a run was stopped. `before`: wall time of earlier processes that worked on it.
    #[doc(hidden)]
    pub fn by(board: GivenBoard, cause: StopCause, report: Report, before: Duration) -> JobError {
        JobError::Stopped(Box::new(Self {
            board,
            cause,
            elapsed: before + report.elapsed,
            report,
        }))
    }

    /// The message of a program that knows more about the cause: `stopped by CAUSE after 5.0 s, …`. Says
    /// what was given up, if anything was.
    pub fn message(&self, cause: impl fmt::Display) -> String {
        let report = &self.report;
        let given_up = match report.given_up {
            0 => String::new(),
            tasks => format!(
                ", {} given up ({} of work lost)",
                words::several(tasks, "unfinished task"),
                words::duration(report.lost)
            ),
        };
        format!(
            "stopped by {cause} after {}, with {} of {} tasks of {} counted{given_up}",
            words::duration(self.elapsed),
            report.tasks_done,
            report.tasks_total,
            self.board.in_words()
        )
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(self.cause))
    }
}
