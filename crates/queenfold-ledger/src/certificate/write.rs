//! Writes the certificate of a run, or of what there is of a shard, task by task.

use std::collections::HashMap;
use std::io::{self, Write};
use std::iter::Peekable;
use std::slice;

use serde::Serialize;

use super::line::{
    CorrectionLine, Count, Head, LONGEST, OriginLine, RootLine, TaskLine, canonical, counts_of,
    format, keys_of, results,
};
use super::signing::HostKey;
use super::tree::Tree;
use crate::ledger::{
    self, Division, Entry, LedgerError, LoggedCorrection, OriginColumns, Parts, RecordedTask,
    Sessions, Store,
};
use queenfold::engine::{Origin, Plan};
use queenfold::job::outcome;

/// No certificate can say this.
fn unfit(what: impl Into<String>) -> LedgerError {
    LedgerError::Other(what.into())
}

fn unwritten(error: io::Error) -> LedgerError {
    unfit(format!("the certificate cannot be written: {error}"))
}

/// Writes the certificate of the run in `store`, and signs it by `keys`. If tasks are missing, it is that of its shard,
/// with those tasks of it that are there, and without a total. Takes memory for the
/// sessions and workers, not for the tasks. Returns the Merkle root.
///
/// # Errors
/// The ledger cannot be read, contradicts itself, or holds what no certificate can say; the certificate cannot be written.
/// What was written until then is of no use.
pub fn certify(store: &Store, keys: &[HostKey], out: impl Write) -> Result<String, LedgerError> {
    let (info, plans) = (store.info(), store.plans()?);
    // Every pass reads the same moment: another process may write meanwhile.
    let _moment = store.moment()?;
    let sessions = Sessions::of(store.sessions()?);
    let division = Division::new(info.shard, &plans);
    let is_of_shard = |task| division.holds(info.shard, task);
    let (mut recorded, mut twice, mut all_twice) = (0, 0, 0);
    let sums = store.sums_and(|task| {
        let again = u64::from(task.second.is_some());
        all_twice += again;
        if is_of_shard(task.record.result.key) {
            recorded += 1;
            twice += again;
        }
    })?;
    let is_whole = sums.coverage.is_whole();
    let is_own = |task| is_whole || is_of_shard(task);
    let Some(counting) = plans.iter().find(|plan| plan.engine().counts_all()) else {
        return Err(unfit("a run of the census alone has no total to certify"));
    };
    store.check_decided()?;
    if recorded == 0 && !is_whole {
        return Err(unfit("no task is recorded, so there is nothing to certify"));
    }
    let mut corrections = store.corrections()?;
    corrections.retain(|logged| is_own(logged.task()));
    let result = is_whole.then(|| outcome(counting.as_ref(), |engine| sums.tallies.get(&engine)));
    let result = result.transpose()?;
    let [total, unique, r180, r90] = results(result.as_ref()).map(|(_, count)| count);
    let (certificate, [queens, holes]) = format(&info.board, is_whole);
    let head = Head {
        certificate,
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
        total,
        unique,
        r180,
        r90,
        twice: if is_whole { all_twice } else { twice },
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
    store.walk(true, |task| {
        let key = task.record.result.key;
        if !is_own(key) {
            return Ok(());
        }
        let named = store.parts().get(&key.engine);
        let (plan, parts) =
            named.ok_or_else(|| unfit(format!("task {key} is of an unknown plan")))?;
        writer.task(&task, plan.as_ref(), parts)
    })?;
    let root = writer.tree.root();
    writer.line(&RootLine { root: root.clone() })?;
    for key in keys {
        writer.line(&key.sign(&root))?;
    }
    writer.out.flush().map_err(unwritten)?;
    Ok(root)
}

struct Writer<'a, W> {
    out: W,
    is_whole: bool,
    tree: Tree,
    sessions: Sessions,
    /// The number of each origin, with its session.
    origins: HashMap<(String, Origin), u64>,
    /// The corrections that are not written yet, in the order of tasks.
    corrections: Peekable<slice::Iter<'a, LoggedCorrection>>,
    /// The number of those that are.
    corrected: u64,
}

impl<W: Write> Writer<'_, W> {
    /// Writes a line, and gives it back.
    fn line(&mut self, value: &impl Serialize) -> Result<String, LedgerError> {
        let line = canonical(value).map_err(|error| unwritten(error.into()))?;
        if line.len() as u64 >= LONGEST {
            let what = format!(
                "a line of the certificate would have {} characters, and the most is {}: too many partitions in a task, \
                 or too long a name in the ledger: {line:.60}…",
                line.len(),
                LONGEST - 1
            );
            return Err(unfit(what));
        }
        writeln!(self.out, "{line}").map_err(unwritten)?;
        Ok(line)
    }

    fn leaf(&mut self, value: &impl Serialize) -> Result<(), LedgerError> {
        let line = self.line(value)?;
        self.tree.push(line.as_bytes());
        Ok(())
    }

    /// Writes a task and its corrections.
    fn task(
        &mut self,
        task: &RecordedTask,
        plan: &dyn Plan,
        parts: &Parts,
    ) -> Result<(), LedgerError> {
        let result = &task.record.result;
        let parts = parts.of(plan.ranks_of(result.key.index));
        let keys = keys_of(&parts, self.is_whole);
        let Count { tally, origin } = self.count(&task.record, &keys)?;
        let again = task.second.as_ref();
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

    fn count(&mut self, entry: &Entry, keys: &[String]) -> Result<Count, LedgerError> {
        Ok(Count {
            tally: counts_of(&entry.result.tally, keys),
            origin: self.origin(entry)?,
        })
    }

    /// The number of the origin of an entry, which is described first if it is new.
    fn origin(&mut self, entry: &Entry) -> Result<u64, LedgerError> {
        let origin = &entry.result.origin;
        let key = (entry.session.clone(), origin.clone());
        if let Some(&number) = self.origins.get(&key) {
            return Ok(number);
        }
        let number = self.origins.len() as u64;
        let session = self.sessions.get(&entry.session);
        let facts = session
            .map(|session| session.facts.clone())
            .unwrap_or_default();
        let columns = OriginColumns::of(origin);
        self.leaf(&OriginLine {
            origin: number,
            session: entry.session.clone(),
            host: facts.host,
            processor: facts.processor,
            program: facts.program,
            backend: columns.backend.to_owned(),
            device: columns.device.to_owned(),
            worker: columns.worker,
        })?;
        self.origins.insert(key, number);
        Ok(number)
    }
}
