//! A worker of a run: what `work` does besides counting. Where its tasks come from and where its results go.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Client;
use async_nats::jetstream::{self, consumer::pull};
use futures_util::StreamExt;
use parking_lot::Mutex;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::deliver::deliver;
use super::server::{Server, ServerError};
use super::subjects::RunName;
use super::way;
use crate::actors::{
    Flushed, OnCheckpoint, RecordError, Recorder, Restored, SickWorker, Source, Step, Supply, Walk,
};
use crate::board::GivenBoard;
use crate::cluster::lease::{
    Down, Finish, Hello, Holder, Item, Journal, Lease, LeaseTimes, Offer, Plans, RunKey, Up,
    decode, encode,
};
use crate::engine::{Correction, Engine, Plan, TaskKey, TaskResult};
use crate::job::plan;
use crate::ledger::{Facts, RunInfo, Shard, program};

/// How often a worker says hello until it is welcome.
const HELLO: Duration = Duration::from_secs(1);

/// How often the user hears that no coordinator answers.
const SILENCE: Duration = Duration::from_secs(60);

/// How often something is said without a reason.
const TICK: Duration = Duration::from_millis(50);

/// How long a worker that ends waits for receipts.
const LAST_RECEIPTS: Duration = Duration::from_secs(10);

/// How long a worker goes on with the tasks in hand, and its last canary, when everything is recorded.
const LAST_TASKS: Duration = Duration::from_secs(5);

/// What a worker needs to find its run.
#[derive(Clone)]
pub struct WorkerSettings {
    /// The server.
    pub server: Server,
    /// The name of the run there.
    pub run: RunName,
    /// Where journals are kept; `None`: nowhere, so that what has no receipt is lost with the process.
    pub journals: Option<PathBuf>,
    /// Tells the user something.
    pub note: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether the worker is to stop before it has found its run.
    pub stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Why a worker takes no part.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The coordinator refused it.
    #[error("the coordinator of run {run} refused this worker: {why}")]
    Refused {
        /// The run.
        run: String,
        /// Why.
        why: String,
    },
    /// The run has other plans than this program makes.
    #[error("{0}")]
    OtherPlans(String),
    /// It was stopped before it had found its run.
    #[error("stopped before a coordinator of the run answered")]
    Stopped,
}

/// A run that a worker has found.
pub struct FoundRun {
    runtime: Runtime,
    client: Client,
    settings: WorkerSettings,
    session: String,
    /// The board.
    pub board: GivenBoard,
    /// The plans, the counting one first.
    pub plans: Vec<Arc<dyn Plan>>,
    names: Vec<String>,
    key: RunKey,
}

