//! Coordinator and workers without a network: messages that are lost, doubled and late, workers and coordinators
//! that die, hosts of every speed. A simulated clock, so that an hour takes milliseconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use queenfold::actors::EventKind;
use queenfold::actors::Finding;
use queenfold::actors::Gone;
use queenfold::actors::Step;
use queenfold::board::Size;
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::cluster::lease::{
    Coordinator, Down, Effect, Finish, Given, Holder, LeaseTimes, Offer, Plans, Pool, RunKey, Up,
    decode, encode,
};
use queenfold::engine::{
    CountedBy, Engine, Origin, Plan, Tally, TaskKey, TaskResult, TaskSet, WorkerId,
};
use queenfold::ledger::{Facts, RunInfo, Shard, Written, program};

const TIMES: LeaseTimes = LeaseTimes {
    lease: Duration::from_secs(30),
    work: Duration::from_secs(20),
};

/// A step of the simulated clock.
const STEP: Duration = Duration::from_millis(500);

/// From so many recorded tasks on, not all are counted by two.
const TRUSTED: usize = 200;

/// What happens to messages, and how often, in percent.
#[derive(Clone, Copy, Debug)]
struct Weather {
    lost: u32,
    doubled: u32,
    /// The longest delay, in steps.
    late: u64,
    /// Workers that die in a step, in thousandths.
    deaths: u32,
    /// Coordinators that do.
    falls: u32,
}

/// A message on its way.
enum Mail {
    Up(String, Vec<u8>),
    Down(String, Vec<u8>),
}

struct Host {
    holder: Holder,
    is_welcome: bool,
    said_hello: Option<Duration>,
    /// Tasks that it counts in a step.
    speed: f64,
    /// Work done on the next task.
    done: f64,
    is_slow_to_answer: bool,
}

struct World {
    random: fastrand::Rng,
    weather: Weather,
    now: Duration,
    plans: Vec<Arc<dyn Plan>>,
    offer: Offer,
    coordinator: Coordinator,
    series: u32,
    hosts: BTreeMap<String, Host>,
    names: u64,
    mail: Vec<(u64, Mail)>,
    step: u64,
    /// The ledger: what was committed, and how often each task was counted.
    ledger: BTreeMap<TaskKey, Tally>,
    /// Whether tasks are counted by two, and who has counted each of them.
    twice: bool,
    /// Whether it is one in four that two count, from some time on.
    trusting: bool,
    counted_by: BTreeMap<TaskKey, BTreeSet<String>>,
    /// Which leases were given to whom.
    given: Vec<Given>,
    counted: u64,
    end: Option<Finish>,
    happened: Vec<EventKind>,
}

fn plans() -> Vec<Arc<dyn Plan>> {
    let n = Size::new(18).unwrap();
    vec![Arc::new(ChainPlan::new(n)), Arc::new(CensusPlan::new(n))]
}

fn offer(plans: &[Arc<dyn Plan>]) -> Offer {
    let info = RunInfo::new(plans[0].size(), plans, Shard::WHOLE, String::new());
    Offer {
        program: program(),
        n: plans[0].size(),
        given: [String::new(), String::new()],
        plans: Plans {
            names: plans.iter().map(|plan| plan.name().to_string()).collect(),
            key: RunKey::from(info.key()),
        },
    }
}

fn tally(task: TaskKey) -> Tally {
    let mut tally = Tally::default();
    tally.completions.add(8, u128::from(task.index * 7 + 1));
    tally.nodes = 1000;
    tally
}

fn result(task: TaskKey, tally: Tally, seconds: f64) -> TaskResult {
    TaskResult {
        key: task,
        tally,
        origin: Origin {
            worker: WorkerId::Cpu(0),
            counted_by: CountedBy::Cpu("scalar".into()),
        },
        audited_by: None,
        duration: Duration::from_secs_f64(seconds),
    }
}

fn facts(host: &str) -> Facts {
    Facts {
        host: host.to_owned(),
        workers: 1,
        ..Facts::default()
    }
}

