//! Clients that speak the protocol of leases and lie, and what the coordinator makes of it. No network is needed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use queenfold::actors::{EventKind, Finding, Gone, Step};
use queenfold::board::Size;
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::cluster::lease::{
    Bar, Bars, Beat, Coordinator, Down, Effect, Given, Hello, Holder, Lease, LeaseTimes, Offer,
    PROTOCOL, Plans, Pool, Report, RunKey, Unreadable, Up,
};
use queenfold::engine::{
    Correction, CountedBy, Engine, Origin, Plan, Tally, TaskResult, TaskSet, WorkerId,
};
use queenfold::ledger::{Facts, RunInfo, Shard, Written, program};

const NOW: Duration = Duration::from_secs(100);

/// A coordinator, and what it asked for last.
struct Run {
    plans: Vec<Arc<dyn Plan>>,
    offer: Offer,
    coordinator: Coordinator,
}

impl Run {
    /// A run of which an earlier coordinator has given these leases.
    fn new(given: &[Given]) -> Self {
        let n = Size::new(18).unwrap();
        let plans: Vec<Arc<dyn Plan>> =
            vec![Arc::new(ChainPlan::new(n)), Arc::new(CensusPlan::new(n))];
        let info = RunInfo::new(n, &plans, Shard::WHOLE, String::new());
        let offer = Offer {
            program: program(),
            n,
            given: [String::new(), String::new()],
            plans: Plans {
                names: plans.iter().map(|plan| plan.name().to_string()).collect(),
                key: RunKey::from(info.key()),
            },
        };
        let times = LeaseTimes {
            lease: Duration::from_secs(30),
            work: Duration::from_secs(20),
        };
        let pools = plans
            .iter()
            .map(|plan| Pool::new(Arc::clone(plan), TaskSet::default()))
            .collect();
        Self {
            coordinator: Coordinator::new(offer.clone(), times, pools, 1).after(given),
            plans,
            offer,
        }
    }

    fn say(&mut self, worker: &str, said: Up) -> Vec<Effect> {
        self.coordinator.hear(NOW, worker, said)
    }

    fn hello(&mut self, worker: &str, first: u64, leases: Vec<Lease>) -> Vec<Effect> {
        let facts = Facts {
            host: format!("host-of-{worker}"),
            workers: 1,
            ..Facts::default()
        };
        let hello = Hello {
            facts: serde_json::to_string(&facts).unwrap(),
            plans: Some(self.offer.plans.clone()),
            first,
            leases,
        };
        self.say(worker, Up::Hello(hello))
    }

    /// The lease that a worker is given, once it has joined.
    fn lease(&mut self, worker: &str) -> Lease {
        self.hello(worker, 0, Vec::new());
        let beat = self.beat(false);
        let effects = self.say(worker, beat);
        let granted = effects.into_iter().find_map(|effect| match effect {
            Effect::Grant(_, lease) => Some(lease),
            _ => None,
        });
        granted.unwrap()
    }

    /// A sign of life of a worker that wants a lease.
    fn beat(&self, paused: bool) -> Up {
        self.beat_of(&[], paused)
    }

    fn beat_of(&self, leases: &[u64], paused: bool) -> Up {
        Up::Beat(Beat {
            key: self.offer.plans.key,
            leases: leases.to_vec(),
            wants: !paused,
            paused,
            speeds: Vec::new(),
        })
    }

    fn report(&mut self, worker: &str, from: u64, items: Vec<Finding>) -> Vec<Effect> {
        let key = self.offer.plans.key;
        self.say(worker, Up::Report(Report { key, from, items }))
    }

    /// Results of a lease, or of some tasks of the same engine.
    fn results(&self, engine: Engine, tasks: impl IntoIterator<Item = u64>) -> Vec<Finding> {
        let plan = self.plans.iter().find(|plan| plan.engine() == engine);
        let plan = plan.unwrap();
        let result = |index| TaskResult {
            key: plan.key(index),
            tally: Tally::default(),
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu("scalar".into()),
            },
            audited_by: None,
            duration: Duration::from_millis(1),
        };
        tasks.into_iter().map(result).map(Finding::Result).collect()
    }
}

fn to_be_recorded(effects: &[Effect]) -> Vec<Finding> {
    let recorded = effects.iter().filter_map(|effect| match effect {
        Effect::Record(_, items, _) => Some(items.clone()),
        _ => None,
    });
    recorded.flatten().collect()
}

