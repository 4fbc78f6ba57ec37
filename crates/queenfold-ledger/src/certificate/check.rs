//! Checks a certificate, which may come from a stranger: nothing in it is believed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use serde::Serialize;

use super::line::{
    CorrectionLine, Count, Head, LONGEST, Line, OriginLine, PARTITIONS, TaskLine, canonical,
    keys_of, results, tally_of,
};
use super::signing::is_signed;
use super::tree::Tree;
use crate::ledger::{Division, Parts, Shard, own_plan};
use queenfold::board::GivenBoard;
use queenfold::engine::{Engine, Method, Plan, Tally};
use queenfold::job::outcome;
use queenfold::outcome::{Contradiction, Outcome};

/// What is wrong with a certificate.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line is not what it must be.
    #[error("line {line}: {what}")]
    Defect {
        /// Its number, from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// Counts contradict each other.
    #[error("line {line}: {what}")]
    Counts {
        /// The number of the line, from 1.
        line: u64,
        /// Which counts.
        what: String,
    },
}

impl CheckError {
    pub(super) fn defect(line: u64, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::Defect { line, what }
    }
}

/// A certificate that is whole and free of contradictions.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// The board.
    #[serde(skip)]
    pub board: GivenBoard,
    /// The result; `None` if tasks of the run are missing.
    #[serde(skip)]
    pub outcome: Option<Outcome>,
    /// What it is of then.
    #[serde(skip)]
    pub part: Option<Part>,
    /// The plans.
    pub plans: Vec<String>,
    /// Tasks in it, of all plans.
    pub tasks: u64,
    /// Tasks with a second count.
    pub twice: u64,
    /// Of these: on another host than the first time, by its own name.
    pub on_other_host: u64,
    /// Of those with a second count: by another worker or device, or on another host.
    pub by_other_worker: u64,
    /// Of those with a second count: by another kernel.
    pub by_other_kernel: u64,
    /// Counts that were corrected.
    pub corrections: u64,
    /// Hosts that counted, by their own names.
    pub hosts: Vec<String>,
    /// The Merkle root, in hexadecimal.
    pub root: String,
    /// Good signatures.
    pub signatures: Vec<Signed>,
}

/// A shard, of which a certificate has some tasks or all. Nothing follows from it for the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The shard; [`Shard::WHOLE`] if the run is not divided.
    pub shard: Shard,
    /// The tasks of the shard.
    pub tasks: u64,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shard {
            Shard::WHOLE => f.write_str("a run that is not finished"),
            shard => write!(f, "shard {shard}"),
        }
    }
}

/// A good signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signed {
    /// Who signed, by its own name.
    pub host: String,
    /// The public key, in hexadecimal.
    pub key: String,
}

/// Reads a certificate to its end. It is good only if this returns `Ok`.
///
/// Memory does not grow with the number of tasks, except that of the names of hosts, at most
/// 65,536.
///
/// # Errors
/// The first defect.
pub fn check(input: impl BufRead) -> Result<Checked, CheckError> {
    check_with(input, |_, _| Ok(()))
}

/// [`check`], which gives each line above the root, in order, to `each` before the end is known to be good. `each` says what
/// else is wrong with it.
pub(super) fn check_with(
    mut input: impl BufRead,
    mut each: impl FnMut(&Body, &Line) -> Result<(), String>,
) -> Result<Checked, CheckError> {
    let mut number = 1;
    let defect = |line, what: &str| CheckError::defect(line, what);
    let Some((text, line)) = read(&mut input, number)? else {
        return Err(defect(1, "this is not the first line of a certificate"));
    };
    let mut tree = Tree::default();
    tree.push(text.as_bytes());
    let body = Body::new(&line).and_then(|body| each(&body, &line).map(|()| body));
    let mut body = body.map_err(|what| CheckError::defect(1, what))?;
    let root = loop {
        number += 1;
        let Some((text, line)) = read(&mut input, number)? else {
            return Err(defect(
                number,
                "the end is missing: the root of the certificate",
            ));
        };
        let added = match &line {
            Line::Root(line) => break line.root.clone(),
            Line::Origin(line) => body.origin(line),
            Line::Task(line) => body.task(line),
            Line::Correction(line) => body.correction(line),
            Line::Head(_) | Line::Signature(_) => {
                Err(Wrong::Line("this line is in the wrong place".to_owned()))
            }
        };
        let added = added.and_then(|()| each(&body, &line).map_err(Wrong::Line));
        added.map_err(|wrong| wrong.at(number))?;
        tree.push(text.as_bytes());
    };
    let own = tree.root();
    if root != own {
        let what =
            format!("the root of the lines above is {own}, and the certificate says {root:.64}");
        return Err(CheckError::defect(number, what));
    }
    let mut checked = body.finish(root).map_err(|wrong| wrong.at(number))?;
    loop {
        number += 1;
        match read(&mut input, number)? {
            None => return Ok(checked),
            Some((_, Line::Signature(line))) if checked.signatures.len() < MOST => {
                if !is_signed(&line, &checked.root) {
                    return Err(defect(
                        number,
                        "the signature is not one of this host and root by this key",
                    ));
                }
                let (host, key) = (line.host, line.key);
                checked.signatures.push(Signed { host, key });
            }
            Some(_) => {
                return Err(defect(
                    number,
                    "only signatures follow the root, at most 65,536",
                ));
            }
        }
    }
}

