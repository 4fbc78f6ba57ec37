//! How a result becomes a database row, and how a row becomes a result again.

use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, params};

use crate::ledger::database::digest::Digest;
use crate::ledger::database::origin_columns::OriginColumns;
use crate::ledger::{Column, Entry, PlanInfo};
use queenfold::board::Size;
use queenfold::engine::{Tally, TaskKey, TaskResult, decimal};

/// Names the columns, in the order in which the tables have them.
macro_rules! columns {
    ($($at:ident = $name:literal,)*) => {
        #[derive(Clone, Copy)]
        enum Field { $($at),* }

        /// The columns of the tables `record` and `second`.
        const COLUMNS: [&str; COUNT] = [$($name),*];
    };
}

/// How many columns an entry has.
pub(crate) const COUNT: usize = 18;

columns! {
    Engine = "engine",
    Task = "task",
    Weight1 = "weight1",
    Weight2 = "weight2",
    Weight4 = "weight4",
    Weight8 = "weight8",
    R180 = "r180",
    R90 = "r90",
    Partitions = "partitions",
    Nodes = "nodes",
    Backend = "backend",
    Device = "device",
    Worker = "worker",
    AuditedBy = "audited_by",
    Session = "session",
    Duration = "duration_us",
    RecordedAt = "recorded_at",
    Digest = "blake3",
}

/// Why rows cannot be read or written.
pub(crate) enum RowError {
    /// They cannot, or a column is of another type.
    Database(rusqlite::Error),
    /// They hold what is never written.
    Damaged(String),
    /// A number does not fit a column.
    Unfit(String),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// A number as a column holds it.
pub(crate) fn integer(what: &str, number: u64) -> Result<i64, RowError> {
    let unfit = |_| RowError::Unfit(format!("{what} {number} does not fit 63 bits"));
    i64::try_from(number).map_err(unfit)
}

/// The statement that inserts an entry into a column, unless there is one of its task.
pub(crate) fn insertion(column: Column) -> String {
    format!(
        "INSERT INTO {} VALUES ({}) ON CONFLICT (engine, task) DO NOTHING",
        column.table(),
        ["?"; COUNT].join(",")
    )
}

/// Runs an [`insertion`]; the number of rows inserted.
pub(crate) fn insert(
    insert: &mut Statement<'_>,
    entry: &Entry,
    digest: &Digest,
) -> Result<usize, RowError> {
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
        result.audited_by.as_deref(),
        session,
        duration,
        recorded_at,
        digest.0,
    ])?)
}

/// The longest name in a column, in bytes: of a kernel, a device, a worker or a session.
const LONGEST_NAME: usize = 256;

/// The longest duration of a task, in microseconds: a year.
const LONGEST: u64 = 366 * 86_400 * 1_000_000;

/// Whether a task of a board can have this tally. Boards up to 32 have fewer than 2⁷¹ solutions, so sums of
/// such tallies stay below 2¹²⁸.
pub(crate) fn is_possible(tally: &Tally) -> bool {
    let counts = tally.completions.by_weight();
    let mut counts = counts.iter().chain([&tally.r180, &tally.r90]);
    counts.all(|&count| count < 1 << 80)
}

/// Whether a run can have recorded this, and read it again: names are short, counts possible and no larger than a column
/// holds, and times not too long.
pub(crate) fn is_plausible(entry: &Entry) -> bool {
    let result = &entry.result;
    let origin = OriginColumns::of(&result.origin);
    let audited_by = result.audited_by.as_deref();
    let names = [
        origin.backend,
        origin.device,
        &origin.worker,
        &entry.session,
    ];
    let fit = [result.tally.nodes, result.tally.partitions];
    is_possible(&result.tally)
        && fit.into_iter().all(|number| i64::try_from(number).is_ok())
        && origin.read().as_ref() == Some(&result.origin)
        && entry.microseconds() <= LONGEST
        && names
            .into_iter()
            .chain(audited_by)
            .all(|name| name.len() <= LONGEST_NAME)
}

/// The entry in the columns of a row that begin at `from`, and its digest, which is not checked here.
///
/// # Errors
/// A column holds what [`insert`] never writes, or the run of board `n` has no plan of that engine.
pub(crate) fn read(
    row: &Row<'_>,
    from: usize,
    n: Size,
    plans: &[PlanInfo],
) -> Result<(Entry, [u8; 32]), RowError> {
    let wrong = |at: Field| {
        let name = COLUMNS[at as usize];
        RowError::Damaged(format!(
            "the column `{name}` of a record holds what no count gives"
        ))
    };
    let cell = |at: Field| row.get_ref(from + at as usize);
    let text = |at| cell(at)?.as_str().map_err(|_| wrong(at));
    let count = |at| decimal::read(text(at)?).ok_or_else(|| wrong(at));
    let whole = |at| {
        let number = cell(at)?.as_i64().ok();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.ok_or_else(|| wrong(at))
    };
    let name = |at| match text(at)? {
        name if name.len() <= LONGEST_NAME => Ok(name),
        _ => Err(wrong(at)),
    };
    let engine = text(Field::Engine)?;
    let plan = plans.iter().find(|plan| plan.name.engine.name() == engine);
    let plan = plan.ok_or_else(|| wrong(Field::Engine))?.name;
    let mut tally = Tally {
        partitions: whole(Field::Partitions)?,
        nodes: whole(Field::Nodes)?,
        r180: count(Field::R180)?,
        r90: count(Field::R90)?,
        ..Tally::default()
    };
    let weights = [
        Field::Weight1,
        Field::Weight2,
        Field::Weight4,
        Field::Weight8,
    ];
    for (at, weight) in weights.into_iter().zip([1, 2, 4, 8]) {
        tally.completions.add(weight, count(at)?);
    }
    if !is_possible(&tally) {
        return Err(wrong(Field::Weight1));
    }
    let origin = OriginColumns {
        backend: name(Field::Backend)?,
        device: name(Field::Device)?,
        worker: name(Field::Worker)?.to_owned(),
    };
    let audited_by = match cell(Field::AuditedBy)? {
        ValueRef::Null => None,
        _ => Some(name(Field::AuditedBy)?.to_owned().into()),
    };
    let duration = whole(Field::Duration)?;
    if duration > LONGEST {
        return Err(wrong(Field::Duration));
    }
    let result = TaskResult {
        key: TaskKey {
            n,
            engine: plan.engine,
            version: plan.version,
            index: whole(Field::Task)?,
        },
        tally,
        origin: origin.read().ok_or_else(|| wrong(Field::Backend))?,
        audited_by,
        duration: Duration::from_micros(duration),
    };
    let entry = Entry {
        result,
        session: name(Field::Session)?.to_owned(),
        recorded_at: row.get(from + Field::RecordedAt as usize)?,
    };
    Ok((entry, row.get(from + Field::Digest as usize)?))
}