impl FoundRun {
    /// Asks the coordinator of the run what is counted, however long it takes until there is one.
    ///
    /// # Errors
    /// There is no server, the coordinator has another program or other plans, or the worker is stopped.
    pub fn find(settings: WorkerSettings) -> Result<Self, WorkerError> {
        let server = &settings.server;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| server.error(error))?;
        let session = format!("{:016x}", fastrand::u64(..));
        let (client, offer) = runtime.block_on(async {
            let client = server.connect("queenfold work").await?;
            let offer = ask(&client, &settings, &session).await?;
            Ok::<_, WorkerError>((client, offer))
        })?;
        let run = settings.run.clone();
        let refused = |why: String| WorkerError::Refused {
            run: run.to_string(),
            why,
        };
        if offer.program != program() {
            return Err(refused(format!(
                "it is {}, and the run is counted by {}",
                program(),
                offer.program
            )));
        }
        let [queens, holes] = &offer.given;
        let board = GivenBoard::parse(offer.n, queens, holes)
            .map_err(|error| WorkerError::OtherPlans(error.to_string()))?;
        let mut plans = Vec::new();
        for name in &offer.plans.names {
            let engine = name.split('-').next().and_then(|name| name.parse().ok());
            let engine = engine.filter(|engine| *engine != Engine::Own);
            let own = engine.map(|engine: Engine| plan(engine, board));
            match own.filter(|own| own.name().to_string() == *name) {
                Some(own) => plans.push(own),
                None => {
                    return Err(WorkerError::OtherPlans(format!(
                        "the run has plan {name}, which this program, {}, does not make",
                        program()
                    )));
                }
            }
        }
        let key = RunInfo::new(board, &plans, Shard::WHOLE, String::new()).key();
        Ok(Self {
            runtime,
            client,
            session,
            board,
            names: offer.plans.names,
            plans,
            key: RunKey::from(key),
            settings,
        })
    }

    /// Takes part. `facts`: what the worker runs on. `drain`: ends the run of the worker.
    pub fn take_part(self, facts: &Facts, drain: impl Fn() + Send + 'static) -> TakingPart {
        let facts_text = serde_json::to_string(facts).unwrap_or_default();
        let hands = facts.workers as usize + facts.devices.len();
        let plans = Plans {
            names: self.names.clone(),
            key: self.key,
        };
        let folder = self.settings.journals.as_ref();
        let folder = folder.map(|folder| folder.join(self.settings.run.to_string()));
        let journal = folder.as_ref().and_then(|folder| {
            let made = Journal::create(folder, &self.session, &facts_text, &plans);
            let failed = |error: &std::io::Error| {
                (self.settings.note)(&format!("no journal in {}: {error}", folder.display()));
            };
            made.inspect_err(failed).ok()
        });
        let leftovers = folder.map(|folder| Journal::leftovers(&folder).unwrap_or_default());
        let mut leftovers = leftovers.unwrap_or_default();
        leftovers.retain(|left| left.plans == plans);
        let shared = Arc::new(Shared {
            holder: Mutex::new(Holder::new(self.plans.clone(), self.key, hands, 0)),
            journal: Mutex::new(journal),
            wake: Notify::new(),
            start: Instant::now(),
            flushes: Mutex::new(Vec::new()),
            on_checkpoint: Mutex::new(None),
            leaving: Mutex::new(None),
        });
        let link = Link {
            shared: Arc::clone(&shared),
            client: self.client,
            settings: self.settings,
            session: self.session,
            names: self.names,
            facts: facts_text,
            drain: Box::new(drain),
            drained: false,
            finished: None,
        };
        let runtime = self.runtime;
        let thread = Builder::new()
            .name("link".to_owned())
            .spawn(move || {
                let end = runtime.block_on(async {
                    for left in leftovers {
                        let (client, run) = (link.client.clone(), link.settings.run.clone());
                        let note = Arc::clone(&link.settings.note);
                        tokio::spawn(deliver(client, run, left, note));
                    }
                    link.run().await
                });
                runtime.shutdown_timeout(Duration::from_millis(100));
                end
            })
            .expect("a thread can be started");
        TakingPart { shared, thread }
    }
}

/// Asks what is counted until somebody answers.
async fn ask(
    client: &Client,
    settings: &WorkerSettings,
    session: &str,
) -> Result<Offer, WorkerError> {
    let failed = |error: &dyn std::fmt::Display| settings.server.error(error);
    let subscribed = client.subscribe(settings.run.down(session)).await;
    let mut down = subscribed.map_err(|error| failed(&error))?;
    let hello = Up::Hello(Hello {
        program: program(),
        facts: serde_json::to_string(&Facts {
            host: crate::ledger::host_name(),
            ..Facts::default()
        })
        .unwrap_or_default(),
        plans: None,
        first: 0,
        leases: Vec::new(),
    });
    let hello = encode(&hello);
    let since = Instant::now();
    let mut told = None;
    loop {
        let up = settings.run.up(session);
        let sent = client.publish(up, hello.clone().into()).await;
        sent.map_err(|error| failed(&error))?;
        match timeout(HELLO, down.next()).await {
            Ok(Some(message)) => match decode::<Down>(&message.payload) {
                Ok(Down::Run(offer)) => return Ok(offer),
                Ok(Down::Refused(why)) => {
                    return Err(WorkerError::Refused {
                        run: settings.run.to_string(),
                        why,
                    });
                }
                Ok(_) => {}
                Err(why) => {
                    return Err(WorkerError::OtherPlans(format!("the coordinator: {why}")));
                }
            },
            Ok(None) => return Err(failed(&"the connection is closed").into()),
            Err(_) => {}
        }
        if (settings.stopped)() {
            return Err(WorkerError::Stopped);
        }
        let patience = if told.is_none() { HELLO * 3 } else { SILENCE };
        if told.unwrap_or(since).elapsed() >= patience {
            told = Some(Instant::now());
            (settings.note)(&format!(
                "no coordinator of run {} answers at {}; waiting for one",
                settings.run,
                settings.server.url_without_password()
            ));
        }
    }
}

