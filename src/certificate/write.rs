//! Writes the certificate of a run, or of what there is of a shard, task by task.

use std::collections::HashMap;
use std::io::{self, Write};
use std::iter::Peekable;
use std::slice;
use std::sync::Arc;

use super::line::{
    CorrectionLine, Count, Head, LONGEST, OriginLine, RootLine, TaskLine, canonical, counts_of,
    format, keys_of,
};
use super::signing::HostKey;
use super::tree::Tree;
use crate::engine::{CountedBy, Engine, Plan};
use crate::job::outcome;
use crate::ledger::{
    self, Division, Entry, LedgerError, LoggedCorrection, Parts, RecordedTask, Sessions, Store,
};
use crate::outcome::Contradiction;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertifyError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The counts contradict each other or a known count.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// The certificate cannot be written.
    #[error("the certificate cannot be written: {0}")]
    Output(#[from] io::Error),
    /// No certificate can say this.
    #[error("{0}")]
    Unfit(String),
}

/// Writes the certificate of the run in `store`, and signs it by `keys`. If tasks are missing, it is that of its shard,
/// with those tasks of it that are there, and without a total. Takes memory for the
/// sessions and workers, not for the tasks. Returns the Merkle root.
///
/// # Errors
/// See [`CertifyError`]. What was written until then is of no use.
pub fn certify(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    keys: &[HostKey],
    out: impl Write,
) -> Result<String, CertifyError> {
    let info = store.info();
    if plans.len() != info.plans.len() {
        return Err(CertifyError::Unfit(
            "certificates are of boards counted by the engines of this program".to_owned(),
        ));
    }
    // Every pass reads the same moment: another process may write meanwhile.
    let _moment = store.moment()?;
    let sums = store.sums()?;
    let is_whole = sums.coverage.is_whole();
    let division = (!is_whole).then(|| Division::new(info.shard, plans));
    let is_own = |task| {
        let division = division.as_ref();
        division.is_none_or(|division| division.holds(info.shard, task))
    };
    let Some(counting) = plans.iter().find(|plan| plan.engine().counts_all()) else {
        return Err(CertifyError::Unfit(
            "a run of the census alone has no total to certify".to_owned(),
        ));
    };
    store.check_decided(&sums)?;
    let sessions = Sessions::of(store.sessions()?);
    let (mut recorded, mut twice) = (0, 0);
    store.for_each_task(|task| {
        if is_own(task.record.result.key) {
            recorded += 1;
            twice += u64::from(sessions.told(&task).is_some());
        }
    })?;
    if recorded == 0 {
        return Err(CertifyError::Unfit(
            "no task is recorded, so there is nothing to certify".to_owned(),
        ));
    }
    let mut corrections = store.corrections()?;
    corrections.retain(|logged| is_own(logged.task()));
    let result = match is_whole {
        true => Some(outcome(counting.as_ref(), |engine| {
            sums.tallies.get(&engine)
        })?),
        false => None,
    };
    let symmetric = result.as_ref().and_then(|result| result.symmetric);
    let given = (!info.board.is_free()).then(|| info.board.names());
    let [queens, holes] = given.map_or([None, None], |names| names.map(Some));
    let head = Head {
        certificate: format(&info.board, is_whole),
        program: ledger::program(),
        n: info.n(),
        queens,
        holes,
        plans: plans
            .iter()
            .map(|plan| (plan.name().to_string(), plan.tasks()))
            .collect(),
        shard: (!is_whole).then(|| info.shard.record()),
        recorded: (!is_whole).then_some(recorded),
        total: result.as_ref().map(|result| result.total.to_string()),
        unique: result
            .as_ref()
            .and_then(|result| Some(result.unique()?.to_string())),
        r180: symmetric.map(|counts| counts.r180.to_string()),
        r90: symmetric.map(|counts| counts.r90.to_string()),
        twice,
        corrections: corrections.len() as u64,
    };
    let mut writer = Writer {
        out,
        is_whole,
        tree: Tree::default(),
        sessions,
        origins: HashMap::new(),
        corrections: corrections.iter().peekable(),
        corrected: 0,
    };
    writer.leaf(&head)?;
    let named: HashMap<Engine, (&dyn Plan, Parts)> = plans
        .iter()
        .filter_map(|plan| {
            let parts = Parts::new(plan.engine(), info.board)?;
            Some((plan.engine(), (plan.as_ref(), parts)))
        })
        .collect();
    store.try_for_each(|task| {
        let key = task.record.result.key;
        if !is_own(key) {
            return Ok(());
        }
        let Some((plan, parts)) = named.get(&key.engine) else {
            return Err(CertifyError::Unfit(format!(
                "task {key} is of an unknown plan"
            )));
        };
        writer.task(&task, *plan, parts)
    })?;
    let root = writer.tree.root();
    writer.line(&canonical(&RootLine { root: root.clone() }).map_err(io::Error::from)?)?;
    for key in keys {
        writer.line(&canonical(&key.sign(&root)).map_err(io::Error::from)?)?;
    }
    writer.out.flush()?;
    Ok(root)
}

