//! Which worker holds which tasks: the coordinator of a run, without any network.
//!
//! It is a state machine. Whoever runs it tells it what was heard and what the ledger took, and does what it asks
//! for. It decides nothing about counts: the ledger does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::absent::Absent;
use super::admission::Admission;
use super::bars::{Bar, Bars};
use super::book::{Book, Granted};
use super::effect::Effect;
use super::entitled::Entitled;
use super::given::Given;
use super::heard::Repeats;
use super::ignored::Ignored;
use super::member::Member;
use super::pool::Pool;
use super::protocol::{
    Beat, Down, Finish, Hello, LARGEST_LEASE, Lease, Offer, Unreadable, Up, ranges,
};
use super::report::{LARGEST_REPORT, Report};
use super::seconds::Seconds;
use super::times::LeaseTimes;
use crate::actors::{EventKind, Finding, Gone, HostProgress, Recorded};
use crate::engine::{Engine, PlanName, TaskKey};
use crate::ledger::{Wanted, Written};

/// The shortest lease near the end, in seconds of work.
const SHORTEST: f64 = 0.1;

/// Into how many leases for each worker the work that is left is cut near the end.
const SHARES: f64 = 4.0;

/// How long the end of a run waits for workers that still count their last canary.
const LAST_CANARY: Duration = Duration::from_secs(10);

/// The most leases of a worker that are taken over from an earlier coordinator. A worker has two.
const MOST_LEASES: usize = 8;

/// The most items of a worker that wait for the ledger: further ones are not taken, and come again. So a worker that
/// reports faster than they are written does not fill the memory.
const MOST_WAITING: u64 = 1 << 16;

/// Why a worker of a banned host is refused.
const BANNED: &str = "the owner of the run has banned it";

/// What is ignored of a worker that was admitted to this run.
const OTHER_RUN: &str = "messages about another run or another version of its plans";

/// The coordinator of a run.
pub struct Coordinator {
    offer: Offer,
    /// The plans that the offer names.
    plans: Vec<PlanName>,
    times: LeaseTimes,
    pools: Vec<Pool>,
    book: Book,
    members: BTreeMap<String, Member>,
    absent: Absent,
    /// The tasks that another party is to count, where each is counted by two.
    seconds: Seconds,
    entitled: Entitled,
    ignored: Ignored,
    bars: Bars,
    /// Workers in whose name two programs spoke.
    disputed: BTreeSet<String>,
    /// Until then, workers may tell which leases they hold from an earlier coordinator.
    grace: Duration,
    /// Since when everything is recorded.
    finishing: Option<Duration>,
    paused: bool,
    over: bool,
}

impl Coordinator {
    /// The coordinator of a run. `pools`: the tasks of each plan. `series`: a number that no earlier coordinator of
    /// the run had, which its leases have in front.
    pub fn new(offer: Offer, times: LeaseTimes, pools: Vec<Pool>, series: u32) -> Self {
        let is_begun = pools.iter().any(|pool| pool.recorded() > 0);
        Self {
            plans: pools.iter().map(Pool::name).collect(),
            offer,
            times,
            pools,
            book: Book::new(series),
            members: BTreeMap::new(),
            absent: Absent::default(),
            seconds: Seconds::default(),
            entitled: Entitled::default(),
            ignored: Ignored::default(),
            bars: Bars::default(),
            disputed: BTreeSet::new(),
            grace: match is_begun {
                true => times.beat() * 2,
                false => Duration::ZERO,
            },
            finishing: None,
            paused: false,
            over: false,
        }
    }

    /// Goes on with a run in which an earlier coordinator gave these leases: their results are taken.
    #[must_use]
    pub fn after(mut self, given: &[Given]) -> Self {
        for Given { session, lease } in given {
            if let Some(at) = self.pool_of(lease.engine) {
                self.entitled.give(session, at, lease.tasks());
            }
        }
        self
    }

    /// Goes on with a run in which two parties count tasks, where these tasks wait for another count.
    #[must_use]
    pub fn twice(mut self, wanted: &[Wanted]) -> Self {
        self.want_only(wanted);
        self
    }

    /// What each worker does.
    pub fn hosts(&self, now: Duration) -> Vec<HostProgress> {
        let held = |member: &Member| member.leases.iter().map(|id| self.book.left(*id)).sum();
        let members = self.members.iter();
        members
            .map(|(worker, member)| HostProgress {
                paused: member.paused || self.bar_of(worker, member) == Some(Bar::Paused),
                ..member.progress(now, held(member))
            })
            .collect()
    }