/// A worker that takes part: the source of its tasks, and the recorder of its results.
pub struct TakingPart {
    shared: Arc<Shared>,
    thread: JoinHandle<LinkEnd>,
}

/// How the part of a worker ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkEnd {
    /// Why nothing more is to be counted, if the coordinator said so.
    pub finish: Option<Finish>,
    /// Why the coordinator refused the worker, if it did.
    pub refused: Option<String>,
    /// Results without a receipt. They are in the journal, if there is one.
    pub unreceipted: usize,
    /// The journal, if anything is in it.
    pub journal: Option<PathBuf>,
}

impl TakingPart {
    /// Where the tasks come from.
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::new(Leases(Arc::clone(&self.shared)))
    }

    /// Where the results go.
    pub fn recorder(&self) -> Arc<dyn Recorder> {
        Arc::new(Outbox(Arc::clone(&self.shared)))
    }

    /// Takes leave. Everything that was recorded has its receipt, or is in the journal.
    pub fn leave(self) -> LinkEnd {
        *self.shared.leaving.lock() = Some(Instant::now());
        self.shared.wake.notify_one();
        self.thread.join().unwrap_or_default()
    }
}

/// What the runtime and the link share.
struct Shared {
    holder: Mutex<Holder>,
    journal: Mutex<Option<Journal>>,
    wake: Notify,
    start: Instant,
    flushes: Mutex<Vec<(Instant, Flushed)>>,
    on_checkpoint: Mutex<Option<OnCheckpoint>>,
    /// Since when the worker takes leave.
    leaving: Mutex<Option<Instant>>,
}

impl Shared {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn note(&self, item: Item) {
        let number = self.holder.lock().record(self.now(), item.clone());
        let mut journal = self.journal.lock();
        if let Some(open) = &mut *journal
            && let Err(error) = open.note(number, &item)
        {
            warn!("no journal any more: {}: {error}", open.path().display());
            *journal = None;
        }
    }
}

struct Leases(Arc<Shared>);

impl Source for Leases {
    fn open(&self, plan: &dyn Plan) -> Supply {
        Supply {
            walk: Box::new(LeaseWalk {
                shared: Arc::clone(&self.0),
                engine: plan.engine(),
            }),
            size: None,
            restored: Restored::default(),
        }
    }
}

struct LeaseWalk {
    shared: Arc<Shared>,
    engine: Engine,
}

impl Walk for LeaseWalk {
    fn step(&mut self) -> Step {
        let mut holder = self.shared.holder.lock();
        let step = holder.step(self.engine);
        if holder.is_low() && !holder.has_asked() {
            self.shared.wake.notify_one();
        }
        step
    }
}

struct Outbox(Arc<Shared>);

impl Recorder for Outbox {
    fn record(&self, result: TaskResult) -> Result<(), RecordError> {
        self.0.holder.lock().measure(&result);
        self.0.note(Item::Counted((&result).into()));
        Ok(())
    }

