//! The table `correction`: the log of counts that differed, and what was decided.

use rusqlite::{Connection, Row, params};

use crate::ledger::database::correction_text::CorrectionText;
use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::database::row::{RowError, integer};
use crate::ledger::{Entry, PlanInfo};
use queenfold::board::Size;
use queenfold::engine::{Correction, Engine, TaskKey};

/// A correction as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCorrection {
    /// Its place among those of its task, from 0. The last one tells what the task stands at.
    pub number: u64,
    /// The results, each with the process that counted it, and the decision.
    pub correction: Correction<Entry>,
    /// Which process logged it: the id of a session.
    pub session: String,
    /// When, in seconds since 1970 by the clock of its machine.
    pub recorded_at: i64,
}

impl LoggedCorrection {
    /// The task.
    pub const fn task(&self) -> TaskKey {
        self.correction.recorded.result.key
    }

    /// Whether it leaves open which result is right.
    pub const fn is_open(&self) -> bool {
        self.correction.decision.is_none()
    }

    /// Whether it says the same as `other`, at whatever place of a log.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.correction, &self.session, self.recorded_at)
            == (&other.correction, &other.session, other.recorded_at)
    }

    /// The digest that is stored with it in a run with the key `run`. It covers every field and the key.
    pub fn digest(&self, run: &Digest) -> Digest {
        self.digest_of(run, &self.text())
    }

    fn digest_of(&self, run: &Digest, text: &str) -> Digest {
        let task = self.task();
        DigestFields::new(context::CORRECTION)
            .bytes(&run.0)
            .text(task.engine.name())
            .u64(task.index)
            .u64(self.number)
            .text(text)
            .text(&self.session)
            .i64(self.recorded_at)
            .digest()
    }

    fn text(&self) -> String {
        // A struct of numbers and texts always becomes JSON.
        serde_json::to_string(&CorrectionText::of(&self.correction)).unwrap_or_default()
    }
}

/// Adds a correction to the log of the run with the key `run`.
pub(crate) fn insert(
    connection: &Connection,
    run: &Digest,
    logged: &LoggedCorrection,
) -> Result<(), RowError> {
    let task = logged.task();
    let text = logged.text();
    let row = params![
        task.engine.name(),
        integer("task index", task.index)?,
        integer("number", logged.number)?,
        text,
        logged.session,
        logged.recorded_at,
        logged.digest_of(run, &text).0
    ];
    connection
        .prepare_cached("INSERT INTO correction VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
        .execute(row)?;
    Ok(())
}

/// The log of the run of board `n` with the key `run`, or what it has of one task, by engine, task and number.
pub(crate) fn all(
    connection: &Connection,
    run: &Digest,
    plans: (Size, &[PlanInfo]),
    task: Option<TaskKey>,
) -> Result<Vec<LoggedCorrection>, RowError> {
    let mut statement = connection.prepare_cached(
        "SELECT engine, task, number, correction, session, recorded_at, blake3 FROM correction \
         WHERE ?1 IS NULL OR engine = ?1 AND task = ?2 ORDER BY engine, task, number",
    )?;
    let engine = task.map(|task| task.engine.name());
    let index = task.map(|task| integer("task index", task.index));
    let mut rows = statement.query(params![engine, index.transpose()?])?;
    let damaged = |what: String| Err(RowError::Damaged(what));
    let mut log: Vec<LoggedCorrection> = Vec::new();
    while let Some(row) = rows.next()? {
        let Some(logged) = read(row, run, plans)? else {
            return damaged("a correction is damaged".to_owned());
        };
        let before = log.last().filter(|last| last.task() == logged.task());
        if logged.number != before.map_or(0, |before| before.number + 1) {
            return damaged(format!("a correction of task {} is missing", logged.task()));
        }
        log.push(logged);
    }
    Ok(log)
}

fn read(
    row: &Row<'_>,
    run: &Digest,
    (n, plans): (Size, &[PlanInfo]),
) -> rusqlite::Result<Option<LoggedCorrection>> {
    let engine: String = row.get(0)?;
    let engine = engine.parse::<Engine>().ok();
    let plan = plans.iter().find(|plan| Some(plan.name.engine) == engine);
    let index = u64::try_from(row.get::<_, i64>(1)?).ok();
    let number = u64::try_from(row.get::<_, i64>(2)?).ok();
    let (Some(plan), Some(index), Some(number)) = (plan, index, number) else {
        return Ok(None);
    };
    let key = TaskKey {
        n,
        engine: plan.name.engine,
        version: plan.name.version,
        index,
    };
    let text: String = row.get(3)?;
    let parsed = serde_json::from_str::<CorrectionText<'_>>(&text).ok();
    let Some(correction) = parsed
        .filter(|_| index < plan.tasks)
        .and_then(|text| text.correction(key))
    else {
        return Ok(None);
    };
    let logged = LoggedCorrection {
        number,
        correction,
        session: row.get(4)?,
        recorded_at: row.get(5)?,
    };
    let stored: [u8; 32] = row.get(6)?;
    let same = logged.text() == text && logged.digest_of(run, &text).0 == stored;
    Ok(same.then_some(logged))
}