    /// The workers that are gone without leave, as they were last seen, the latest last.
    pub fn gone(&self, now: Duration) -> Vec<HostProgress> {
        self.absent.hosts(now)
    }

    /// How many tasks are counted at the same time.
    pub fn hands(&self) -> u64 {
        self.members.values().map(Member::hands).sum()
    }

    /// From now on, tasks are given out or not. Workers count what they hold.
    pub const fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// From now on, these hosts get no leases, or may not take part.
    pub fn bar(&mut self, bars: Bars) -> Vec<Effect> {
        if self.bars == bars {
            return Vec::new();
        }
        self.bars = bars;
        self.absent.allow(&self.bars);
        let banned = self
            .members
            .iter()
            .filter(|(worker, member)| self.bar_of(worker, member) == Some(Bar::Banned));
        let banned: Vec<String> = banned.map(|(worker, _)| worker.clone()).collect();
        banned
            .iter()
            .flat_map(|worker| self.refuse(worker, BANNED))
            .collect()
    }

    fn bar_of(&self, worker: &str, member: &Member) -> Option<Bar> {
        self.bars.of(worker, &member.facts.host)
    }

    /// Whether what was delivered should be committed at once: somebody waits for it.
    pub fn is_urgent(&self) -> bool {
        self.pools.iter().all(|pool| pool.free() == 0)
    }

    /// CPU workers of all that take part.
    pub fn cpu_workers(&self) -> u64 {
        self.members
            .values()
            .map(|member| member.facts.workers)
            .sum()
    }

