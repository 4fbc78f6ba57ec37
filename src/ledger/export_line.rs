//! A line of the exported log.

use std::io::{self, Write};

use serde::Serialize;

use super::correction_text::CorrectionText;
use super::digest::Digest;
use super::origin_columns::OriginColumns;
use super::{Column, Entry, LoggedCorrection};
use crate::board::Size;
use crate::engine::{Engine, KernelName, Plan, PlanName, Tally};
use crate::telemetry::printable_json;

/// An entry with the ranks of its task. Its names and times lie beside each other; only completions by
/// weight are an object of their own.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    n: Size,
    /// What is given on the board, if anything is.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<String>,
    plan: PlanName,
    engine: Engine,
    task: u64,
    ranks: [u64; 2],
    #[serde(flatten)]
    tally: Tally,
    backend: &'a str,
    device: &'a str,
    worker: String,
    audited_by: Option<&'a str>,
    session: &'a str,
    seconds: f64,
    recorded_at: i64,
    blake3: String,
}

impl<'a> Line<'a> {
    /// The line of `entry` in `column`, whose task is of `plan`, in the run with the key `run`.
    pub(super) fn of(entry: &'a Entry, column: Column, plan: &dyn Plan, run: &Digest) -> Self {
        let result = &entry.result;
        let ranks = plan.ranks_of(result.key.index);
        let given = plan.given();
        let origin = OriginColumns::of(&result.origin);
        Self {
            n: result.key.n,
            given: (!given.is_free()).then(|| given.to_string()),
            plan: plan.name(),
            engine: result.key.engine,
            task: result.key.index,
            ranks: [ranks.start, ranks.end],
            tally: result.tally,
            backend: origin.backend,
            device: origin.device,
            worker: origin.worker,
            audited_by: result.audited_by.as_ref().map(KernelName::as_str),
            session: &entry.session,
            seconds: result.duration.as_secs_f64(),
            recorded_at: entry.recorded_at,
            blake3: entry.digest(column, run).to_string(),
        }
    }
}

/// A line of the exported log.
#[derive(Serialize)]
#[serde(transparent)]
pub struct ExportLine<'a>(Content<'a>);

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Record(Line<'a>),
    /// It follows the line of its record.
    Second {
        second: Line<'a>,
    },
    /// All of them follow the last record.
    Correction {
        correction: Box<LoggedText<'a>>,
    },
    /// The last line.
    Signature {
        signature: String,
    },
}

#[derive(Serialize)]
struct LoggedText<'a> {
    n: Size,
    plan: PlanName,
    engine: Engine,
    task: u64,
    number: u64,
    results: CorrectionText<'a>,
    session: &'a str,
    recorded_at: i64,
    blake3: String,
}

impl<'a> ExportLine<'a> {
    pub(super) const fn record(record: Line<'a>) -> Self {
        Self(Content::Record(record))
    }

    pub(super) const fn second(second: Line<'a>) -> Self {
        Self(Content::Second { second })
    }

    /// The line of a correction, whose task is of `plan`, in the run with the key `run`.
    pub(super) fn correction(logged: &'a LoggedCorrection, plan: PlanName, run: &Digest) -> Self {
        let task = logged.task();
        let correction = LoggedText {
            n: task.n,
            plan,
            engine: task.engine,
            task: task.index,
            number: logged.number,
            results: CorrectionText::of(&logged.correction),
            session: &logged.session,
            recorded_at: logged.recorded_at,
            blake3: logged.digest(run).to_string(),
        };
        Self(Content::Correction {
            correction: Box::new(correction),
        })
    }

    pub(super) fn signature(signature: &Digest) -> Self {
        let signature = signature.to_string();
        Self(Content::Signature { signature })
    }

    /// Writes it as JSON, on one line.
    ///
    /// # Errors
    /// `out` fails.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let line = serde_json::to_string(self)?;
        writeln!(out, "{}", printable_json(&line))
    }

    /// Whether it is a record, or the second count of one.
    pub const fn is_count(&self) -> bool {
        matches!(self.0, Content::Record(_) | Content::Second { .. })
    }
}