/// The most origins, and the most signatures.
const MOST: usize = 1 << 16;

/// The next line and its text; `None` at the end.
fn read(input: &mut impl BufRead, number: u64) -> Result<Option<(String, Line)>, CheckError> {
    let mut bytes = Vec::new();
    input.take(LONGEST).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let defect = |what| Err(CheckError::defect(number, what));
    if bytes.pop() != Some(b'\n') {
        return defect("it does not end, or is longer than 1,048,575 characters");
    }
    if !bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return defect("it holds a character that is not printable ASCII");
    }
    let text = String::from_utf8(bytes).unwrap_or_default();
    let Ok(line) = Line::parse(&text) else {
        return defect("this is no line of a certificate");
    };
    match canonical(&line) {
        Ok(again) if again == text => Ok(Some((text, line))),
        _ => defect("it is not written in the one way that a certificate is written"),
    }
}

/// What is wrong with a line: the line itself, or counts that contradict each other.
enum Wrong {
    Line(String),
    Counts(String),
}

impl From<Contradiction> for Wrong {
    fn from(error: Contradiction) -> Self {
        Self::Counts(error.to_string())
    }
}

impl Wrong {
    fn at(self, line: u64) -> CheckError {
        match self {
            Self::Line(what) => CheckError::Defect { line, what },
            Self::Counts(what) => CheckError::Counts { line, what },
        }
    }
}

fn contradicted<T>(what: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Counts(what.into()))
}

fn wrong<T>(what: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Line(what.into()))
}

/// What was read between the first line and the root.
pub(super) struct Body {
    pub head: Head,
    pub board: GivenBoard,
    /// The plans in the order of the file, with their partitions.
    plans: Vec<(Arc<dyn Plan>, Parts)>,
    /// The shard, and how tasks are dealt to it; of a whole run there is none.
    pub part: Option<(Part, Division)>,
    /// The next task: its plan, and its index.
    next: (usize, u64),
    /// Those that came.
    tasks: u64,
    sums: BTreeMap<Engine, Tally>,
    /// Host and worker, and kernel.
    origins: Vec<((String, String), String)>,
    hosts: Vec<String>,
    twice: u64,
    on_other_host: u64,
    by_other_worker: u64,
    by_other_kernel: u64,
    corrections: u64,
    /// The last task, and the last decision about it, if there is one.
    last: Option<TaskLine>,
    decided: Option<Count>,
    open: bool,
}

impl Body {
    fn new(line: &Line) -> Result<Self, String> {
        let Line::Head(head) = line else {
            return Err("this is not the first line of a certificate".to_owned());
        };
        if !matches!(head.certificate, 1..=3) {
            return Err(format!(
                "the format is {}, and this program reads 1 to 3",
                head.certificate
            ));
        }
        let Some(board) = head.board() else {
            return Err(
                "format 1 is of free boards, format 2 names what is given, in the order of rows, and format 3 names a shard"
                    .to_owned(),
            );
        };
        let plans = head.plans.iter();
        let plans = plans.map(|(name, tasks)| own_plan(board, name, *tasks));
        let plans: Vec<_> = plans.collect::<Result<_, _>>()?;
        let counting = plans.iter().filter(|(plan, _)| plan.engine().counts_all());
        if counting.count() != 1 || plans.len() > 2 {
            return Err(
                "a run has one plan that counts all solutions, and at most the census besides"
                    .to_owned(),
            );
        }
        let dealt: Vec<_> = plans.iter().map(|(plan, _)| Arc::clone(plan)).collect();
        let part = match &head.shard {
            None => None,
            Some(text) => {
                let shard = Shard::from_record(text).map_err(|error| error.to_string())?;
                let division = Division::new(shard, &dealt);
                let tasks = dealt.iter().map(|plan| {
                    let own = (0..plan.tasks()).map(|index| plan.key(index));
                    own.filter(|task| division.holds(shard, *task)).count() as u64
                });
                let tasks = tasks.sum();
                Some((Part { shard, tasks }, division))
            }
        };
        if head.recorded.is_some() != part.is_some() || head.recorded == Some(0) {
            return Err("a shard, and nothing else, tells how many tasks are recorded".to_owned());
        }
        Ok(Self {
            sums: plans
                .iter()
                .map(|(plan, _)| (plan.engine(), Tally::default()))
                .collect(),
            head: head.clone(),
            board,
            plans,
            part,
            next: (0, 0),
            tasks: 0,
            origins: Vec::new(),
            hosts: Vec::new(),
            twice: 0,
            on_other_host: 0,
            by_other_worker: 0,
            by_other_kernel: 0,
            corrections: 0,
            last: None,
            decided: None,
            open: false,
        })
    }

