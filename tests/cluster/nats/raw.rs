//! A worker whose every message a test writes: one that lies, repeats itself, or is late.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use futures_util::StreamExt;
use queenfold::actors::Finding;
use queenfold::board::Size;
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::cluster::lease::{
    Beat, Down, Hello, Lease, Plans, Report, RunKey, SessionKey, Up, decode,
};
use queenfold::engine::{CountedBy, CounterSettings, Engine, Origin, Plan, TaskResult, WorkerId};
use queenfold::ledger::{Facts, RunInfo, Shard};
use queenfold::simd::Isa;

/// The plans that raw workers count.
pub fn plans(n: u32) -> Vec<Arc<dyn Plan>> {
    let n = Size::new(n).unwrap();
    vec![Arc::new(ChainPlan::new(n)), Arc::new(CensusPlan::new(n))]
}

pub struct RawWorker {
    runtime: tokio::runtime::Runtime,
    client: Client,
    down: async_nats::Subscriber,
    /// Leases that came while something else was waited for.
    leases: VecDeque<Lease>,
    session: SessionKey,
    host: String,
    plans: Vec<Arc<dyn Plan>>,
    pub key: RunKey,
    /// The number of the next item.
    next: u64,
}

/// The key of the session that tests know by a name.
pub fn session_of(name: &str) -> SessionKey {
    let mut secret = [0; 32];
    secret[..name.len()].copy_from_slice(name.as_bytes());
    SessionKey::from_secret(secret)
}