    fn correct(&self, correction: Correction) -> Result<(), RecordError> {
        self.0.note(Item::corrected(&correction));
        Ok(())
    }

    fn withdraw(&self, task: TaskKey) -> Result<(), RecordError> {
        self.0.note(Item::Withdrawn(task.engine, task.index));
        Ok(())
    }

    fn note_taken_out(&self, taken_out: &SickWorker) {
        self.0.note(Item::taken_out(taken_out));
    }

    fn on_checkpoint(&self, tell: OnCheckpoint) {
        *self.0.on_checkpoint.lock() = Some(tell);
    }

    fn flush(&self, flushed: Flushed) {
        self.0.flushes.lock().push((Instant::now(), flushed));
        self.0.wake.notify_one();
    }
}

/// The thread that talks to the coordinator.
struct Link {
    shared: Arc<Shared>,
    client: Client,
    settings: WorkerSettings,
    session: String,
    names: Vec<String>,
    facts: String,
    drain: Box<dyn Fn() + Send>,
    drained: bool,
    finished: Option<Instant>,
}

impl Link {
    async fn run(mut self) -> LinkEnd {
        let mut refused = None;
        let subscribed = self.client.subscribe(self.settings.run.down(&self.session));
        let mut down = match subscribed.await {
            Ok(down) => down,
            Err(error) => {
                self.end_run();
                return LinkEnd {
                    refused: Some(error.to_string()),
                    ..LinkEnd::default()
                };
            }
        };
        let context = jetstream::new(self.client.clone());
        let mut leases: Option<pull::Stream> = None;
        let mut is_welcome = false;
        let mut said_hello: Option<Instant> = None;
        loop {
            if is_welcome {
                self.speak().await;
            } else if said_hello.is_none_or(|at| at.elapsed() >= HELLO) {
                said_hello = Some(Instant::now());
                self.hello().await;
            }
            self.answer_flushes();
            if self.is_over() {
                break;
            }
            tokio::select! {
                message = down.next() => match message {
                    Some(message) => match decode::<Down>(&message.payload) {
                        Ok(Down::Welcome { lease_ms, work_ms }) => {
                            self.shared.holder.lock().set_times(LeaseTimes {
                                lease: Duration::from_millis(lease_ms),
                                work: Duration::from_millis(work_ms),
                            });
                            match way::leases(&context, &self.settings.run, &self.session).await {
                                Ok(way) => (leases, is_welcome) = (Some(way), true),
                                Err(error) => debug!("no leases: {error}"),
                            }
                        }
                        Ok(Down::Unknown) => (is_welcome, said_hello) = (false, None),
                        Ok(Down::Refused(why)) => {
                            refused.get_or_insert(why);
                            self.end_run();
                        }
                        Ok(said) => self.hear(said),
                        Err(why) => debug!("the coordinator: {why}"),
                    },
                    None => break,
                },
                lease = next(&mut leases) => match lease {
                    Ok(message) => {
                        if let Ok(lease) = decode::<Lease>(&message.payload) {
                            self.shared.holder.lock().take(&lease);
                        }
                        // If this is lost, the lease comes again, and is known.
                        let _ = message.ack().await;
                    }
                    Err(error) => {
                        debug!("the way of the leases is lost: {error}");
                        (leases, is_welcome, said_hello) = (None, false, None);
                        // Not at once: the server may be gone.
                        sleep(TICK).await;
                    }
                },
                () = self.shared.wake.notified() => {}
                () = sleep(TICK) => {}
            }
        }
        self.farewell(refused).await
    }

    async fn hello(&self) {
        let hello =
            self.shared
                .holder
                .lock()
                .hello(program(), self.facts.clone(), self.names.clone());
        self.say(&Up::Hello(hello)).await;
    }

    async fn speak(&self) {
        let said = {
            let mut holder = self.shared.holder.lock();
            if !self.shared.flushes.lock().is_empty() {
                holder.hurry();
            }
            holder.speak(self.shared.now())
        };
        for up in &said {
            self.say(up).await;
        }
    }

