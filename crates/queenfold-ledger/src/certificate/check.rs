//! Checks a certificate, which may come from a stranger: nothing in it is believed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use serde::Serialize;

use super::line::{
    CorrectionLine, Counts, Head, LONGEST, Line, OriginLine, PARTITIONS, TaskLine, canonical,
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
    #[error("{0}")]
    Line(String),
    /// Counts contradict each other.
    #[error("{0}")]
    Counts(String),
}

impl From<String> for CheckError {
    fn from(what: String) -> Self {
        Self::Line(what)
    }
}

impl From<Contradiction> for CheckError {
    fn from(error: Contradiction) -> Self {
        Self::Counts(error.to_string())
    }
}

impl CheckError {
    /// With the number of the line, from 1.
    pub(super) fn at(self, line: u64) -> Self {
        match self {
            Self::Io(_) => self,
            Self::Line(what) => Self::Line(format!("line {line}: {what}")),
            Self::Counts(what) => Self::Counts(format!("line {line}: {what}")),
        }
    }
}

fn contradicted<T>(what: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError::Counts(what.into()))
}

pub(super) fn wrong<T>(what: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError::Line(what.into()))
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
    input: impl BufRead,
    each: impl FnMut(&Body, &Line) -> Result<(), String>,
) -> Result<Checked, CheckError> {
    let mut lines = Lines { input, number: 0 };
    check_lines(&mut lines, each).map_err(|wrong| wrong.at(lines.number))
}

fn check_lines(
    lines: &mut Lines<impl BufRead>,
    mut each: impl FnMut(&Body, &Line) -> Result<(), String>,
) -> Result<Checked, CheckError> {
    let Some((text, line)) = lines.next()? else {
        return wrong("this is not the first line of a certificate");
    };
    let mut tree = Tree::default();
    tree.push(text.as_bytes());
    let mut body = Body::new(&line)?;
    each(&body, &line)?;
    let root = loop {
        let Some((text, line)) = lines.next()? else {
            return wrong("the end is missing: the root of the certificate");
        };
        match &line {
            Line::Root(line) => break line.root.clone(),
            Line::Origin(line) => body.origin(line)?,
            Line::Task(line) => body.task(line)?,
            Line::Correction(line) => body.correction(line)?,
            Line::Head(_) | Line::Signature(_) => return wrong("this line is in the wrong place"),
        }
        each(&body, &line)?;
        tree.push(text.as_bytes());
    };
    let own = tree.root();
    if root != own {
        return wrong(format!(
            "the root of the lines above is {own}, and the certificate says {root:.64}"
        ));
    }
    let mut checked = body.finish()?;
    checked.root = root;
    while let Some((_, line)) = lines.next()? {
        let Line::Signature(line) = line else {
            return wrong(ONLY_SIGNATURES);
        };
        if checked.signatures.len() == MOST {
            return wrong(ONLY_SIGNATURES);
        }
        if !is_signed(&line, &checked.root) {
            return wrong("the signature is not one of this host and root by this key");
        }
        let (host, key) = (line.host, line.key);
        checked.signatures.push(Signed { host, key });
    }
    Ok(checked)
}

/// The most origins, and the most signatures.
const MOST: usize = 1 << 16;

const ONLY_SIGNATURES: &str = "only signatures follow the root, at most 65,536";

/// The lines of a file.
struct Lines<R> {
    input: R,
    /// The number of the one that was read last, from 1.
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// The next line and its text; `None` at the end.
    fn next(&mut self) -> Result<Option<(String, Line)>, CheckError> {
        self.number += 1;
        let mut bytes = Vec::new();
        let mut input = (&mut self.input).take(LONGEST);
        input.read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.pop() != Some(b'\n') {
            return wrong("it does not end, or is longer than 1,048,575 characters");
        }
        if !bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
            return wrong("it holds a character that is not printable ASCII");
        }
        let text = String::from_utf8(bytes).unwrap_or_default();
        let Ok(line) = serde_json::from_str::<Line>(&text) else {
            return wrong("this is no line of a certificate");
        };
        match canonical(&line) {
            Ok(again) if again == text => Ok(Some((text, line))),
            _ => wrong("it is not written in the one way that a certificate is written"),
        }
    }
}