impl World {
    fn new(seed: u64, weather: Weather, speeds: &[f64]) -> Self {
        let plans = plans();
        let offer = offer(&plans);
        let mut world = Self {
            random: fastrand::Rng::with_seed(seed),
            weather,
            now: Duration::ZERO,
            coordinator: coordinator(&plans, &offer, &BTreeMap::new(), 1),
            plans,
            offer,
            series: 1,
            hosts: BTreeMap::new(),
            names: 0,
            mail: Vec::new(),
            step: 0,
            ledger: BTreeMap::new(),
            twice: false,
            trusting: false,
            counted_by: BTreeMap::new(),
            given: Vec::new(),
            counted: 0,
            end: None,
            happened: Vec::new(),
        };
        for speed in speeds {
            world.join(*speed);
        }
        world
    }

    fn join(&mut self, speed: f64) -> String {
        self.names += 1;
        let name = format!("host{}", self.names);
        let holder = Holder::new(self.plans.clone(), self.offer.plans.key, 1, 0);
        let host = Host {
            holder,
            is_welcome: false,
            said_hello: None,
            speed,
            done: 0.0,
            is_slow_to_answer: false,
        };
        self.hosts.insert(name.clone(), host);
        name
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn post(&mut self, mail: impl Fn() -> Mail) {
        let copies = match () {
            () if self.chance(self.weather.lost) => 0,
            () if self.chance(self.weather.doubled) => 2,
            () => 1,
        };
        for _ in 0..copies {
            let late = self.random.u64(0..=self.weather.late);
            self.mail.push((self.step + late, mail()));
        }
    }

    fn follow(&mut self, effects: Vec<Effect>) {
        let mut effects: std::collections::VecDeque<_> = effects.into();
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Tell(to, down) => {
                    let bytes = encode(&down);
                    self.post(|| Mail::Down(to.clone(), bytes.clone()));
                }
                Effect::Grant(to, lease) => {
                    let bytes = encode(&Down::Lease(lease.clone()));
                    let session = to.clone();
                    self.given.push(Given { session, lease });
                    self.post(|| Mail::Down(to.clone(), bytes.clone()));
                }
                Effect::Record(worker, items, number) => {
                    effects.extend(self.record(&worker, items, number));
                }
                Effect::Admit(..) | Effect::Dismiss { .. } => {}
                Effect::Happened(what) => self.happened.push(what),
                Effect::End(finish) => self.end = Some(finish),
            }
        }
    }

    fn record(&mut self, worker: &str, items: Vec<Finding>, number: u64) -> Vec<Effect> {
        let mut written = Written::default();
        let before = self.ledger.len();
        for item in items {
            let Finding::Result(result) = item else {
                panic!("nothing else is delivered here");
            };
            match self.ledger.get(&result.key) {
                None => {
                    self.ledger.insert(result.key, result.tally);
                    written.recorded.push((&result).into());
                }
                Some(first) if first.agrees_with(&result.tally) => written.again += 1,
                Some(_) => return self.coordinator.failed(&format!("{worker} differs")),
            }
            if self.twice {
                let counted_by = self.counted_by.entry(result.key).or_default();
                counted_by.insert(format!("host {worker}"));
                let counted_by = counted_by.clone();
                match counted_by.len() {
                    1 if self.is_wanted(result.key) => {
                        written.wanted.push((result.key, counted_by));
                    }
                    1 => {}
                    _ => written.agreed.push(result.key),
                }
            }
        }
        if self.trusting && before < TRUSTED && self.ledger.len() >= TRUSTED {
            written.all_wanted = Some(self.all_wanted());
        }
        let receipts = [(worker.to_owned(), number)];
        self.coordinator.recorded(self.now, &written, &receipts)
    }

    fn deliver(&mut self) {
        let (due, later) = std::mem::take(&mut self.mail)
            .into_iter()
            .partition(|(at, _)| *at <= self.step);
        self.mail = later;
        let mut due: Vec<(u64, Mail)> = due;
        if self.weather.late > 0 {
            self.random.shuffle(&mut due);
        }
        for (_, mail) in due {
            match mail {
                Mail::Up(from, bytes) => {
                    let said = decode::<Up>(&bytes).unwrap();
                    let effects = self.coordinator.hear(self.now, &from, said);
                    self.follow(effects);
                }
                Mail::Down(to, bytes) => self.hear(&to, decode(&bytes).unwrap()),
            }
        }
    }

    fn hear(&mut self, to: &str, down: Down) {
        let now = self.now;
        let Some(host) = self.hosts.get_mut(to) else {
            return;
        };
        match down {
            Down::Receipt(number) => host.holder.receipt(now, number),
            Down::Revoked(ids) => host.holder.revoke(&ids),
            Down::Finish(finish) => host.holder.finish(finish),
            Down::Unknown => (host.is_welcome, host.said_hello) = (false, None),
            Down::Refused(why) => panic!("{to} was refused: {why}"),
            Down::Lease(lease) => host.holder.take(&lease),
            Down::Welcome { lease_ms, work_ms } => {
                host.holder.set_times(LeaseTimes {
                    lease: Duration::from_millis(lease_ms),
                    work: Duration::from_millis(work_ms),
                });
                host.is_welcome = true;
            }
            Down::Run(_) => {}
        }
        if host.holder.finished().is_some() && host.holder.unreceipted() == 0 {
            self.hosts.remove(to);
            let leave = encode(&Up::Leave);
            self.post(|| Mail::Up(to.to_owned(), leave.clone()));
        }
    }

    /// Lets every host count and speak.
    fn hosts_act(&mut self) {
        let names: Vec<_> = self.hosts.keys().cloned().collect();
        let (now, engines) = (self.now, [Engine::Chain, Engine::Census]);
        for name in names {
            let mut said = Vec::new();
            let host = self.hosts.get_mut(&name).unwrap();
            host.done += host.speed;
            while host.done >= 1.0 {
                let mut steps = engines
                    .iter()
                    .map(|engine| (*engine, host.holder.step(*engine)));
                let Some((engine, Step::Task(index))) =
                    steps.find(|(_, step)| matches!(step, Step::Task(_)))
                else {
                    host.done = 0.0;
                    break;
                };
                host.done -= 1.0;
                let plan = self
                    .plans
                    .iter()
                    .find(|plan| plan.engine() == engine)
                    .unwrap();
                let task = plan.key(index);
                let result = result(task, tally(task), STEP.as_secs_f64() / host.speed);
                host.holder.measure(&result);
                host.holder.record(now, Finding::Result(result.clone()));
                self.counted += 1;
            }
            if !host.is_welcome {
                let is_due = |at: Duration| now - at >= Duration::from_secs(1);
                if host.said_hello.is_none_or(is_due) {
                    host.said_hello = Some(now);
                    let facts = serde_json::to_string(&facts(&name)).unwrap();
                    let names = self.offer.plans.names.clone();
                    said.push(Up::Hello(host.holder.hello(facts, names)));
                }
            } else if !host.is_slow_to_answer {
                said = host.holder.speak(now);
            }
            for up in said {
                let bytes = encode(&up);
                self.post(|| Mail::Up(name.clone(), bytes.clone()));
            }
        }
    }

    fn accidents(&mut self) {
        if self.random.u32(0..1000) < self.weather.deaths && self.hosts.len() > 1 {
            let at = self.random.usize(0..self.hosts.len());
            let name = self.hosts.keys().nth(at).unwrap().clone();
            let gone = self.hosts.remove(&name).unwrap();
            self.join(gone.speed);
        }
        if self.random.u32(0..1000) < self.weather.falls {
            self.restart();
        }
    }

    /// The coordinator is gone, and another one begins with what is committed.
    fn restart(&mut self) {
        self.series += 1;
        let next = coordinator(&self.plans, &self.offer, &self.ledger, self.series);
        self.coordinator = next.after(&self.given).twice(&self.all_wanted());
    }

    /// Whether a task that one has counted is to be counted by another.
    fn is_wanted(&self, task: TaskKey) -> bool {
        !self.trusting || self.ledger.len() < TRUSTED || task.index.is_multiple_of(4)
    }

    fn all_wanted(&self) -> Vec<(TaskKey, BTreeSet<String>)> {
        let wanted = self.counted_by.iter();
        let wanted = wanted
            .filter(|(task, counted_by)| counted_by.len() == 1 && self.is_wanted(**task))
            .map(|(task, counted_by)| (*task, counted_by.clone()));
        wanted.collect()
    }

    /// Runs to the end. Returns the simulated time.
    fn run(&mut self) -> Duration {
        // A day.
        while self.end.is_none() {
            self.go();
            assert!(
                self.now < Duration::from_secs(86_400),
                "{:?}",
                self.happened
            );
        }
        self.now
    }

    fn go(&mut self) {
        self.step += 1;
        self.now += STEP;
        self.deliver();
        self.hosts_act();
        let effects = self.coordinator.tick(self.now);
        self.follow(effects);
        self.accidents();
    }

    fn tasks(&self) -> u64 {
        self.plans.iter().map(|plan| plan.tasks()).sum()
    }

    fn assert_exact(&self) {
        assert_eq!(self.end, Some(Finish::Done), "{:?}", self.happened);
        assert_eq!(self.ledger.len() as u64, self.tasks());
        assert!(self.ledger.iter().all(|(task, sum)| *sum == tally(*task)));
    }
}