    async fn say(&self, up: &Up) {
        let subject = self.settings.run.up(&self.session);
        // While there is no connection, a few messages wait for one; what is lost is said again.
        let sent = self.client.publish(subject, encode(up).into());
        if timeout(HELLO, sent).await.is_err() {
            debug!("the server takes no messages");
        }
    }

    fn hear(&mut self, said: Down) {
        let now = self.shared.now();
        match said {
            Down::Receipt(number) => {
                let (before, after, all) = {
                    let mut holder = self.shared.holder.lock();
                    let before = holder.first();
                    holder.receipt(now, number);
                    (before, holder.first(), holder.unreceipted() == 0)
                };
                if after == before {
                    return;
                }
                if let Some(journal) = &mut *self.shared.journal.lock()
                    && let Err(error) = journal.receipt(after, all)
                {
                    warn!("{}: {error}", journal.path().display());
                }
                if let Some(tell) = &*self.shared.on_checkpoint.lock() {
                    tell(after - before);
                }
            }
            Down::Revoked(ids) => self.shared.holder.lock().revoke(&ids),
            Down::Finish(finish) => {
                let is_failed = matches!(finish, Finish::Failed(_));
                self.shared.holder.lock().finish(finish);
                self.finished.get_or_insert_with(Instant::now);
                if is_failed {
                    self.end_run();
                }
            }
            Down::Run(_) | Down::Welcome { .. } | Down::Refused(_) | Down::Unknown => {}
        }
    }

    /// Ends the run of this worker.
    fn end_run(&mut self) {
        if !std::mem::replace(&mut self.drained, true) {
            (self.drain)();
        }
    }

    fn answer_flushes(&mut self) {
        // A long task is not waited for when everything is recorded.
        if self
            .finished
            .is_some_and(|since| since.elapsed() >= LAST_TASKS)
        {
            self.end_run();
        }
        let mut flushes = self.shared.flushes.lock();
        if flushes.is_empty() {
            return;
        }
        let none_left = self.shared.holder.lock().unreceipted() == 0;
        let is_late = |(since, _): &(Instant, Flushed)| since.elapsed() >= LAST_RECEIPTS;
        if none_left || self.drained || flushes.iter().any(is_late) {
            for (_, flushed) in flushes.drain(..) {
                // What has no receipt is in the journal.
                flushed.answer(Ok(()));
            }
        }
    }

    /// Whether this worker has taken leave, with everything receipted or nobody who gives receipts.
    fn is_over(&self) -> bool {
        let leaving = *self.shared.leaving.lock();
        let left = self.shared.holder.lock().unreceipted();
        leaving.is_some_and(|since| left == 0 || self.drained || since.elapsed() >= LAST_RECEIPTS)
    }

    async fn farewell(self, refused: Option<String>) -> LinkEnd {
        let unreceipted = self.shared.holder.lock().unreceipted();
        if refused.is_none() {
            self.say(&Up::Leave).await;
        }
        let _ = timeout(HELLO, self.client.flush()).await;
        let journal = self.shared.journal.lock().take();
        let journal = journal.and_then(|journal| match unreceipted {
            0 => {
                let path = journal.path().to_owned();
                journal.remove().err().map(|_| path)
            }
            _ => Some(journal.path().to_owned()),
        });
        LinkEnd {
            finish: self.shared.holder.lock().finished().cloned(),
            refused,
            unreceipted,
            journal,
        }
    }
}

/// The next lease, once there is a way for them.
async fn next(leases: &mut Option<pull::Stream>) -> Result<async_nats::jetstream::Message, String> {
    match leases {
        None => std::future::pending().await,
        Some(way) => match way.next().await {
            Some(message) => message.map_err(|error| error.to_string()),
            None => Err("it has ended".to_owned()),
        },
    }
}