/// What was read between the first line and the root.
pub(super) struct Body {
    pub head: Head,
    /// What was found so far.
    pub checked: Checked,
    /// The plans in the order of the file, with their partitions.
    plans: Vec<(Arc<dyn Plan>, Parts)>,
    /// How tasks are dealt to the shard, if it is one.
    division: Division,
    /// The next task: its plan, and its index.
    next: (usize, u64),
    sums: BTreeMap<Engine, Tally>,
    origins: Vec<OriginLine>,
    /// The last task.
    last: Option<TaskLine>,
    /// The counts that its last correction decided for, or none; `None` if it has no correction.
    decided: Option<Option<Counts>>,
}

impl Body {
    fn new(line: &Line) -> Result<Self, CheckError> {
        let Line::Head(head) = line else {
            return wrong("this is not the first line of a certificate");
        };
        if !matches!(head.certificate, 1..=3) {
            return wrong(format!(
                "the format is {}, and this program reads 1 to 3",
                head.certificate
            ));
        }
        let Some(board) = head.board() else {
            return wrong(
                "format 1 is of free boards, format 2 names what is given, in the order of rows, and format 3 names a shard",
            );
        };
        let plans = head.plans.iter();
        let plans = plans.map(|(name, tasks)| own_plan(board, name, *tasks));
        let plans: Vec<_> = plans.collect::<Result<_, _>>()?;
        let counting = plans.iter().filter(|(plan, _)| plan.engine().counts_all());
        if counting.count() != 1 || plans.len() > 2 {
            return wrong(
                "a run has one plan that counts all solutions, and at most the census besides",
            );
        }
        let (mut division, mut part) = (Division::none(), None);
        if let Some(text) = &head.shard {
            let shard = Shard::from_record(text).map_err(|error| error.to_string())?;
            let dealt: Vec<_> = plans.iter().map(|(plan, _)| Arc::clone(plan)).collect();
            division = Division::new(shard, &dealt);
            let all = dealt.iter().flat_map(|plan| {
                let tasks = 0..plan.tasks();
                tasks.map(|index| plan.key(index))
            });
            let tasks = all.filter(|task| division.holds(shard, *task)).count() as u64;
            part = Some(Part { shard, tasks });
        }
        if head.recorded.is_some() != part.is_some() || head.recorded == Some(0) {
            return wrong("a shard, and nothing else, tells how many tasks are recorded");
        }
        let none = |(plan, _): &(Arc<dyn Plan>, _)| (plan.engine(), Tally::default());
        Ok(Self {
            sums: plans.iter().map(none).collect(),
            head: head.clone(),
            checked: Checked {
                board,
                outcome: None,
                part,
                plans: head.plans.keys().cloned().collect(),
                tasks: 0,
                twice: 0,
                on_other_host: 0,
                by_other_worker: 0,
                by_other_kernel: 0,
                corrections: 0,
                hosts: Vec::new(),
                root: String::new(),
                signatures: Vec::new(),
            },
            plans,
            division,
            next: (0, 0),
            origins: Vec::new(),
            last: None,
            decided: None,
        })
    }

    fn origin(&mut self, line: &OriginLine) -> Result<(), CheckError> {
        let (number, hosts) = (line.origin, &mut self.checked.hosts);
        if number != self.origins.len() as u64 || number >= MOST as u64 {
            return wrong("origins are numbered from 0, one after the other, up to 65,535");
        }
        if !hosts.contains(&line.host) {
            hosts.push(line.host.clone());
        }
        self.origins.push(line.clone());
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
        let may_come = match &self.checked.part {
            None => place == self.next,
            Some(part) => {
                let is_task = place >= self.next && line.task < plan.tasks();
                is_task && self.division.holds(part.shard, plan.key(line.task))
            }
        };
        may_come.then_some(place)
    }