struct Writer<'a, W> {
    out: W,
    is_whole: bool,
    tree: Tree,
    sessions: Sessions,
    /// The number of each origin: session, worker, and what counted.
    origins: HashMap<(String, String, CountedBy), u64>,
    /// The corrections that are not written yet, in the order of tasks.
    corrections: Peekable<slice::Iter<'a, LoggedCorrection>>,
    /// The number of those that are.
    corrected: u64,
}

impl<W: Write> Writer<'_, W> {
    fn line(&mut self, line: &str) -> Result<(), CertifyError> {
        if line.len() as u64 >= LONGEST {
            let what = format!(
                "a line of the certificate would have {} characters, and the most is {}: too many partitions in a task, \
                 or too long a name in the ledger: {line:.60}…",
                line.len(),
                LONGEST - 1
            );
            return Err(CertifyError::Unfit(what));
        }
        Ok(writeln!(self.out, "{line}")?)
    }

    fn leaf(&mut self, value: &impl serde::Serialize) -> Result<(), CertifyError> {
        let line = canonical(value).map_err(io::Error::from)?;
        self.tree.push(line.as_bytes());
        self.line(&line)
    }

    /// Writes a task and its corrections.
    fn task(
        &mut self,
        task: &RecordedTask,
        plan: &dyn Plan,
        parts: &Parts,
    ) -> Result<(), CertifyError> {
        let result = &task.record.result;
        let parts = parts.of(plan.ranks_of(result.key.index));
        let keys = keys_of(&parts, self.is_whole);
        let Count { tally, origin } = self.count(&task.record, &keys)?;
        let again = self.sessions.told(task);
        let again = again.map(|second| self.count(second, &keys)).transpose()?;
        let plan = plan.name().to_string();
        self.leaf(&TaskLine {
            task: result.key.index,
            plan: plan.clone(),
            parts,
            tally,
            origin,
            again,
        })?;
        while let Some(LoggedCorrection { correction, .. }) = self
            .corrections
            .next_if(|logged| logged.task() == result.key)
        {
            let counts = correction.results().map(|entry| self.count(entry, &keys));
            let counts: Vec<Count> = counts.collect::<Result<_, _>>()?;
            let decision = correction.decision.as_ref();
            self.leaf(&CorrectionLine {
                correction: self.corrected,
                task: result.key.index,
                plan: plan.clone(),
                // The deciding count is the last.
                decision: decision.map(|_| counts.len() as u64 - 1),
                method: decision.map(|decision| decision.method.to_string()),
                counts,
            })?;
            self.corrected += 1;
        }
        Ok(())
    }

    fn count(&mut self, entry: &Entry, keys: &[String]) -> Result<Count, CertifyError> {
        Ok(Count {
            tally: counts_of(&entry.result.tally, keys),
            origin: self.origin(entry)?,
        })
    }

    /// The number of the origin of an entry, which is described first if it is new.
    fn origin(&mut self, entry: &Entry) -> Result<u64, CertifyError> {
        let origin = &entry.result.origin;
        let key = (
            entry.session.clone(),
            origin.worker.to_string(),
            origin.counted_by.clone(),
        );
        if let Some(&number) = self.origins.get(&key) {
            return Ok(number);
        }
        let number = self.origins.len() as u64;
        let facts = self
            .sessions
            .get(entry.session.as_str())
            .map(|session| &session.facts);
        let text = |of: fn(&ledger::Facts) -> &String| facts.map(of).cloned().unwrap_or_default();
        self.leaf(&OriginLine {
            origin: number,
            session: entry.session.clone(),
            host: text(|facts| &facts.host),
            processor: text(|facts| &facts.processor),
            program: text(|facts| &facts.program),
            worker: key.1.clone(),
            backend: origin.counted_by.backend().to_owned(),
            device: match &origin.counted_by {
                CountedBy::Cpu(_) => "cpu".to_owned(),
                CountedBy::Device(device) => device.name.clone(),
            },
        })?;
        self.origins.insert(key, number);
        Ok(number)
    }
}