fn refusals(effects: &[Effect]) -> Vec<String> {
    let refused = effects.iter().filter_map(|effect| match effect {
        Effect::Happened(EventKind::HostRefused { host, reason }) => {
            Some(format!("{host}: {reason}"))
        }
        _ => None,
    });
    refused.collect()
}

/// Who left in order.
fn took_leave(effects: &[Effect]) -> Vec<String> {
    let left = effects.iter().filter_map(|effect| match effect {
        Effect::Dismiss {
            worker,
            in_order: true,
        } => Some(worker.clone()),
        _ => None,
    });
    left.collect()
}

fn is_refused(effects: &[Effect]) -> bool {
    let refused = |effect: &Effect| matches!(effect, Effect::Tell(_, Down::Refused(_)));
    effects.iter().any(refused)
}

#[test]
fn results_that_nobody_asked_for_are_not_recorded_and_their_sender_is_named() {
    let mut run = Run::new(&[]);
    run.hello("liar", 0, Vec::new());
    let forged = run.results(Engine::Chain, 0..run.plans[0].tasks());
    let effects = run.report("liar", 0, forged.clone());
    assert_eq!(to_be_recorded(&effects), []);
    let [line] = &refusals(&effects)[..] else {
        panic!("{effects:?}");
    };
    for part in ["host-of-liar", "session liar", "that it was not asked for"] {
        assert!(line.contains(part), "{line}");
    }
    // Nor are corrections, by which it could stop the run, and withdrawals.
    let Finding::Result(first) = &forged[0] else {
        panic!("no result");
    };
    let correction = Finding::Correction(Box::new(Correction {
        recorded: first.clone(),
        others: vec![first.clone()],
        decision: None,
    }));
    let items = vec![correction, Finding::Withdrawal(first.key)];
    let from = forged.len() as u64;
    assert_eq!(to_be_recorded(&run.report("liar", from, items)), []);
    // Those that it was asked for are taken.
    let lease = run.lease("honest");
    let mut items = run.results(lease.engine, lease.tasks());
    let asked = items.clone();
    items.extend(forged.into_iter().filter(|item| !asked.contains(item)));
    assert_eq!(to_be_recorded(&run.report("honest", 0, items)), asked);
}

#[test]
fn what_a_worker_reports_faster_than_it_is_written_is_not_taken() {
    let mut run = Run::new(&[]);
    let lease = run.lease("flood");
    let items = run.results(lease.engine, lease.tasks().take(1));
    let items: Vec<_> = items.into_iter().cycle().take(4096).collect();
    let mut from = 0;
    let mut taken = || {
        let mut taken = 0;
        for _ in 0..100 {
            let now = to_be_recorded(&run.report("flood", from, items.clone())).len() as u64;
            from += now;
            taken += now;
        }
        taken
    };
    let most = taken();
    assert_eq!((most, taken()), (65_536, 0));
    let written = Written::default();
    let receipt = [("flood".to_owned(), 4096)];
    run.coordinator.recorded(NOW, &written, &receipt);
    let mut again = || to_be_recorded(&run.report("flood", most, items.clone())).len();
    assert_eq!((again(), again()), (4096, 0));
}

#[test]
fn nobody_gets_a_lease_by_saying_that_it_has_one() {
    let mut run = Run::new(&[]);
    let invented = Lease {
        id: 77,
        engine: Engine::Chain,
        ranges: vec![(0, 3)],
    };
    let effects = run.hello("liar", 0, vec![invented]);
    let is_revoked =
        |effect: &Effect| matches!(effect, Effect::Tell(_, Down::Revoked(ids)) if *ids == [77]);
    assert!(effects.iter().any(is_revoked), "{effects:?}");
    let forged = run.results(Engine::Chain, 0..3);
    assert_eq!(to_be_recorded(&run.report("liar", 0, forged)), []);
}

#[test]
fn what_an_earlier_coordinator_asked_for_is_taken_and_nothing_else() {
    let lease = Lease {
        id: 7,
        engine: Engine::Chain,
        ranges: vec![(5, 3)],
    };
    let session = "known".to_owned();
    let mut run = Run::new(&[Given { session, lease }]);
    for (worker, expected) in [("known", 5..8), ("new", 0..0)] {
        run.hello(worker, 0, Vec::new());
        let items = run.results(Engine::Chain, 4..9);
        let taken = to_be_recorded(&run.report(worker, 0, items));
        assert_eq!(taken, run.results(Engine::Chain, expected), "{worker}");
    }
}

