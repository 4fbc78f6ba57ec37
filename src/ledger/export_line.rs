//! A line of the exported log: how an entry becomes one, and how it becomes an entry again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::correction_text::CorrectionText;
use super::digest::Digest;
use super::origin_columns::OriginColumns;
use super::{Column, Entry, LoggedCorrection, row};
use crate::board::Size;
use crate::engine::{Engine, KernelName, Plan, PlanName, Tally, TaskResult};

/// An entry with the ranks of its task. Its names and times lie beside each other; only completions by
/// weight are an object of their own.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<'a> {
    n: Size,
    /// What is given on the board, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    given: Option<String>,
    plan: PlanName,
    engine: Engine,
    task: u64,
    ranks: [u64; 2],
    #[serde(flatten)]
    tally: Tally,
    backend: Cow<'a, str>,
    device: Cow<'a, str>,
    worker: Cow<'a, str>,
    audited_by: Option<Cow<'a, str>>,
    session: Cow<'a, str>,
    seconds: f64,
    recorded_at: i64,
    blake3: Cow<'a, str>,
}

impl<'a> Line<'a> {
    /// The line of `entry` in `column`, whose task is of `plan`, in the run with the key `run`.
    pub(super) fn of(entry: &'a Entry, column: Column, plan: &dyn Plan, run: &Digest) -> Self {
        let result = &entry.result;
        let ranks = plan.ranks_of(result.key.index);
        let origin = OriginColumns::of(&result.origin);
        let audited_by = result.audited_by.as_ref().map(KernelName::as_str);
        Self {
            n: result.key.n,
            given: in_words(plan),
            plan: plan.name(),
            engine: result.key.engine,
            task: result.key.index,
            ranks: [ranks.start, ranks.end],
            tally: result.tally,
            backend: origin.backend.into(),
            device: origin.device.into(),
            worker: origin.worker.into(),
            audited_by: audited_by.map(Cow::Borrowed),
            session: entry.session.as_str().into(),
            seconds: result.duration.as_secs_f64(),
            recorded_at: entry.recorded_at,
            blake3: entry.digest(column, run).to_string().into(),
        }
    }

    /// The entry in `column` that the line was made of, in the run of `plans` with the key `run`.
    ///
    /// # Errors
    /// The line is of another run, or it was changed; in words.
    pub(super) fn entry(
        self,
        column: Column,
        plans: &[Arc<dyn Plan>],
        run: &Digest,
    ) -> Result<Entry, String> {
        let plan = plan_of((self.n, self.plan, self.engine), self.task, plans)?;
        if self.given != in_words(plan.as_ref()) {
            return Err("something else is given on the board of the run".to_owned());
        }
        let ranks = plan.ranks_of(self.task);
        if self.ranks != [ranks.start, ranks.end] {
            let (start, end) = (ranks.start, ranks.end);
            return Err(format!("task {} has the ranks {start}..{end}", self.task));
        }
        let origin = OriginColumns {
            backend: &self.backend,
            device: &self.device,
            worker: self.worker.into_owned(),
        };
        let result = TaskResult {
            key: plan.key(self.task),
            tally: self.tally,
            origin: origin.read().ok_or("no worker counts like this")?,
            audited_by: self.audited_by.map(|name| name.into_owned().into()),
            // Ledgers keep whole microseconds.
            duration: Duration::from_micros((self.seconds * 1e6).round() as u64),
        };
        let entry = Entry {
            result,
            session: self.session.into_owned(),
            recorded_at: self.recorded_at,
        };
        if !row::is_possible(&entry.result.tally) {
            return Err("no board has such counts".to_owned());
        }
        if entry.digest(column, run).to_string() == self.blake3 {
            Ok(entry)
        } else {
            Err("it does not match its digest".to_owned())
        }
    }
}

/// What is given on the board of a plan, if anything is.
fn in_words(plan: &dyn Plan) -> Option<String> {
    let given = plan.given();
    (!given.is_free()).then(|| given.to_string())
}

/// The plan among `plans` that a line names, if it has the task that the line is of.
fn plan_of(
    (n, name, engine): (Size, PlanName, Engine),
    task: u64,
    plans: &[Arc<dyn Plan>],
) -> Result<&Arc<dyn Plan>, String> {
    let is_own = |plan: &&Arc<dyn Plan>| plan.name() == name && plan.size() == n;
    let plan = plans.iter().find(is_own);
    let plan = plan.ok_or_else(|| format!("the run has no plan {name} of n = {n}"))?;
    if engine != name.engine {
        return Err(format!("plan {name} is not of the {engine} engine"));
    }
    if task >= plan.tasks() {
        return Err(format!("plan {name} has no task {task}"));
    }
    Ok(plan)
}

/// The line of a second count. It follows the line of its record.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecondLine<'a> {
    pub(super) second: Line<'a>,
}

/// The line of a correction. All of them follow the last record.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectionLine<'a> {
    correction: LoggedText<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoggedText<'a> {
    n: Size,
    plan: PlanName,
    engine: Engine,
    task: u64,
    number: u64,
    results: CorrectionText<'a>,
    session: Cow<'a, str>,
    recorded_at: i64,
    blake3: Cow<'a, str>,
}

impl<'a> CorrectionLine<'a> {
    /// The line of a correction, whose task is of `plan`, in the run with the key `run`.
    pub(super) fn of(logged: &'a LoggedCorrection, plan: PlanName, run: &Digest) -> Self {
        let task = logged.task();
        let correction = LoggedText {
            n: task.n,
            plan,
            engine: task.engine,
            task: task.index,
            number: logged.number,
            results: CorrectionText::of(&logged.correction),
            session: logged.session.as_str().into(),
            recorded_at: logged.recorded_at,
            blake3: logged.digest(run).to_string().into(),
        };
        Self { correction }
    }

    /// The correction that the line was made of, in the run of `plans` with the key `run`.
    ///
    /// # Errors
    /// The line is of another run, or it was changed; in words.
    pub(super) fn logged(
        self,
        plans: &[Arc<dyn Plan>],
        run: &Digest,
    ) -> Result<LoggedCorrection, String> {
        let Self { correction: text } = self;
        let plan = plan_of((text.n, text.plan, text.engine), text.task, plans)?;
        let correction = text.results.correction(plan.key(text.task));
        let logged = LoggedCorrection {
            number: text.number,
            correction: correction.ok_or("no run corrects like this")?,
            session: text.session.into_owned(),
            recorded_at: text.recorded_at,
        };
        if logged.digest(run).to_string() == text.blake3 {
            Ok(logged)
        } else {
            Err("it does not match its digest".to_owned())
        }
    }
}

/// The last line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Last {
    pub(super) signature: String,
}