    fn origin(&mut self, line: &OriginLine) -> Result<(), Wrong> {
        let (number, host) = (line.origin, &line.host);
        if number != self.origins.len() as u64 || number >= MOST as u64 {
            return wrong("origins are numbered from 0, one after the other, up to 65,535");
        }
        let worker = (host.clone(), line.worker.clone());
        self.origins.push((worker, line.backend.clone()));
        if !self.hosts.contains(host) {
            self.hosts.push(host.clone());
        }
        Ok(())
    }

    /// The plan of this name.
    pub fn plan(&self, name: &str) -> Option<&Arc<dyn Plan>> {
        let mut named = self.head.plans.keys().zip(&self.plans);
        let found = named.find(|(own, _)| *own == name);
        found.map(|(_, (plan, _))| plan)
    }

    /// The plans, the counting one first.
    pub fn plans(&self) -> Vec<Arc<dyn Plan>> {
        let mut plans: Vec<_> = self
            .plans
            .iter()
            .map(|(plan, _)| Arc::clone(plan))
            .collect();
        plans.sort_by_key(|plan| !plan.engine().counts_all());
        plans
    }

    /// The place of a task, if it may come here: of a whole run the next one, of a shard any one further on.
    fn place(&self, line: &TaskLine) -> Option<(usize, u64)> {
        let at = self.head.plans.keys().position(|name| *name == line.plan)?;
        let (plan, _) = &self.plans[at];
        let place = (at, line.task);
        let may_come = match &self.part {
            None => place == self.next,
            Some((part, division)) => {
                let is_task = place >= self.next && line.task < plan.tasks();
                is_task && division.holds(part.shard, plan.key(line.task))
            }
        };
        may_come.then_some(place)
    }

    fn task(&mut self, line: &TaskLine) -> Result<(), Wrong> {
        self.close()?;
        let Some((plan, _)) = self.plans.get(self.next.0) else {
            return wrong("there are more tasks than the plans have");
        };
        let Some((at, index)) = self.place(line) else {
            let next = format!("task {} of {}", self.next.1, plan.name());
            return wrong(match &self.part {
                None => format!("{next} must come here"),
                Some((part, _)) => format!("a task of {part} must come here, from {next} on"),
            });
        };
        let (plan, parts) = &self.plans[at];
        let plan = Arc::clone(plan);
        if line.parts != parts.of(plan.ranks_of(index)) {
            return wrong(format!(
                "the partitions of task {index} of {} are others, or have other weights",
                plan.name()
            ));
        }
        let keys = keys_of(&line.parts, self.part.is_none());
        if !line.tally.keys().eq(&keys) {
            return wrong("the tally does not have the keys of the partitions");
        }
        let tally = self.tally(plan.engine(), &line.tally, line.origin)?;
        if let Some(again) = &line.again {
            let second = self.tally(plan.engine(), &again.tally, again.origin)?;
            if second != tally || again.tally != line.tally {
                return contradicted("the second count differs from the first");
            }
            self.twice += 1;
            let by = |origin: u64| &self.origins[origin as usize];
            let ((worker, kernel), (other_worker, other_kernel)) =
                (by(line.origin), by(again.origin));
            self.on_other_host += u64::from(worker.0 != other_worker.0);
            self.by_other_worker += u64::from(worker != other_worker);
            self.by_other_kernel += u64::from(kernel != other_kernel);
        }
        *self.sums.entry(plan.engine()).or_default() += tally;
        self.tasks += 1;
        self.last = Some(line.clone());
        self.next = if index + 1 < plan.tasks() {
            (at, index + 1)
        } else {
            (at + 1, 0)
        };
        Ok(())
    }