    /// Hears what a worker says at this time since the beginning.
    pub fn hear(&mut self, now: Duration, worker: &str, said: Up) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.over {
            return effects;
        }
        match said {
            Up::Hello(hello) => self.hello(now, worker, hello, &mut effects),
            Up::Beat(beat) => self.beat(now, worker, &beat, &mut effects),
            Up::Report(report) => self.report(now, worker, report, &mut effects),
            Up::Leave => self.leave(worker, None, &mut effects),
        }
        self.end(now, &mut effects);
        effects
    }

    /// Hears that the ledger took what was delivered: `receipts` are the numbers that came with it.
    pub fn recorded(
        &mut self,
        now: Duration,
        written: &Written,
        receipts: &[(String, u64)],
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        for task in &written.withdrawn {
            self.withdrawn(*task);
        }
        for Recorded { key: task, .. } in &written.recorded {
            if let Some(at) = self.pool_of(task.engine) {
                self.settle((at, task.index));
                self.pools[at].record(task.index, self.book.was_held);
            }
        }
        for wanted in &written.wanted {
            if let Some(at) = self.pool_of(wanted.0.engine) {
                self.settle((at, wanted.0.index));
                self.want(wanted);
            }
        }
        for task in &written.agreed {
            if let Some(at) = self.pool_of(task.engine) {
                self.settle((at, task.index));
                self.seconds.settle((at, task.index));
            }
        }
        if let Some(wanted) = &written.all_wanted {
            self.want_only(wanted);
        }
        for (worker, number) in receipts {
            if let Some(member) = self.members.get_mut(worker) {
                member.committed = member.committed.max(*number);
                // A receipt for what it said before it was lost.
                member.heard.skip_to(*number);
            }
            effects.push(Effect::Tell(worker.clone(), Down::Receipt(*number)));
        }
        self.end(now, &mut effects);
        effects
    }

    /// Notes that a task is counted, and that leases have it no longer.
    fn settle(&mut self, task: (usize, u64)) {
        for holder in self.book.settle(task) {
            if let Some(member) = self.members.get_mut(&holder.worker) {
                member.leases.remove(&holder.id);
            }
        }
    }

    fn want(&mut self, (task, counted_by): &Wanted) {
        if let Some(at) = self.pool_of(task.engine) {
            self.seconds.open((at, task.index), counted_by.clone());
            self.finishing = None;
        }
    }

    /// Notes that these tasks wait for another count, and no others.
    fn want_only(&mut self, wanted: &[Wanted]) {
        self.seconds = Seconds::default();
        for wanted in wanted {
            self.want(wanted);
            if let Some(at) = self.pool_of(wanted.0.engine)
                && self.book.is_held((at, wanted.0.index))
            {
                self.seconds.hold((at, wanted.0.index));
            }
        }
    }

    /// Hears that the run has failed.
    pub fn failed(&mut self, why: &str) -> Vec<Effect> {
        if self.over {
            return Vec::new();
        }
        self.over = true;
        let finish = Finish::Failed(why.to_owned());
        let tell = |worker: &String| Effect::Tell(worker.clone(), Down::Finish(finish.clone()));
        let mut effects: Vec<_> = self.members.keys().map(tell).collect();
        effects.push(Effect::End(finish));
        effects
    }

    /// Refuses a worker for something that it sent.
    pub fn refuse(&mut self, worker: &str, why: &str) -> Vec<Effect> {
        let host = self
            .members
            .get(worker)
            .map(|member| member.facts.host.clone());
        let host = host.unwrap_or_else(|| format!("worker {worker}"));
        let mut effects = vec![
            Effect::Tell(worker.to_owned(), Down::Refused(format!("{host}: {why}"))),
            refused(host, why.to_owned()),
        ];
        let member = self.members.get(worker);
        let gone = match member.and_then(|member| self.bar_of(worker, member)) {
            Some(Bar::Banned) => Gone::Banned,
            _ => Gone::Refused,
        };
        self.leave(worker, Some(gone), &mut effects);
        effects
    }

    /// Hears bytes in the name of a worker that it did not send, or that are no message. Whoever sent them, the worker
    /// itself goes on.
    pub fn hear_unreadable(&mut self, worker: &str, why: Unreadable) -> Vec<Effect> {
        let mut effects = Vec::new();
        let what = match why {
            Unreadable::Version(_) => {
                // A program of that version sees by any answer that it is another one. A worker of this version, in
                // whose name somebody else may have spoken, says hello again.
                if !self.members.contains_key(worker) {
                    effects.push(Effect::Tell(worker.to_owned(), Down::Unknown));
                }
                "messages of another version of the protocol"
            }
            Unreadable::Garbage => "what is no message",
            Unreadable::Forged => "messages that somebody else sent in its name",
        };
        self.ignore(worker, what, 1, &mut effects);
        effects
    }

    /// Counts what was sent in the name of a worker and is not taken.
    fn ignore(&mut self, worker: &str, what: &'static str, number: u64, effects: &mut Vec<Effect>) {
        let host = self.members.get(worker).map(|member| &member.facts.host);
        let who = match host {
            Some(host) => format!("{host}, session {worker}"),
            None => format!("worker {worker}"),
        };
        if let Some((who, what)) = self.ignored.add(&who, what, number) {
            effects.push(refused(who, what));
        }
    }

    /// Hears that time passes.
    pub fn tick(&mut self, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.over {
            return effects;
        }
        let lease = self.times.lease;
        let silent = |(_, member): &(&String, &Member)| now.saturating_sub(member.seen) > lease;
        let lost: Vec<_> = self.members.iter().filter(silent).collect();
        let lost: Vec<String> = lost.into_iter().map(|(worker, _)| worker.clone()).collect();
        for worker in lost {
            self.leave(&worker, Some(Gone::Lost), &mut effects);
        }
        for id in self.book.expired(now, lease) {
            self.end_lease(id);
        }
        // A beat may have come before there was anything to give.
        let waiting = self.members.iter().filter(|(_, member)| member.wants);
        let waiting: Vec<String> = waiting.map(|(worker, _)| worker.clone()).collect();
        for worker in &waiting {
            self.give(now, worker, &mut effects);
        }
        if !waiting.is_empty() {
            self.give_copies(now, &waiting, &mut effects);
        }
        self.end(now, &mut effects);
        effects
    }

    fn pool_of(&self, engine: Engine) -> Option<usize> {
        self.pools.iter().position(|pool| pool.engine() == engine)
    }

    fn hello(&mut self, now: Duration, worker: &str, hello: Hello, effects: &mut Vec<Effect>) {
        let mut tell = |down| effects.push(Effect::Tell(worker.to_owned(), down));
        let facts = match Admission::of(&hello, &self.offer) {
            Admission::TakesPart(facts)
                if self.bars.of(worker, &facts.host) == Some(Bar::Banned) =>
            {
                tell(Down::Refused(format!("{}: {BANNED}", facts.host)));
                let member = Member::new(facts, hello.first, now);
                return self.absent.add(worker, &member, Gone::Banned);
            }
            Admission::TakesPart(facts) => facts,
            Admission::Learns => return tell(Down::Run(self.offer.clone())),
            Admission::Refused { host, reason } => {
                let host = host.unwrap_or_else(|| format!("worker {worker}"));
                tell(Down::Refused(format!("{host}: {reason}")));
                return effects.push(refused(host, reason));
            }
        };
        let is_new = !self.members.contains_key(worker);
        if is_new {
            self.absent.forget(worker, &facts.host);
            effects.push(Effect::Happened(EventKind::HostJoined {
                host: facts.host.clone(),
                cpu_workers: facts.workers,
                devices: facts.devices.clone(),
            }));
        }
        let member = self
            .members
            .entry(worker.to_owned())
            .or_insert_with(|| Member::new(facts.clone(), hello.first, now));
        member.seen = now;
        member.beats = false;
        if hello.first > member.heard.next() {
            member.heard.skip_to(hello.first);
            member.committed = hello.first;
        }
        let mut revoked = Vec::new();
        for (number, lease) in hello.leases.iter().enumerate() {
            if number >= MOST_LEASES || !self.adopt(now, worker, lease) {
                revoked.push(lease.id);
            }
        }
        effects.push(Effect::Admit(worker.to_owned(), facts));
        let LeaseTimes { lease, work } = self.times;
        let welcome = Down::Welcome {
            lease_ms: lease.as_millis() as u64,
            work_ms: work.as_millis() as u64,
        };
        effects.push(Effect::Tell(worker.to_owned(), welcome));
        if !revoked.is_empty() {
            effects.push(Effect::Tell(worker.to_owned(), Down::Revoked(revoked)));
        }
        if self.finishing.is_some() {
            let finish = Down::Finish(Finish::Done);
            effects.push(Effect::Tell(worker.to_owned(), finish));
        }
    }

    /// Takes over a lease that a worker holds. Returns whether anything is left of it for the worker.
    fn adopt(&mut self, now: Duration, worker: &str, lease: &Lease) -> bool {
        if self.book.renew(lease.id, worker, now) {
            return true;
        }
        let Some(at) = self.pool_of(lease.engine) else {
            return false;
        };
        if self.book.holds(lease.id) || !self.book.was_named(lease.id) {
            return false;
        }
        let free = |task: &u64| {
            !self.book.is_held((at, *task)) && self.entitled.may_deliver(worker, at, *task)
        };
        let mut tasks: Vec<u64> = lease.tasks().filter(free).collect();
        tasks.retain(|task| self.pools[at].adopt(*task));
        if tasks.is_empty() {
            return false;
        }
        let granted = Granted::new(worker, at, tasks, now);
        self.book.open(lease.id, granted.seen());
        if let Some(member) = self.members.get_mut(worker) {
            member.leases.insert(lease.id);
        }
        true
    }

    fn beat(&mut self, now: Duration, worker: &str, beat: &Beat, effects: &mut Vec<Effect>) {
        let mut tell = |down| effects.push(Effect::Tell(worker.to_owned(), down));
        let Some(member) = self.members.get_mut(worker) else {
            return tell(Down::Unknown);
        };
        if beat.key != self.offer.plans.key {
            return self.ignore(worker, OTHER_RUN, 1, effects);
        }
        member.seen = now;
        member.beats = true;
        member.wants = beat.wants;
        member.paused = beat.paused;
        member.note_speeds(&beat.speeds);
        let (mut revoked, mut lost) = (Vec::new(), Vec::new());
        for id in &beat.leases {
            if !self.book.renew(*id, worker, now) {
                revoked.push(*id);
            }
        }
        for id in &member.leases {
            if beat.leases.contains(id) {
                continue;
            }
            match self.book.unseen_since(*id) {
                // It was there and is there no longer.
                None => lost.push(*id),
                // It would be given up as soon as it arrives.
                Some(_) if beat.paused && beat.leases.is_empty() => lost.push(*id),
                // Or it has not arrived: the way was lost, or it takes its time.
                Some(sent) if now.saturating_sub(sent) >= self.times.beat() => {
                    if let Some(lease) = self.book.again(*id, now, &self.pools) {
                        effects.push(Effect::Grant(worker.to_owned(), lease));
                    }
                }
                Some(_) => {}
            }
        }
        if !revoked.is_empty() {
            effects.push(Effect::Tell(worker.to_owned(), Down::Revoked(revoked)));
        }
        for id in lost {
            self.end_lease(id);
        }
        if self.finishing.is_some() {
            let finish = Down::Finish(Finish::Done);
            return effects.push(Effect::Tell(worker.to_owned(), finish));
        }
        self.give(now, worker, effects);
    }

    fn report(&mut self, now: Duration, worker: &str, report: Report, effects: &mut Vec<Effect>) {
        let tell = |down| Effect::Tell(worker.to_owned(), down);
        let Some(member) = self.members.get_mut(worker) else {
            return effects.push(tell(Down::Unknown));
        };
        if report.key != self.offer.plans.key || report.items.len() > LARGEST_REPORT {
            return self.ignore(worker, OTHER_RUN, 1, effects);
        }
        // Later items wait for those that were lost on the way: they come again. If nothing is on its way, they may have
        // a receipt from before this worker was taken for lost: then it is to say where it begins.
        let waiting = member.heard.next().saturating_sub(member.committed);
        let is_ahead = report.from > member.heard.next();
        if is_ahead || waiting >= MOST_WAITING {
            member.seen = now;
            if is_ahead && waiting == 0 {
                effects.push(tell(Down::Unknown));
            }
            return;
        }
        let known = match member.heard.compare(report.from, &report.items) {
            Repeats::Same(known) => known,
            Repeats::Other => return self.dispute(worker, effects),
            // From before the coordinator began, or from somebody else. There is no receipt for what is not compared,
            // and nobody lives by it.
            Repeats::Unknown => {
                let what = "reports with numbers that it had used before";
                return self.ignore(worker, what, 1, effects);
            }
        };
        member.seen = now;
        if known == report.items.len() {
            let committed = member.committed;
            return effects.push(tell(Down::Receipt(committed)));
        }
        let mut delivered = report.items;
        delivered.drain(..known);
        let is_of_run = |task: TaskKey| {
            let plan = PlanName {
                engine: task.engine,
                version: task.version,
            };
            task.n == self.offer.n && self.plans.contains(&plan)
        };
        if !delivered.iter().flat_map(Finding::tasks).all(is_of_run) {
            return self.ignore(worker, OTHER_RUN, 1, effects);
        }
        member.heard.note(&delivered);
        let number = member.heard.next();
        without_withdrawn(&mut delivered);
        let all = delivered.len();
        let pools = &self.pools;
        let may_deliver = |task: TaskKey| {
            let pool = pools.iter().position(|pool| pool.engine() == task.engine);
            pool.is_some_and(|at| self.entitled.may_deliver(worker, at, task.index))
        };
        delivered.retain(|item| item.tasks().into_iter().all(may_deliver));
        for item in &delivered {
            if let Finding::TakenOut(sick) = item {
                effects.push(Effect::Happened(EventKind::HostSick {
                    host: member.facts.host.clone(),
                    sick: sick.clone(),
                }));
            }
            member.note(item);
        }
        let dropped = (all - delivered.len()) as u64;
        effects.push(Effect::Record(worker.to_owned(), delivered, number));
        if dropped > 0 {
            let what = "results of tasks that it was not asked for";
            self.ignore(worker, what, dropped, effects);
        }
    }

    /// Refuses a worker in whose name two different things were said. Which of the two programs it is, nobody can tell.
    fn dispute(&mut self, worker: &str, effects: &mut Vec<Effect>) {
        self.disputed.insert(worker.to_owned());
        let why = format!(
            "two programs report different results in the name of session {worker} and under the same numbers: one \
             of them lies"
        );
        effects.extend(self.refuse(worker, &why));
    }

    /// A worker leaves: in order, or as `gone` says.
    fn leave(&mut self, worker: &str, gone: Option<Gone>, effects: &mut Vec<Effect>) {
        let Some(member) = self.members.remove(worker) else {
            return;
        };
        let how = match gone {
            None => "left",
            Some(Gone::Lost) => "is silent, and its tasks go to others",
            Some(Gone::Banned | Gone::Refused) => "was refused",
        };
        // Who only delivered what another one had counted is not missed.
        if let Some(gone) = gone.filter(|gone| member.beats || *gone != Gone::Lost) {
            self.absent.add(worker, &member, gone);
        }
        for id in &member.leases {
            self.end_lease(*id);
        }
        // At the end of a run everybody leaves.
        if self.finishing.is_none() {
            let host = &member.facts.host;
            effects.push(left(host, how));
        }
        // Who only delivers what another one counted has no canary, and nobody knows whose a disputed one is.
        let in_order = gone.is_none() && member.beats && !self.disputed.contains(worker);
        effects.push(Effect::Dismiss {
            worker: worker.to_owned(),
            in_order,
        });
    }

    /// Ends a lease: what is left of it is free, unless another lease has it too.
    fn end_lease(&mut self, id: u64) {
        let Some((granted, free)) = self.book.close(id) else {
            return;
        };
        for task in free {
            self.pools[granted.pool].put_back(task);
            self.seconds.put_back((granted.pool, task));
        }
        if let Some(member) = self.members.get_mut(&granted.worker) {
            member.leases.remove(&id);
        }
    }

    fn withdrawn(&mut self, task: TaskKey) {
        if let Some(at) = self.pool_of(task.engine) {
            // A lease for its second count no longer has it: whoever gets it now gives the first one.
            self.settle((at, task.index));
            self.pools[at].withdraw(task.index);
            self.seconds.settle((at, task.index));
            self.finishing = None;
        }
    }

    /// Gives a worker a lease of free tasks, if it wants one and there are any.
    fn give(&mut self, now: Duration, worker: &str, effects: &mut Vec<Effect>) {
        if !self.may_have(now, worker) {
            return;
        }
        // Second counts first, so that few tasks wait for them.
        let second = (0..self.pools.len()).find_map(|at| self.cut_second(now, worker, at));
        let lease = second.or_else(|| self.cut(now, worker, self.least_issued()?));
        if let Some(lease) = lease {
            self.hand_over(worker, lease, effects);
        }
    }

    /// The pool of which the least is recorded or held, among those with free tasks.
    fn least_issued(&self) -> Option<usize> {
        let free = |at: &usize| self.pools[*at].free() > 0;
        let behind = |a: &usize, b: &usize| {
            let [a, b] = [a, b].map(|at| self.pools[*at].issued());
            a.total_cmp(&b)
        };
        (0..self.pools.len()).filter(free).min_by(behind)
    }

    /// Whether a worker wants a lease, and may have one.
    fn may_have(&self, now: Duration, worker: &str) -> bool {
        let wants = |member: &&Member| {
            // One at a time is on its way.
            let is_on_its_way = |id: &u64| self.book.unseen_since(*id).is_some();
            member.wants
                && self.bar_of(worker, member).is_none()
                && !member.leases.iter().any(is_on_its_way)
        };
        !self.paused && now >= self.grace && self.members.get(worker).is_some_and(|m| wants(&m))
    }

    fn hand_over(&mut self, worker: &str, lease: Lease, effects: &mut Vec<Effect>) {
        if let Some(member) = self.members.get_mut(worker) {
            member.wants = false;
            member.leases.insert(lease.id);
            effects.push(Effect::Grant(worker.to_owned(), lease));
        }
    }

    /// Gives workers that want a lease when no task is free the tasks of those that will end last. That is done for
    /// all of them at the same time: with thousands of workers, it takes long to look through all leases.
    fn give_copies(&mut self, now: Duration, waiting: &[String], effects: &mut Vec<Effect>) {
        if self.pools.iter().any(|pool| pool.free() > 0) {
            return;
        }
        let seconds_left = |granted: &Granted| {
            let speed = self.members.get(&granted.worker);
            let speed = speed.and_then(|m| m.speeds.get(&self.pools[granted.pool].engine()));
            speed.map_or(f64::MAX, |speed| granted.left() as f64 / speed)
        };
        let mut slowest = self.book.slowest(seconds_left);
        for worker in waiting {
            if !self.may_have(now, worker) {
                continue;
            }
            let other = |id: &u64| self.book.worker(*id).is_some_and(|holder| holder != worker);
            let Some(at) = slowest.iter().position(other) else {
                continue;
            };
            let Some(id) = slowest.remove(at) else {
                continue;
            };
            if let Some(lease) = self.copy(now, worker, id) {
                self.hand_over(worker, lease, effects);
            }
        }
    }

    /// A lease of free tasks.
    fn cut(&mut self, now: Duration, worker: &str, at: usize) -> Option<Lease> {
        let count = self.size(worker, at, self.pools[at].free())?;
        let book = &self.book;
        let tasks = self.pools[at].take(count, |task| book.is_held((at, task)));
        self.grant(now, worker, at, tasks, None)
    }

    /// A lease of tasks that others have counted.
    fn cut_second(&mut self, now: Duration, worker: &str, at: usize) -> Option<Lease> {
        let party = self.members.get(worker)?.party(worker);
        let free = self.seconds.free(&party, at);
        let count = self.size(worker, at, free)?;
        let tasks = self.seconds.take(&party, at, count);
        self.grant(now, worker, at, tasks, None)
    }

    /// How many of so many free tasks of a pool a worker is to get.
    fn size(&self, worker: &str, at: usize, free: u64) -> Option<u64> {
        let member = self.members.get(worker)?;
        let engine = self.pools[at].engine();
        let hands = member.hands();
        let workers = self.members.len() as u64;
        let fair = (free / workers).max(1);
        let count = match member.speeds.get(&engine) {
            Some(speed) => {
                let all: f64 = self
                    .members
                    .values()
                    .filter_map(|m| m.speeds.get(&engine))
                    .sum();
                let left = free as f64 / all.max(*speed);
                let work = self.times.work.as_secs_f64();
                let seconds = (left / SHARES).clamp(SHORTEST.min(work), work);
                ((speed * seconds) as u64).max(hands.min(fair))
            }
            None => (2 * hands).min(fair),
        };
        Some(count.clamp(1, LARGEST_LEASE))
    }

    /// A lease of tasks of another lease, from the end of what is left of it.
    fn copy(&mut self, now: Duration, worker: &str, id: u64) -> Option<Lease> {
        let (at, mut tasks) = self.book.tasks(id)?;
        let member = self.members.get(worker)?;
        let party = member.party(worker);
        tasks.retain(|task| self.seconds.may_count((at, *task), &party));
        let speed = member.speeds.get(&self.pools[at].engine());
        let count = speed.map_or(0.0, |speed| speed * self.times.work.as_secs_f64());
        tasks.reverse();
        tasks.truncate((count as u64).max(member.hands()) as usize);
        self.grant(now, worker, at, tasks, Some(id))
    }

    fn grant(
        &mut self,
        now: Duration,
        worker: &str,
        at: usize,
        tasks: Vec<u64>,
        copy_of: Option<u64>,
    ) -> Option<Lease> {
        if tasks.is_empty() {
            return None;
        }
        let id = self.book.next_id();
        let lease = Lease {
            id,
            engine: self.pools[at].engine(),
            ranges: ranges(tasks.iter().copied()),
        };
        self.entitled.give(worker, at, tasks.iter().copied());
        let granted = Granted::new(worker, at, tasks, now);
        self.book.open(id, granted.copy_of(copy_of));
        Some(lease)
    }

    /// Ends the run if everything is recorded and nobody is waited for.
    fn end(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if self.over || !self.pools.iter().all(Pool::is_whole) || !self.seconds.is_empty() {
            return;
        }
        let since = match self.finishing {
            Some(since) => since,
            None => {
                self.finishing = Some(now);
                for worker in self.members.keys() {
                    let finish = Down::Finish(Finish::Done);
                    effects.push(Effect::Tell(worker.clone(), finish));
                }
                now
            }
        };
        if self.members.is_empty() || now.saturating_sub(since) >= LAST_CANARY {
            let hosts = self
                .members
                .values()
                .map(|member| member.facts.host.as_str());
            let how = "was not waited for, so its last canary was not seen";
            for host in hosts.collect::<BTreeSet<_>>() {
                effects.push(left(host, how));
            }
            self.over = true;
            effects.push(Effect::End(Finish::Done));
        }
    }
}

/// Leaves out results that are withdrawn further on: they are doubted, and need not contradict anybody.
fn without_withdrawn(items: &mut Vec<Finding>) {
    let mut withdrawn = BTreeSet::new();
    items.reverse();
    items.retain(|item| match item {
        Finding::Withdrawal(task) => {
            withdrawn.insert(*task);
            true
        }
        Finding::Result(result) => !withdrawn.contains(&result.key),
        _ => true,
    });
    items.reverse();
}

fn refused(host: String, reason: String) -> Effect {
    Effect::Happened(EventKind::HostRefused { host, reason })
}

fn left(host: &str, how: &str) -> Effect {
    Effect::Happened(EventKind::HostLeft {
        host: host.to_owned(),
        how: how.to_owned(),
    })
}