impl RawWorker {
    /// A worker that has not said anything yet.
    pub fn connect(url: &str, name: &str, n: u32) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (client, down) = runtime.block_on(async {
            let client = async_nats::connect(url).await.unwrap();
            let down = format!("queenfold.test.down.any.{}", session_of(name).session());
            let down = client.subscribe(down).await.unwrap();
            client.flush().await.unwrap();
            (client, down)
        });
        let plans = plans(n);
        let info = RunInfo::new(plans[0].size(), &plans, Shard::WHOLE, String::new());
        Self {
            runtime,
            client,
            down,
            leases: VecDeque::new(),
            session: session_of(name),
            host: format!("host-of-{name}"),
            key: RunKey::from(info.key()),
            plans,
            next: 0,
        }
    }

    /// Waits until there is a coordinator, whatever it counts.
    pub fn join_any(url: &str) {
        let mut worker = Self::connect(url, "anybody", 12);
        let mut hello = worker.hello();
        hello.plans = None;
        let is_offer = |down| matches!(down, Down::Run(_)).then_some(());
        for _ in 0..100 {
            worker.say(&Up::Hello(hello.clone()));
            if worker
                .hear(Duration::from_millis(300))
                .and_then(is_offer)
                .is_some()
            {
                return;
            }
        }
        panic!("no coordinator");
    }

    /// A worker that takes part.
    pub fn join(url: &str, name: &str, n: u32) -> Self {
        let mut worker = Self::connect(url, name, n);
        worker.say_hello_until_welcome();
        worker
    }

    pub fn say_hello_until_welcome(&mut self) {
        for _ in 0..100 {
            self.say(&Up::Hello(self.hello()));
            while let Some(down) = self.hear(Duration::from_millis(300)) {
                match down {
                    Down::Welcome { .. } => return,
                    Down::Refused(why) => panic!("refused: {why}"),
                    _ => {}
                }
            }
        }
        panic!("never welcome");
    }

    pub fn hello(&self) -> Hello {
        let facts = Facts {
            host: self.host.clone(),
            workers: 1,
            ..Facts::default()
        };
        Hello {
            facts: serde_json::to_string(&facts).unwrap(),
            plans: Some(Plans {
                names: self
                    .plans
                    .iter()
                    .map(|plan| plan.name().to_string())
                    .collect(),
                key: self.key,
            }),
            first: self.next,
            leases: Vec::new(),
        }
    }

    pub fn say(&self, up: &Up) {
        self.say_as(&self.session, self.session.seal(up));
    }

    /// Says something in the name of a session, whoever it is.
    pub fn say_as(&self, session: &SessionKey, bytes: Vec<u8>) {
        let subject = format!("queenfold.test.up.any.{}", session.session());
        self.runtime.block_on(async {
            self.client.publish(subject, bytes.into()).await.unwrap();
            self.client.flush().await.unwrap();
        });
    }

    pub fn hear(&mut self, patience: Duration) -> Option<Down> {
        self.runtime.block_on(async {
            let message = tokio::time::timeout(patience, self.down.next()).await;
            let down = decode::<Down>(&message.ok()??.payload).unwrap();
            if let Down::Lease(lease) = &down {
                self.leases.push_back(lease.clone());
            }
            Some(down)
        })
    }

    /// The next lease, if one comes.
    fn next_lease(&mut self, patience: Duration) -> Option<Lease> {
        if self.leases.is_empty() {
            self.hear(patience);
        }
        self.leases.pop_front()
    }

    /// Waits for an answer that `is` wanted.
    pub fn await_answer<T>(&mut self, is: impl Fn(Down) -> Option<T>) -> T {
        for _ in 0..200 {
            if let Some(answer) = self.hear(Duration::from_millis(100)).and_then(&is) {
                return answer;
            }
        }
        panic!("no answer for {}", self.host);
    }

    pub fn beat(&self, leases: &[u64], wants: bool) {
        self.say(&Up::Beat(Beat {
            key: self.key,
            leases: leases.to_vec(),
            wants,
            paused: false,
            speeds: Vec::new(),
        }));
    }

    /// Asks until it has a lease of the counting plan.
    pub fn lease(&mut self) -> Lease {
        let mut held = Vec::new();
        loop {
            self.beat(&held, true);
            if let Some(lease) = self.next_lease(Duration::from_secs(1)) {
                if lease.engine == Engine::Chain {
                    return lease;
                }
                held.push(lease.id);
            }
        }
    }

    /// Counts what it is given until the run is done.
    pub fn count_until_done(&mut self) {
        let mut held = Vec::new();
        loop {
            self.beat(&held, true);
            if let Some(lease) = self.next_lease(Duration::from_millis(300)) {
                let results = self.count_all(&lease);
                held = vec![lease.id];
                self.report(&results, 1);
            }
            while let Some(down) = self.hear(Duration::from_millis(10)) {
                match down {
                    Down::Finish(_) => return self.say(&Up::Leave),
                    Down::Refused(why) => panic!("refused: {why}"),
                    _ => {}
                }
            }
        }
    }

    /// The result of a task, as it is.
    pub fn count(&self, engine: Engine, task: u64) -> TaskResult {
        let plan = self
            .plans
            .iter()
            .find(|plan| plan.engine() == engine)
            .unwrap();
        let settings = CounterSettings { isa: Isa::Portable };
        let tally = plan.counter(&settings).count(&plan.task(task)).unwrap();
        TaskResult {
            key: plan.key(task),
            tally,
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu("scalar".into()),
            },
            audited_by: None,
            duration: Duration::from_millis(1),
        }
    }

    /// The results of a lease.
    pub fn count_all(&self, lease: &Lease) -> Vec<TaskResult> {
        lease
            .tasks()
            .map(|task| self.count(lease.engine, task))
            .collect()
    }

    /// Reports results so many times, without waiting for a receipt.
    pub fn report(&mut self, results: &[TaskResult], times: u32) {
        let items = results.iter().map(|result| Finding::Result(result.clone()));
        self.report_items(items.collect(), times);
    }

    /// Reports anything.
    pub fn report_items(&mut self, items: Vec<Finding>, times: u32) {
        let number = items.len() as u64;
        let report = self.reported(items);
        self.next += number;
        for _ in 0..times {
            self.say(&report);
        }
    }

    /// What reports these items.
    pub fn reported(&self, items: Vec<Finding>) -> Up {
        Up::Report(Report {
            key: self.key,
            from: self.next,
            items,
        })
    }

    /// How many tasks a plan has.
    pub fn tasks(&self, engine: Engine) -> u64 {
        let mut plans = self.plans.iter();
        plans.find(|plan| plan.engine() == engine).unwrap().tasks()
    }

    /// Waits until everything that was reported has its receipt.
    pub fn await_receipt(&mut self) {
        let next = self.next;
        self.await_answer(|down| match down {
            Down::Receipt(number) if number >= next => Some(()),
            Down::Refused(why) => panic!("refused: {why}"),
            _ => None,
        });
    }

    /// Whether the server lets this user publish under a subject.
    pub fn may_publish(url: &str, user: (&str, &str), subject: &str) -> bool {
        Self::may(url, user, async |client| {
            let sent = client.publish(subject.to_owned(), "x".into()).await;
            sent.unwrap();
        })
    }

    /// Whether the server lets this user subscribe to a subject.
    pub fn may_hear(url: &str, user: (&str, &str), subject: &str) -> bool {
        Self::may(url, user, async |client| {
            // The subscription must live until the server has answered.
            std::mem::forget(client.subscribe(subject.to_owned()).await.unwrap());
        })
    }

    fn may(url: &str, (user, password): (&str, &str), asks: impl AsyncFnOnce(&Client)) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
        runtime.block_on(async {
            let options = async_nats::ConnectOptions::new();
            let options = options.user_and_password(user.to_owned(), password.to_owned());
            let options = options.event_callback(move |event| {
                let tell = tell.clone();
                async move {
                    let _ = tell.send(event.to_string());
                }
            });
            let client = options.connect(url).await.unwrap();
            asks(&client).await;
            client.flush().await.unwrap();
            let wait = Duration::from_millis(300);
            while let Ok(Some(event)) = tokio::time::timeout(wait, heard.recv()).await {
                if event.to_lowercase().contains("permissions violation") {
                    return false;
                }
            }
            true
        })
    }
}