    fn task(&mut self, line: &TaskLine) -> Result<(), CheckError> {
        self.close()?;
        let Some((plan, _)) = self.plans.get(self.next.0) else {
            return wrong("there are more tasks than the plans have");
        };
        let Some((at, index)) = self.place(line) else {
            let next = format!("task {} of {}", self.next.1, plan.name());
            return wrong(match &self.checked.part {
                None => format!("{next} must come here"),
                Some(part) => format!("a task of {part} must come here, from {next} on"),
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
        let keys = keys_of(&line.parts, self.checked.part.is_none());
        if !line.tally.keys().eq(&keys) {
            return wrong("the tally does not have the keys of the partitions");
        }
        let tally = self.tally(plan.engine(), &line.tally, line.origin)?;
        if let Some(again) = &line.again {
            let second = self.tally(plan.engine(), &again.tally, again.origin)?;
            if second != tally || again.tally != line.tally {
                return contradicted("the second count differs from the first");
            }
            let [one, other] = [line.origin, again.origin].map(|at| &self.origins[at as usize]);
            let is_elsewhere = one.host != other.host;
            let checked = &mut self.checked;
            checked.twice += 1;
            checked.on_other_host += u64::from(is_elsewhere);
            checked.by_other_worker += u64::from(is_elsewhere || one.worker != other.worker);
            checked.by_other_kernel += u64::from(one.backend != other.backend);
        }
        *self.sums.entry(plan.engine()).or_default() += tally;
        self.checked.tasks += 1;
        self.last = Some(line.clone());
        self.next = if index + 1 < plan.tasks() {
            (at, index + 1)
        } else {
            (at + 1, 0)
        };
        Ok(())
    }

    fn tally(&self, engine: Engine, counts: &Counts, origin: u64) -> Result<Tally, CheckError> {
        if origin >= self.origins.len() as u64 {
            return wrong("its origin is not described above");
        }
        let fits = counts.contains_key(PARTITIONS) == self.checked.part.is_some();
        match tally_of(engine, counts).filter(|_| fits) {
            Some(tally) => Ok(tally),
            None => wrong(
                "it has a count that is no decimal number below 2^80 of a weight or turn of this plan",
            ),
        }
    }

    fn correction(&mut self, line: &CorrectionLine) -> Result<(), CheckError> {
        let last = self.last.as_ref();
        let is_last = last.is_some_and(|task| (&task.plan, task.task) == (&line.plan, line.task));
        let Some(plan) = self.plan(&line.plan).filter(|_| is_last) else {
            return wrong("a correction must follow its task");
        };
        let engine = plan.engine();
        if line.correction != self.checked.corrections {
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
        self.checked.corrections += 1;
        self.decided = Some(decided.flatten().map(|count| count.tally.clone()));
        Ok(())
    }

    /// The last correction of the last task must decide for what is recorded.
    fn close(&mut self) -> Result<(), CheckError> {
        match (self.decided.take(), &self.last) {
            (Some(None), _) => contradicted(
                "the task above was counted with different results, and nothing was decided",
            ),
            (Some(Some(counts)), Some(task)) if counts != task.tally => {
                contradicted("the tally of the task above is not the one that was decided for")
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Checked, CheckError> {
        self.close()?;
        let (head, mut checked) = (self.head, self.checked);
        let is_whole = checked.part.is_none();
        let (at, index) = self.next;
        if let Some((plan, _)) = self.plans.get(at).filter(|_| is_whole) {
            let name = plan.name();
            return wrong(format!("tasks are missing, from task {index} of {name} on"));
        }
        if head.recorded.unwrap_or(checked.tasks) != checked.tasks {
            return wrong(format!(
                "there are {} tasks, and the first line says another number",
                checked.tasks
            ));
        }
        let mut plans = self.plans.iter().filter(|_| is_whole);
        if let Some((counting, _)) = plans.find(|(plan, _)| plan.engine().counts_all()) {
            let outcome = outcome(counting.as_ref(), |engine| self.sums.get(&engine))?;
            checked.outcome = Some(outcome);
        }
        let said = [head.total, head.unique, head.r180, head.r90];
        for (said, (what, found)) in said.into_iter().zip(results(checked.outcome.as_ref())) {
            if said != found {
                let [said, found] = [said, found].map(|text| text.unwrap_or("none".to_owned()));
                return contradicted(format!(
                    "the tasks add up to {what} {found}, and the first line says {said:.64}"
                ));
            }
        }
        let (twice, corrections) = (checked.twice, checked.corrections);
        if (head.twice, head.corrections) != (twice, corrections) {
            return wrong(format!(
                "{twice} tasks have a second count and {corrections} counts were corrected; the first line says {} and {}",
                head.twice, head.corrections
            ));
        }
        Ok(checked)
    }
}
