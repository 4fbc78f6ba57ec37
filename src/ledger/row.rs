//! How a result becomes a database row, and how a row becomes a result again.

use std::time::Duration;

use rusqlite::{Row, Statement, params};

use super::digest::Digest;
use super::origin_columns::OriginColumns;
use super::{Column, Entry, PlanInfo};
use crate::board::Size;
use crate::engine::{Engine, Tally, TaskKey, TaskResult, decimal};

/// How many columns an entry has.
pub(super) const COUNT: usize = 18;

/// The columns of the tables `record` and `second`, in the order that this file writes and reads them.
const COLUMNS: [&str; COUNT] = [
    "engine",
    "task",
    "weight1",
    "weight2",
    "weight4",
    "weight8",
    "r180",
    "r90",
    "partitions",
    "nodes",
    "backend",
    "device",
    "worker",
    "audited_by",
    "session",
    "duration_us",
    "recorded_at",
    "blake3",
];

/// The columns of a table, for a `SELECT` that calls it `name`.
pub(super) fn columns(name: &str) -> String {
    COLUMNS.map(|column| format!("{name}.{column}")).join(", ")
}

/// The statement that inserts an entry into a column, unless there is one of its task.
pub(super) fn insertion(column: Column) -> String {
    let parameters: Vec<_> = (1..=COLUMNS.len()).map(|at| format!("?{at}")).collect();
    format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT (engine, task) DO NOTHING",
        column.table(),
        COLUMNS.join(", "),
        parameters.join(", ")
    )
}

/// Runs an [`insertion`]; the number of rows inserted.
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
    let Entry {
        result,
        session,
        recorded_at,
    } = entry;
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
        recorded_at,
        digest.0,
    ]))
}

/// The longest name in a column, in bytes: of a kernel, a device, a worker or a session.
const LONGEST_NAME: usize = 256;

/// The longest duration of a task, in microseconds: a year.
const LONGEST: u64 = 366 * 86_400 * 1_000_000;

/// Whether a task of a board can have this tally. Boards up to 32 have fewer than 2⁷¹ solutions, so sums of
/// such tallies stay below 2¹²⁸.
pub(super) fn is_possible(tally: &Tally) -> bool {
    let counts = tally.completions.by_weight();
    let mut counts = counts.iter().chain([&tally.r180, &tally.r90]);
    counts.all(|&count| count < 1 << 80)
}

/// Whether a run can have recorded this: names are short, counts possible, and times not too long.
pub(super) fn is_plausible(entry: &Entry) -> bool {
    let result = &entry.result;
    let origin = OriginColumns::of(&result.origin);
    let audited_by = result.audited_by.as_ref().map(|kernel| kernel.as_str());
    let names = [
        origin.backend,
        origin.device,
        &origin.worker,
        &entry.session,
    ];
    is_possible(&result.tally)
        && entry.microseconds() <= LONGEST
        && names
            .into_iter()
            .chain(audited_by)
            .all(|name| name.len() <= LONGEST_NAME)
}

/// The entry in [`columns`] of a row, which begin at `from`, and its digest, which is not checked here;
/// `None` if a column holds what [`insert`] never writes, or if the run of board `n` has no plan of that
/// engine.
pub(super) fn read(
    row: &Row<'_>,
    from: usize,
    n: Size,
    plans: &[PlanInfo],
) -> rusqlite::Result<Option<(Entry, [u8; 32])>> {
    let engine: String = row.get(from)?;
    let engine = engine.parse::<Engine>().ok();
    let plan = plans.iter().find(|plan| Some(plan.name.engine) == engine);
    let count =
        |column| Ok::<_, rusqlite::Error>(decimal::read(row.get_ref(from + column)?.as_str()?));
    let whole =
        |column| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(from + column)?).ok());
    let name = |column| {
        let name = row.get_ref(from + column)?.as_str()?;
        Ok::<_, rusqlite::Error>((name.len() <= LONGEST_NAME).then_some(name))
    };
    let (Some(index), Some(partitions), Some(nodes), Some(duration)) =
        (whole(1)?, whole(8)?, whole(9)?, whole(15)?)
    else {
        return Ok(None);
    };
    let (Some(backend), Some(device), Some(worker), Some(session)) =
        (name(10)?, name(11)?, name(12)?, name(14)?)
    else {
        return Ok(None);
    };
    let audited_by = row.get::<_, Option<String>>(from + 13)?;
    if duration > LONGEST
        || audited_by
            .as_ref()
            .is_some_and(|name| name.len() > LONGEST_NAME)
    {
        return Ok(None);
    }
    let mut tally = Tally {
        partitions,
        nodes,
        ..Tally::default()
    };
    for (column, weight) in (2..6).zip([1, 2, 4, 8]) {
        let Some(completions) = count(column)? else {
            return Ok(None);
        };
        tally.completions.add(weight, completions);
    }
    let origin = OriginColumns {
        backend,
        device,
        worker: worker.to_owned(),
    };
    let (Some(plan), Some(r180), Some(r90), Some(origin)) =
        (plan, count(6)?, count(7)?, origin.read())
    else {
        return Ok(None);
    };
    (tally.r180, tally.r90) = (r180, r90);
    if !is_possible(&tally) {
        return Ok(None);
    }
    let result = TaskResult {
        key: TaskKey {
            n,
            engine: plan.name.engine,
            version: plan.name.version,
            index,
        },
        tally,
        origin,
        audited_by: audited_by.map(Into::into),
        duration: Duration::from_micros(duration),
    };
    let entry = Entry {
        result,
        session: session.to_owned(),
        recorded_at: row.get(from + 16)?,
    };
    Ok(Some((entry, row.get(from + 17)?)))
}
