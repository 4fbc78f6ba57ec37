//! The part of a record that shows how far a run is. Counts and digests are left out, because there may be millions
//! of records: that takes a third of the time.

use std::time::Duration;

use rusqlite::Row;

use crate::ledger::{Entry, PlanInfo};
use queenfold::board::Size;
use queenfold::engine::{TaskKey, WorkerId};

/// Who counted a task, how long, and how much that was; not what came out.
pub(crate) struct Account<'a> {
    pub key: TaskKey,
    /// Nodes searched.
    pub nodes: u64,
    pub duration: Duration,
    /// The id of the session that recorded it.
    pub session: &'a str,
    pub worker: WorkerId,
    /// The kernel, or the sort of device.
    pub backend: &'a str,
    /// Whether it was counted a second time before it was recorded.
    pub is_audited: bool,
}

/// How many columns an account has.
pub(crate) const COUNT: usize = 8;

/// The columns of a table, for a `SELECT` that calls it `name`.
pub(crate) fn columns(name: &str) -> String {
    let columns: [&str; COUNT] = [
        "engine",
        "task",
        "nodes",
        "duration_us",
        "session",
        "worker",
        "backend",
        "audited_by",
    ];
    columns.map(|column| format!("{name}.{column}")).join(", ")
}

impl<'a> Account<'a> {
    /// The account of an entry.
    pub fn of(entry: &'a Entry) -> Self {
        let result = &entry.result;
        Self {
            key: result.key,
            nodes: result.tally.nodes,
            duration: result.duration,
            session: &entry.session,
            worker: result.origin.worker,
            backend: result.origin.counted_by.backend(),
            is_audited: result.audited_by.is_some(),
        }
    }

    /// The account in [`columns`] of a row, which begin at `from`; `None` if a column holds what no entry of a run of board
    /// `n` with these plans has.
    pub fn read(
        row: &'a Row<'_>,
        from: usize,
        n: Size,
        plans: &[PlanInfo],
    ) -> rusqlite::Result<Option<Self>> {
        let text = |column| Ok::<_, rusqlite::Error>(row.get_ref(from + column)?.as_str()?);
        let whole = |column| {
            Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(from + column)?).ok())
        };
        let engine = text(0)?;
        let plan = plans.iter().find(|plan| plan.engine.name() == engine);
        let worker = text(5)?.parse().ok();
        let (Some(plan), Some(worker), Some(index), Some(nodes), Some(microseconds)) =
            (plan, worker, whole(1)?, whole(2)?, whole(3)?)
        else {
            return Ok(None);
        };
        if index >= plan.tasks {
            return Ok(None);
        }
        Ok(Some(Self {
            key: TaskKey {
                n,
                engine: plan.engine,
                version: plan.name.version,
                index,
            },
            nodes,
            duration: Duration::from_micros(microseconds),
            session: text(4)?,
            worker,
            backend: text(6)?,
            is_audited: row.get_ref(from + 7)? != rusqlite::types::ValueRef::Null,
        }))
    }
}