fn coordinator(
    plans: &[Arc<dyn Plan>],
    offer: &Offer,
    ledger: &BTreeMap<TaskKey, Tally>,
    series: u32,
) -> Coordinator {
    let pools = plans.iter().map(|plan| {
        let mut done = TaskSet::default();
        let own = ledger.keys().filter(|task| task.engine == plan.engine());
        own.for_each(|task| {
            done.insert(task.index);
        });
        Pool::new(Arc::clone(plan), done)
    });
    Coordinator::new(offer.clone(), TIMES, pools.collect(), series)
}

const CALM: Weather = Weather {
    lost: 0,
    doubled: 0,
    late: 0,
    deaths: 0,
    falls: 0,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_task_is_recorded_once_in_any_weather(
        seed in any::<u64>(),
        lost in 0_u32..40,
        doubled in 0_u32..60,
        late in 0_u64..20,
        deaths in 0_u32..20,
        falls in 0_u32..10,
        speeds in prop::collection::vec(0.02_f64..30.0, 1..12),
    ) {
        let weather = Weather { lost, doubled, late, deaths, falls };
        let mut world = World::new(seed, weather, &speeds);
        world.run();
        world.assert_exact();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_task_is_counted_by_two_in_any_weather(
        seed in any::<u64>(),
        lost in 0_u32..40,
        doubled in 0_u32..60,
        late in 0_u64..20,
        deaths in 0_u32..20,
        falls in 0_u32..10,
        speeds in prop::collection::vec(0.02_f64..30.0, 2..12),
    ) {
        let weather = Weather { lost, doubled, late, deaths, falls };
        let mut world = World::new(seed, weather, &speeds);
        world.twice = true;
        world.run();
        world.assert_exact();
        prop_assert_eq!(world.counted_by.len() as u64, world.tasks());
        prop_assert!(world.counted_by.values().all(|counted_by| counted_by.len() > 1));
    }
}

#[test]
fn the_tasks_that_are_counted_by_two_may_become_fewer() {
    let weather = Weather {
        lost: 20,
        doubled: 20,
        late: 5,
        deaths: 5,
        falls: 5,
    };
    for weather in [CALM, weather] {
        let mut world = World::new(7, weather, &[1.0, 4.0, 8.0]);
        world.twice = true;
        world.trusting = true;
        world.run();
        world.assert_exact();
        let twice = |(task, counted_by): &(&TaskKey, &BTreeSet<String>)| {
            assert!(counted_by.len() > 1 || task.index % 4 != 0, "{task}");
            counted_by.len() > 1
        };
        let twice = world.counted_by.iter().filter(twice).count() as u64;
        let (half, all) = (world.tasks() / 2, world.tasks());
        assert!(twice < half, "{twice} of {all} tasks");
    }
}

#[test]
fn a_host_alone_does_not_end_a_run_that_is_counted_twice() {
    let mut world = World::new(1, CALM, &[8.0]);
    world.twice = true;
    while world.now < Duration::from_secs(3600) {
        world.go();
    }
    assert_eq!(
        (world.ledger.len() as u64, world.end.take()),
        (world.tasks(), None)
    );
    world.join(8.0);
    world.run();
    world.assert_exact();
    assert_eq!(world.counted, 2 * world.tasks());
}

#[test]
fn hosts_finish_together_and_little_is_counted_twice() {
    let speeds = [1.0, 2.0, 0.25, 8.0, 4.0, 0.5];
    let mut world = World::new(1, CALM, &speeds);
    let took = world.run();
    world.assert_exact();
    let ideal = STEP.as_secs_f64() * world.tasks() as f64 / speeds.iter().sum::<f64>();
    let took = took.as_secs_f64();
    assert!(took < 1.2 * ideal + 5.0, "{took} s, at least {ideal} s");
    let again = world.counted - world.tasks();
    assert!(
        again * 10 < world.tasks(),
        "{again} tasks were counted twice"
    );
}

#[test]
fn the_end_does_not_wait_for_the_slowest_host() {
    // It takes ten minutes for each task.
    let mut world = World::new(2, CALM, &[STEP.as_secs_f64() / 600.0, 4.0, 4.0]);
    let took = world.run();
    world.assert_exact();
    let fast = STEP.as_secs_f64() * world.tasks() as f64 / 8.0;
    // Ten seconds are for its last canary.
    assert!(
        took.as_secs_f64() < 1.2 * fast + 15.0,
        "{took:?}, {fast} s without it"
    );
}

#[test]
fn a_lease_that_is_not_renewed_goes_to_another_and_a_late_answer_does_no_harm() {
    let mut world = World::new(3, CALM, &[1.0, 1.0]);
    for _ in 0..40 {
        world.go();
    }
    let silent = world.hosts.keys().next().unwrap().clone();
    world.hosts.get_mut(&silent).unwrap().is_slow_to_answer = true;
    for _ in 0..90 {
        world.go();
    }
    let lost = |what: &EventKind| match what {
        EventKind::HostLeft { host, how } => *host == silent && how.contains("silent"),
        _ => false,
    };
    assert!(world.happened.iter().any(lost), "{:?}", world.happened);
    world.hosts.get_mut(&silent).unwrap().is_slow_to_answer = false;
    world.run();
    world.assert_exact();
}

#[test]
fn counts_that_differ_end_the_run_for_all() {
    let mut world = World::new(4, CALM, &[1.0, 1.0]);
    let task = world.plans[0].key(world.plans[0].tasks() / 2);
    let mut honest = tally(task);
    honest.completions.add(8, 5);
    // Somebody has recorded something else, and both hosts are asked for it.
    world.ledger.insert(task, honest);
    while world.end.is_none() {
        world.go();
    }
    assert!(matches!(world.end, Some(Finish::Failed(_))));
    world.go();
    let failed = |host: &Host| matches!(host.holder.finished(), Some(Finish::Failed(_)));
    assert!(world.hosts.values().all(failed));
}

#[test]
fn a_new_coordinator_leaves_workers_what_they_hold() {
    let mut world = World::new(5, CALM, &[1.0, 1.0, 1.0]);
    for _ in 0..60 {
        world.go();
    }
    world.restart();
    world.run();
    world.assert_exact();
    let again = world.counted - world.tasks();
    assert!(again < 20, "{again} tasks were counted twice");
}

/// Asks a coordinator in the name of a worker, and returns what it is told.
fn told(coordinator: &mut Coordinator, said: Up) -> Vec<Down> {
    let effects = coordinator.hear(Duration::from_secs(1), "worker", said);
    let told = effects.into_iter().filter_map(|effect| match effect {
        Effect::Tell(_, down) => Some(down),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_pause_gives_out_nothing_and_hosts_count_what_they_hold() {
    let mut world = World::new(7, CALM, &[2.0, 2.0]);
    for _ in 0..20 {
        world.go();
    }
    let shown = |world: &World| world.coordinator.hosts(world.now);
    let before: Vec<_> = shown(&world);
    assert!(before.iter().all(|host| host.tasks_held > 0), "{before:?}");
    world.coordinator.pause(true);
    for _ in 0..200 {
        world.go();
    }
    let paused = shown(&world);
    for (host, earlier) in paused.iter().zip(&before) {
        assert_eq!(host.tasks_held, 0, "{host:?}");
        assert!(host.tasks >= earlier.tasks + earlier.tasks_held, "{host:?}");
        assert!(host.joined > earlier.joined && host.nodes > 0, "{host:?}");
    }
    let counted = world.counted;
    assert!(counted < world.tasks(), "too short for this test");
    world.coordinator.pause(false);
    world.run();
    world.assert_exact();
}

#[test]
fn who_is_lost_is_seen_until_it_is_back_or_another_takes_its_place() {
    let plans = plans();
    let offer = offer(&plans);
    let mut state = coordinator(&plans, &offer, &BTreeMap::new(), 1);
    let key = offer.plans.key;
    let second = Duration::from_secs;
    let hello = |state: &mut Coordinator, now, worker: &str, host: &str| {
        let mut holder = Holder::new(plans.clone(), key, 1, 0);
        let facts = serde_json::to_string(&facts(host)).unwrap();
        let hello = holder.hello(facts, offer.plans.names.clone());
        state.hear(now, worker, Up::Hello(hello));
        for said in holder.speak(now) {
            state.hear(now, worker, said);
        }
    };
    let gone = |state: &Coordinator, now| -> Vec<_> {
        let gone = state.gone(now).into_iter();
        gone.map(|host| (host.host, host.gone, host.silent))
            .collect()
    };
    hello(&mut state, second(1), "a", "attic");
    hello(&mut state, second(2), "b", "barn");
    hello(&mut state, second(3), "c", "cellar");
    // In order.
    state.hear(second(4), "c", Up::Leave);
    assert_eq!(gone(&state, second(5)), []);
    state.tick(second(60));
    assert!(state.hosts(second(60)).is_empty());
    let lost = |host: &str, seconds| (host.to_owned(), Some(Gone::Lost), second(seconds));
    assert_eq!(
        gone(&state, second(71)),
        [lost("attic", 70), lost("barn", 69)]
    );
    // It was cut off for a while.
    hello(&mut state, second(80), "b", "barn");
    assert_eq!(gone(&state, second(81)), [lost("attic", 80)]);
    // It was started again, on the same host; one of another host changes nothing.
    hello(&mut state, second(82), "d", "den");
    assert_eq!(gone(&state, second(82)), [lost("attic", 81)]);
    hello(&mut state, second(83), "e", "attic");
    assert_eq!(gone(&state, second(84)), []);
    // Not for ever, and not without limit.
    for worker in 0..100 {
        let [worker, host] = ["worker", "host"].map(|name| format!("{name}{worker}"));
        hello(&mut state, second(100), &worker, &host);
    }
    state.tick(second(200));
    let left = gone(&state, second(200));
    assert_eq!(left.len(), 64);
    assert!(!left.contains(&lost("barn", 120)), "{left:?}");
}

#[test]
fn a_worker_of_another_plan_is_refused_by_name() {
    let plans = plans();
    let offer = offer(&plans);
    let mut state = coordinator(&plans, &offer, &BTreeMap::new(), 1);
    let mut holder = Holder::new(plans.clone(), offer.plans.key, 1, 0);
    let facts = serde_json::to_string(&facts("attic")).unwrap();
    let names = offer.plans.names.clone();
    let hello = holder.hello(facts, names);
    let refusal = |told: Vec<Down>| match &told[..] {
        [Down::Refused(why)] => why.clone(),
        other => panic!("{other:?}"),
    };
    let mut other = hello;
    other.plans.as_mut().unwrap().names[0] = "chain-0".to_owned();
    let why = refusal(told(&mut state, Up::Hello(other.clone())));
    for part in ["attic", "chain-0 and census-1", "chain-1 and census-1"] {
        assert!(why.contains(part), "{why}");
    }
    // The same names, and other tasks.
    other.plans.as_mut().unwrap().names[0] = "chain-1".to_owned();
    other.plans.as_mut().unwrap().key = RunKey::from(queenfold::ledger::Digest([1; 32]));
    let why = refusal(told(&mut state, Up::Hello(other)));
    assert!(why.contains("whose tasks differ"), "{why}");
    assert!(state.hosts(Duration::ZERO).is_empty());
    // Nobody who did not say hello is heard.
    let beat = holder.speak(Duration::from_secs(9)).remove(0);
    assert_eq!(told(&mut state, beat), [Down::Unknown]);
}

#[test]
fn a_lease_is_sized_by_the_speed_of_its_worker() {
    let mut world = World::new(6, CALM, &[0.5, 8.0]);
    let mut sizes: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for _ in 0..30 {
        world.go();
        for (_, mail) in &world.mail {
            if let Mail::Down(to, bytes) = mail
                && let Down::Lease(lease) = decode(bytes).unwrap()
            {
                sizes
                    .entry(to.clone())
                    .or_default()
                    .insert(lease.tasks().count());
            }
        }
    }
    let largest = |name: &str| sizes[name].last().copied().unwrap();
    assert!(largest("host2") >= 8 * largest("host1"), "{sizes:?}");
}