    fn tally(
        &self,
        engine: Engine,
        counts: &BTreeMap<String, String>,
        origin: u64,
    ) -> Result<Tally, Wrong> {
        if origin >= self.origins.len() as u64 {
            return wrong("its origin is not described above");
        }
        let fits = counts.contains_key(PARTITIONS) == self.part.is_some();
        match tally_of(engine, counts).filter(|_| fits) {
            Some(tally) => Ok(tally),
            None => wrong(
                "it has a count that is no decimal number below 2^80 of a weight or turn of this plan",
            ),
        }
    }

    fn correction(&mut self, line: &CorrectionLine) -> Result<(), Wrong> {
        let last = self.last.as_ref();
        let is_last = last.is_some_and(|task| (&task.plan, task.task) == (&line.plan, line.task));
        let Some(plan) = self.plan(&line.plan).filter(|_| is_last) else {
            return wrong("a correction must follow its task");
        };
        let engine = plan.engine();
        if line.correction != self.corrections {
            return wrong("corrections are numbered from 0, one after the other");
        }
        for count in &line.counts {
            self.tally(engine, &count.tally, count.origin)?;
        }
        if line.counts.len() < 2 {
            return wrong("a correction has two counts or more");
        }
        let decided = line
            .decision
            .map(|at| usize::try_from(at).ok().and_then(|at| line.counts.get(at)));
        let methods = [Method::SameKernel, Method::OtherKernel, Method::Oracle];
        let is_method = |text: &String| methods.iter().any(|method| method.to_string() == *text);
        if decided == Some(None)
            || decided.is_some() != line.method.is_some()
            || !line.method.iter().all(is_method)
        {
            return wrong("the decision is one of the counts, and has a method");
        }
        self.corrections += 1;
        self.open = decided.is_none();
        self.decided = decided.flatten().cloned();
        Ok(())
    }

    /// The last correction of the last task must decide for what is recorded.
    fn close(&mut self) -> Result<(), Wrong> {
        let decided = self.decided.take();
        if std::mem::take(&mut self.open) {
            return contradicted(
                "the task above was counted with different results, and nothing was decided",
            );
        }
        match (decided, &self.last) {
            (Some(count), Some(task)) if count.tally != task.tally => {
                contradicted("the tally of the task above is not the one that was decided for")
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self, root: String) -> Result<Checked, Wrong> {
        self.close()?;
        let missing = self.plans.get(self.next.0);
        if let Some((plan, _)) = missing.filter(|_| self.part.is_none()) {
            return wrong(format!(
                "tasks are missing, from task {} of {} on",
                self.next.1,
                plan.name()
            ));
        }
        if self.head.recorded.unwrap_or(self.tasks) != self.tasks {
            return wrong(format!(
                "there are {} tasks, and the first line says another number",
                self.tasks
            ));
        }
        let Some((counting, _)) = self
            .plans
            .iter()
            .find(|(plan, _)| plan.engine().counts_all())
        else {
            return wrong("there is no plan that counts all solutions");
        };
        let outcome = match self.part {
            None => Some(outcome(counting.as_ref(), |engine| self.sums.get(&engine))?),
            Some(_) => None,
        };
        let head = &self.head;
        let said = [&head.total, &head.unique, &head.r180, &head.r90];
        for (said, (what, found)) in said.into_iter().zip(results(outcome.as_ref())) {
            if *said != found {
                let [said, found] = [said, &found].map(|text| text.as_deref().unwrap_or("none"));
                return contradicted(format!(
                    "the tasks add up to {what} {found}, and the first line says {said:.64}"
                ));
            }
        }
        if (head.twice, head.corrections) != (self.twice, self.corrections) {
            return wrong(format!(
                "{} tasks have a second count and {} counts were corrected; the first line says {} and {}",
                self.twice, self.corrections, head.twice, head.corrections
            ));
        }
        Ok(Checked {
            board: self.board,
            outcome,
            part: self.part.map(|(part, _)| part),
            plans: head.plans.keys().cloned().collect(),
            tasks: self.tasks,
            twice: self.twice,
            on_other_host: self.on_other_host,
            by_other_worker: self.by_other_worker,
            by_other_kernel: self.by_other_kernel,
            corrections: self.corrections,
            hosts: self.hosts,
            root,
            signatures: Vec::new(),
        })
    }
}
