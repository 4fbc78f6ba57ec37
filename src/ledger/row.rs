//! How a result becomes a database row, and how a row becomes a result again.

use std::time::Duration;

use rusqlite::{Row, Statement, params};

use super::digest::Digest;
use super::origin_columns::OriginColumns;
use super::{Entry, PlanInfo};
use crate::board::Size;
use crate::engine::{Engine, Tally, TaskKey, TaskResult};

/// The columns of the table `record`, in the order that this file writes and reads them.
pub(super) const COLUMNS: &str = "engine, task, weight1, weight2, weight4, weight8, r180, r90, partitions, nodes, backend, \
     device, worker, audited_by, session, duration_us, blake3";

/// Runs `insert`, which has a parameter for each of [`COLUMNS`]; the number of rows inserted.
///
/// `Err` of the outer result: a number does not fit the 63 bits of a column.
pub(super) fn insert(
    insert: &mut Statement<'_>,
    entry: &Entry,
    digest: &Digest,
) -> Result<rusqlite::Result<usize>, String> {
    let integer = |what: &str, number: u64| {
        i64::try_from(number).map_err(|_| format!("{what} {number} does not fit 63 bits"))
    };
    let Entry { result, session } = entry;
    let index = integer("task index", result.key.index)?;
    let partitions = integer("number of partitions", result.tally.partitions)?;
    let nodes = integer("number of nodes", result.tally.nodes)?;
    let duration = integer("duration", entry.microseconds())?;
    let [w1, w2, w4, w8] = result.tally.completions.by_weight().map(|c| c.to_string());
    let origin = OriginColumns::of(&result.origin);
    Ok(insert.execute(params![
        result.key.engine.name(),
        index,
        w1,
        w2,
        w4,
        w8,
        result.tally.r180.to_string(),
        result.tally.r90.to_string(),
        partitions,
        nodes,
        origin.backend,
        origin.device,
        origin.worker,
        result.audited_by.as_ref().map(|kernel| kernel.as_str()),
        session,
        duration,
        digest.0,
    ]))
}

/// The entry in a row, and its digest, which is not checked here; `None` if a column holds what
/// [`insert`] never writes, or if the run of board `n` has no plan of that engine.
pub(super) fn read(
    row: &Row<'_>,
    n: Size,
    plans: &[PlanInfo],
) -> rusqlite::Result<Option<(Entry, [u8; 32])>> {
    let engine: String = row.get(0)?;
    let engine = engine.parse::<Engine>().ok();
    let plan = plans.iter().find(|plan| Some(plan.name.engine) == engine);
    let count = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?.parse().ok());
    let mut tally = Tally {
        partitions: row.get::<_, i64>(8)? as u64,
        nodes: row.get::<_, i64>(9)? as u64,
        ..Tally::default()
    };
    for (column, weight) in (2..6).zip([1, 2, 4, 8]) {
        let Some(completions) = count(column)? else {
            return Ok(None);
        };
        tally.completions.add(weight, completions);
    }
    let origin = OriginColumns {
        backend: row.get_ref(10)?.as_str()?,
        device: row.get_ref(11)?.as_str()?,
        worker: row.get(12)?,
    };
    let (Some(plan), Some(r180), Some(r90), Some(origin)) =
        (plan, count(6)?, count(7)?, origin.read())
    else {
        return Ok(None);
    };
    (tally.r180, tally.r90) = (r180, r90);
    let result = TaskResult {
        key: TaskKey {
            n,
            engine: plan.name.engine,
            version: plan.name.version,
            index: row.get::<_, i64>(1)? as u64,
        },
        tally,
        origin,
        audited_by: row.get::<_, Option<String>>(13)?.map(Into::into),
        duration: Duration::from_micros(row.get::<_, i64>(15)? as u64),
    };
    let entry = Entry {
        result,
        session: row.get(14)?,
    };
    Ok(Some((entry, row.get(16)?)))
}