#[test]
fn leases_that_no_coordinator_gave_and_too_many_of_them_are_not_taken_over() {
    let of = |id: u64, first: u64| Lease {
        id,
        engine: Engine::Chain,
        ranges: vec![(first, 1)],
    };
    let session = "known".to_owned();
    let all = Lease {
        id: 7,
        engine: Engine::Chain,
        ranges: vec![(0, 50)],
    };
    let mut run = Run::new(&[Given {
        session,
        lease: all,
    }]);
    // Names that this coordinator is still to give begin with its series, 1.
    let later = 1 << 32 | 3;
    let mut leases = vec![of(later, 0)];
    leases.extend((1..20).map(|task| of(task, task)));
    let effects = run.hello("known", 0, leases);
    let revoked: Vec<u64> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Tell(_, Down::Revoked(ids)) => Some(ids.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(revoked[0], later);
    assert_eq!(revoked[1..], (8..20).collect::<Vec<u64>>());
}

#[test]
fn a_task_that_is_withdrawn_while_another_counts_it_again_is_free_once() {
    let mut run = Run::new(&[]);
    let lease = run.lease("one");
    let results = run.results(lease.engine, lease.tasks());
    let keys: Vec<_> = results.iter().map(|item| item.tasks()[0]).collect();
    let mut recorded: Vec<_> = results
        .iter()
        .filter_map(|item| match item {
            Finding::Result(result) => Some(result.into()),
            _ => None,
        })
        .collect();
    let party = BTreeSet::from(["host-of-one".to_owned()]);
    let first = Written {
        recorded: recorded.clone(),
        wanted: keys.iter().map(|key| (*key, party.clone())).collect(),
        ..Written::default()
    };
    run.coordinator.recorded(NOW, &first, &[]);
    // A second count.
    let second = run.lease("two");
    let task = second.tasks().next().unwrap();
    let at = keys.iter().position(|key| key.index == task).unwrap();
    let withdrawn = Written {
        withdrawn: vec![keys[at]],
        ..Written::default()
    };
    run.coordinator.recorded(NOW, &withdrawn, &[]);
    // What `two` counts is the first count now.
    let anew = Written {
        recorded: vec![recorded.swap_remove(at)],
        ..Written::default()
    };
    run.coordinator.recorded(NOW, &anew, &[]);
    for number in 0..20 {
        let lease = run.lease(&format!("other{number}"));
        assert!(lease.engine != second.engine || !lease.tasks().any(|other| other == task));
    }
}

#[test]
fn a_lost_worker_may_still_deliver_what_it_was_asked_for() {
    let mut run = Run::new(&[]);
    let lease = run.lease("late");
    run.coordinator.tick(NOW + Duration::from_secs(3600));
    run.hello("late", 0, Vec::new());
    let items = run.results(lease.engine, lease.tasks());
    assert_eq!(to_be_recorded(&run.report("late", 0, items.clone())), items);
}

#[test]
fn other_results_under_the_same_numbers_are_refused_and_the_session_is_named() {
    let mut run = Run::new(&[]);
    let lease = run.lease("victim");
    let items = run.results(lease.engine, lease.tasks());
    let mut forged = items.clone();
    let Finding::Result(first) = &mut forged[0] else {
        panic!("no result");
    };
    first.tally.completions.add(8, 1);
    run.report("victim", 0, forged);
    let effects = run.report("victim", 0, items);
    assert!(is_refused(&effects), "{effects:?}");
    let lines = refusals(&effects);
    for part in ["host-of-victim", "session victim", "two programs"] {
        assert!(lines[0].contains(part), "{lines:?}");
    }
    // Its canary proves nothing any more.
    run.lease("victim");
    let effects = run.say("victim", Up::Leave);
    assert_eq!(took_leave(&effects), Vec::<String>::new());
}

#[test]
fn what_was_not_compared_has_no_receipt() {
    let mut run = Run::new(&[]);
    let lease = run.lease("victim");
    let items = run.results(lease.engine, lease.tasks());
    // Somebody says in its name that much was delivered before.
    run.hello("victim", 1000, Vec::new());
    let effects = run.report("victim", 0, items);
    let receipt = |effect: &Effect| matches!(effect, Effect::Tell(_, Down::Receipt(_)));
    assert!(!effects.iter().any(receipt), "{effects:?}");
}

#[test]
fn the_same_once_more_has_its_receipt() {
    let mut run = Run::new(&[]);
    let lease = run.lease("parrot");
    let items = run.results(lease.engine, lease.tasks());
    run.report("parrot", 0, items.clone());
    let effects = run.report("parrot", 0, items);
    assert!(
        matches!(effects[..], [Effect::Tell(_, Down::Receipt(_))]),
        "{effects:?}"
    );
}

#[test]
fn noise_in_the_name_of_a_worker_expels_nobody_and_is_told_in_few_lines() {
    let mut run = Run::new(&[]);
    let lease = run.lease("victim");
    let mut lines = Vec::new();
    for _ in 0..20_000 {
        let effects = run
            .coordinator
            .hear_unreadable("victim", Unreadable::Garbage);
        assert!(!is_refused(&effects));
        lines.extend(refusals(&effects));
    }
    assert!((1..10).contains(&lines.len()), "{lines:?}");
    assert!(lines[0].contains("session victim") && lines[0].contains("no message"));
    // Nor does a message about another run.
    let key = RunKey::from(queenfold::ledger::Digest([1; 32]));
    let other = Report {
        key,
        from: 0,
        items: Vec::new(),
    };
    assert!(!is_refused(&run.say("victim", Up::Report(other))));
    let items = run.results(lease.engine, lease.tasks());
    assert_eq!(
        to_be_recorded(&run.report("victim", 0, items.clone())),
        items
    );
    // Who speaks another version hears something of this one, which does not harm the victim if it was somebody else.
    let other = Unreadable::Version(PROTOCOL + 1);
    for (worker, is_answered) in [("victim", false), ("new", true)] {
        let effects = run.coordinator.hear_unreadable(worker, other);
        let unknown = |effect: &Effect| matches!(effect, Effect::Tell(_, Down::Unknown));
        assert!(!is_refused(&effects));
        assert_eq!(effects.iter().any(unknown), is_answered, "{worker}");
    }
}

#[test]
fn a_worker_whose_receipt_overtook_its_hello_is_asked_where_it_begins() {
    let mut run = Run::new(&[]);
    let lease = run.lease("late");
    let items = run.results(lease.engine, lease.tasks());
    run.report("late", 0, items.clone());
    // It was taken for lost, and has said hello again before the receipt for what it delivered arrived.
    run.coordinator.tick(NOW + Duration::from_secs(3600));
    run.coordinator.recorded(
        NOW,
        &Written::default(),
        &[("late".to_owned(), items.len() as u64)],
    );
    run.hello("late", 0, vec![lease]);
    let effects = run.report("late", items.len() as u64, items);
    let unknown = |effect: &Effect| matches!(effect, Effect::Tell(_, Down::Unknown));
    assert!(effects.iter().any(unknown), "{effects:?}");
}

#[test]
fn a_paused_host_gets_nothing_and_a_banned_one_is_refused_until_it_is_allowed() {
    let mut run = Run::new(&[]);
    let lease = run.lease("anna.1");
    let mut bars = Bars::default();
    bars.set("host-of-bob.1", Some(Bar::Paused));
    bars.set("anna", Some(Bar::Banned));
    let effects = run.coordinator.bar(bars.clone());
    assert!(is_refused(&effects), "{effects:?}");
    assert!(is_refused(&run.hello("anna.2", 0, Vec::new())));
    let held = |run: &Run| -> Vec<(String, u64, bool)> {
        let hosts = run.coordinator.hosts(NOW).into_iter();
        hosts
            .map(|host| (host.host, host.tasks_held, host.paused))
            .collect()
    };
    run.hello("bob.1", 0, Vec::new());
    let beat = run.beat(false);
    run.say("bob.1", beat);
    assert_eq!(held(&run), [("host-of-bob.1".to_owned(), 0, true)]);
    let gone = |run: &Run| -> Vec<_> {
        let gone = run.coordinator.gone(NOW).into_iter();
        gone.map(|host| (host.host, host.gone)).collect()
    };
    // It may be started as often as it likes: it has one row for each name of its host.
    run.hello("anna.2", 0, Vec::new());
    let banned = |host: &str| (host.to_owned(), Some(Gone::Banned));
    let expected = [banned("host-of-anna.1"), banned("host-of-anna.2")];
    assert_eq!(gone(&run), expected);
    // What the banned one held goes to others.
    assert_eq!(run.lease("carl.1").ranges, lease.ranges);
    bars.set("anna", None);
    assert!(run.coordinator.bar(bars.clone()).is_empty());
    assert_eq!(gone(&run), []);
    assert!(!is_refused(&run.hello("anna.2", 0, Vec::new())));
    bars.set("host-of-bob.1", None);
    run.coordinator.bar(bars);
    run.lease("bob.1");
}

#[test]
fn a_worker_that_its_owner_has_paused_for_long_gives_up_what_it_holds() {
    let mut run = Run::new(&[]);
    let lease = run.lease("anna.1");
    let key = run.offer.plans.key;
    let mut holder = Holder::new(run.plans.clone(), key, 1, 0);
    holder.take(&lease);
    let leases = |holder: &mut Holder, seconds| {
        let now = Duration::from_secs(seconds);
        holder.pause(now, true);
        let said = holder.speak(now).into_iter();
        let mut beats = said.filter_map(|up| match up {
            Up::Beat(beat) => Some((beat.leases, beat.wants, beat.paused)),
            _ => None,
        });
        beats.next().unwrap()
    };
    assert_eq!(leases(&mut holder, 0), (vec![lease.id], false, true));
    assert_eq!(leases(&mut holder, 20), (Vec::new(), false, true));
    assert_eq!(
        holder.step(lease.engine),
        Step::Later(Duration::from_millis(10))
    );
    // The coordinator sees that it has them no longer.
    run.say("anna.1", run.beat_of(&[lease.id], false));
    run.say("anna.1", run.beat_of(&[], true));
    assert_eq!(run.coordinator.hosts(NOW)[0].tasks_held, 0);
    assert!(run.coordinator.hosts(NOW)[0].paused);
    assert_eq!(run.lease("bob.1").ranges, lease.ranges);
}

#[test]
fn only_a_worker_that_gave_signs_of_life_takes_leave() {
    let mut run = Run::new(&[]);
    run.lease("worker");
    let effects = run.say("worker", Up::Leave);
    assert_eq!(took_leave(&effects), ["worker"]);
    // The journal of one that was killed is delivered, and ends so, too.
    run.hello("killed", 0, Vec::new());
    let effects = run.say("killed", Up::Leave);
    assert_eq!(took_leave(&effects), Vec::<String>::new());
    // And this one is lost.
    run.lease("lost");
    let effects = run.coordinator.tick(NOW + Duration::from_secs(3600));
    assert_eq!(took_leave(&effects), Vec::<String>::new());
}

#[test]
fn a_result_that_is_withdrawn_further_on_is_not_recorded_and_one_after_that_is() {
    let mut run = Run::new(&[]);
    let lease = run.lease("sick");
    let [doubted] = &run.results(lease.engine, lease.tasks().take(1))[..] else {
        panic!("no task");
    };
    let task = doubted.tasks()[0];
    let again = doubted.clone();
    let items = vec![doubted.clone(), Finding::Withdrawal(task), again.clone()];
    let expected = [Finding::Withdrawal(task), again];
    assert_eq!(to_be_recorded(&run.report("sick", 0, items)), expected);
}

#[test]
fn what_is_withdrawn_and_counted_again_at_once_is_recorded() {
    let mut run = Run::new(&[]);
    let lease = run.lease("sick");
    let doubted: Vec<_> = run.results(lease.engine, lease.tasks());
    let task = doubted[0].tasks()[0];
    let Finding::Result(result) = &doubted[0] else {
        panic!("no result");
    };
    let written = Written {
        recorded: vec![result.into()],
        ..Written::default()
    };
    run.coordinator.recorded(NOW, &written, &[]);
    let again = Written {
        withdrawn: vec![task],
        ..written
    };
    run.coordinator.recorded(NOW, &again, &[]);
    // Nobody is asked for it once more.
    for number in 0..20 {
        let lease = run.lease(&format!("other{number}"));
        assert!(!(lease.engine == task.engine && lease.tasks().any(|other| other == task.index)));
    }
}
