//! A correction as text: the JSON in the table `correction`.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ledger::database::origin_columns::OriginColumns;
use crate::ledger::{Entry, row};
use queenfold::engine::{Correction, Decision, Method, Tally, TaskKey, TaskResult};

/// The results of a correction, without their task.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CorrectionText<'a> {
    recorded: CountText<'a>,
    others: Vec<CountText<'a>>,
    decision: Option<DecisionText<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionText<'a> {
    method: Method,
    result: CountText<'a>,
}

/// A result with its session, in the words of the columns of a record.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CountText<'a> {
    tally: Tally,
    backend: Cow<'a, str>,
    device: Cow<'a, str>,
    worker: Cow<'a, str>,
    audited_by: Option<Cow<'a, str>>,
    session: Cow<'a, str>,
    duration_us: u64,
    recorded_at: i64,
}

impl<'a> CountText<'a> {
    fn of(entry: &'a Entry) -> Self {
        let result = &entry.result;
        let origin = OriginColumns::of(&result.origin);
        let audited_by = result.audited_by.as_deref();
        Self {
            tally: result.tally,
            backend: origin.backend.into(),
            device: origin.device.into(),
            worker: origin.worker.into(),
            audited_by: audited_by.map(Cow::Borrowed),
            session: entry.session.as_str().into(),
            duration_us: entry.microseconds(),
            recorded_at: entry.recorded_at,
        }
    }

    /// The entry of `key` that it was made of; `None` if no run records such a one.
    fn entry(self, key: TaskKey) -> Option<Entry> {
        let origin = OriginColumns {
            backend: &self.backend,
            device: &self.device,
            worker: self.worker.into_owned(),
        };
        let result = TaskResult {
            key,
            tally: self.tally,
            origin: origin.read()?,
            audited_by: self.audited_by.map(|name| name.into_owned().into()),
            duration: Duration::from_micros(self.duration_us),
        };
        let entry = Entry {
            result,
            session: self.session.into_owned(),
            recorded_at: self.recorded_at,
        };
        row::is_plausible(&entry).then_some(entry)
    }
}

impl<'a> CorrectionText<'a> {
    pub(crate) fn of(correction: &'a Correction<Entry>) -> Self {
        let decision = correction.decision.as_ref();
        Self {
            recorded: CountText::of(&correction.recorded),
            others: correction.others.iter().map(CountText::of).collect(),
            decision: decision.map(|decision| DecisionText {
                method: decision.method,
                result: CountText::of(&decision.result),
            }),
        }
    }

    /// The correction of the task `key` that it was made of; `None` if no run makes such a one.
    pub(crate) fn correction(self, key: TaskKey) -> Option<Correction<Entry>> {
        let others = self.others.into_iter().map(|other| other.entry(key));
        let decision = match self.decision {
            None => None,
            Some(DecisionText { method, result }) => Some(Decision {
                method,
                result: result.entry(key)?,
            }),
        };
        let correction = Correction {
            recorded: self.recorded.entry(key)?,
            others: others.collect::<Option<_>>()?,
            decision,
        };
        let recorded = &correction.recorded.result.tally;
        let differs = |entry: &Entry| !entry.result.tally.agrees_with(recorded);
        let differ = correction.results().any(differs);
        differ.then_some(correction)
    }
}
