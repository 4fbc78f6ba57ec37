//! Runs a coordinator over a NATS server: what `serve` does.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::warn;

use super::ledger_thread::{Done, LedgerThread};
use super::server::{Connection, ConnectionObserver, Server, ServerError};
use super::subjects::{RunName, session, worker};
use crate::actors::{Control, EventKind, Observer, OutsideRun, RunState};
use crate::cluster::lease::{
    Bars, Coordinator, Down, Effect, Finish, Given, GivenLeases, LeaseTimes, Offer, Plans, Pool,
    RunKey, encode, unseal,
};
use crate::ledger::{Intake, IntakeError, Quorum, host_name, program};

/// How often leases are looked through.
const TICK: Duration = Duration::from_millis(200);

/// How often it is shown what the hosts do.
const SHOW: Duration = Duration::from_secs(1);

/// How long another coordinator of the same run may take to say that it is there.
const OTHER: Duration = Duration::from_secs(2);

/// What a coordinator needs besides the ledger.
pub struct CoordinatorSettings {
    /// The server.
    pub server: Server,
    /// The name of the run there.
    pub run: RunName,
    /// How leases are cut.
    pub times: LeaseTimes,
    /// Stops it, or pauses giving out tasks. Workers go on with what they hold, and wait for it.
    pub control: Control,
    /// Who hears what happens.
    pub observers: Vec<Arc<dyn Observer>>,
    /// The file in which it keeps which leases it has given.
    pub given: PathBuf,
    /// The file of the hosts that the owner of the run has paused or banned.
    pub bars: PathBuf,
    /// Which tasks are counted by two [parties](crate::ledger::party), if any are.
    pub twice: Option<Quorum>,
}

/// How the work of a coordinator ended, if nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinated {
    /// Every task is recorded. Otherwise it was stopped.
    pub is_whole: bool,
    /// The most CPU workers that took part at the same time.
    pub cpu_workers: u64,
}

/// Why a coordinator ended.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// The server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// Another one coordinates the run.
    #[error("the run {run} is coordinated by {by} already")]
    Taken {
        /// The run.
        run: String,
        /// Who.
        by: String,
    },
    /// Counts differ, or the ledger cannot be written.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// The file of the leases that were given cannot be read or written.
    #[error("{}: {why}", file.display())]
    Given {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: io::Error,
    },
    /// The system refuses another thread.
    #[error("the thread of the ledger could not be started: {0}")]
    NoThread(io::Error),
}

/// Coordinates the run of the ledger until everything is recorded.
///
/// # Errors
/// See [`CoordinatorError`]. What is committed stays.
///
/// # Panics
/// Within an asynchronous runtime.
pub fn coordinate(
    intake: Intake,
    settings: &CoordinatorSettings,
) -> Result<Coordinated, CoordinatorError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| settings.server.error(error))?;
    let done = runtime.block_on(run(intake, settings));
    // Requests that nobody waits for any more.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}

/// What a run counts, for its workers.
fn offer(intake: &Intake) -> Offer {
    let info = intake.info();
    Offer {
        program: program(),
        n: info.n(),
        given: info.board.names(),
        plans: Plans {
            names: info
                .plans
                .iter()
                .map(|plan| plan.name.to_string())
                .collect(),
            key: RunKey::from(info.key()),
        },
    }
}

async fn run(
    mut intake: Intake,
    settings: &CoordinatorSettings,
) -> Result<Coordinated, CoordinatorError> {
    let CoordinatorSettings { server, run, .. } = settings;
    let (tell, connection) = unbounded_channel();
    let observer: ConnectionObserver = Arc::new(move |happened| {
        // Nobody listens at the end of a run.
        let _ = tell.send(happened);
    });
    let client = server.connect("queenfold serve", observer).await?;
    refuse_second(&client, settings).await?;
    let refused = |error: &dyn std::fmt::Display| server.error(error);
    let asked = client.subscribe(run.coordinator()).await;
    let asked = asked.map_err(|error| refused(&error))?;
    let heard = client.subscribe(run.up("*.*")).await;
    let heard = heard.map_err(|error| refused(&error))?;
    let wanted = match settings.twice {
        Some(quorum) => intake.count_twice(quorum).map_err(IntakeError::from)?,
        None => Vec::new(),
    };
    let (given, before) = open_given(&settings.given)?;
    let plans = intake.plans().iter().map(|plan| {
        let done = intake.recorded().of(plan.engine());
        (Arc::clone(plan), done)
    });
    let plans: Vec<_> = plans.collect();
    let seen = OutsideRun::begin(
        plans.iter().cloned(),
        &settings.control,
        &settings.observers,
    );
    let pools = plans.into_iter().map(|(plan, done)| Pool::new(plan, done));
    let state = Coordinator::new(
        offer(&intake),
        settings.times,
        pools.collect(),
        fastrand::u32(1..),
    )
    .after(&before)
    .twice(&wanted);
    let (ledger, done) = LedgerThread::start(intake).map_err(CoordinatorError::NoThread)?;
    let mut serving = Serving {
        settings,
        client,
        state,
        ledger: Some(ledger),
        given,
        seen,
        last_trouble: String::new(),
        shown: Duration::ZERO,
        cpu_workers: 0,
        end: None,
    };
    serving.serve(heard, asked, done, connection).await
}

fn open_given(file: &Path) -> Result<(GivenLeases, Vec<Given>), CoordinatorError> {
    GivenLeases::open(file).map_err(|why| CoordinatorError::Given {
        file: file.to_owned(),
        why,
    })
}

/// Two coordinators of one run would confuse its workers.
async fn refuse_second(
    client: &Client,
    settings: &CoordinatorSettings,
) -> Result<(), CoordinatorError> {
    let asked = client.request(settings.run.coordinator(), "".into());
    match timeout(OTHER, asked).await {
        Ok(Ok(answer)) => Err(CoordinatorError::Taken {
            run: settings.run.to_string(),
            by: String::from_utf8_lossy(&answer.payload).into_owned(),
        }),
        _ => Ok(()),
    }
}

struct Serving<'a> {
    settings: &'a CoordinatorSettings,
    client: Client,
    state: Coordinator,
    ledger: Option<LedgerThread>,
    given: GivenLeases,
    seen: OutsideRun,
    /// What it refused last.
    last_trouble: String,
    /// When the hosts were shown.
    shown: Duration,
    cpu_workers: u64,
    end: Option<Finish>,
}

impl Serving<'_> {
    async fn serve(
        &mut self,
        mut heard: async_nats::Subscriber,
        mut asked: async_nats::Subscriber,
        mut done: UnboundedReceiver<Done>,
        mut connection: UnboundedReceiver<Connection>,
    ) -> Result<Coordinated, CoordinatorError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut failure = None;
        while self.end.is_none() && !self.seen.is_draining() {
            let now = self.seen.elapsed();
            let effects = tokio::select! {
                message = heard.next() => match message {
                    Some(message) => self.hear(now, &message),
                    None => return Err(self.settings.server.error("the connection is closed").into()),
                },
                Some(question) = asked.next() => {
                    self.say_who(question).await;
                    Vec::new()
                }
                Some(happened) = connection.recv() => {
                    self.note_connection(happened);
                    Vec::new()
                }
                done = done.recv() => match done {
                    Some(Done::Written(written, receipts)) => {
                        let mut effects = Vec::new();
                        written.withdrawn.iter().for_each(|task| self.seen.withdraw(*task));
                        self.seen.record(&written.recorded, self.state.hands() as usize);
                        for (worker, what) in &written.refused {
                            effects.extend(self.state.refuse(worker, what));
                        }
                        effects.extend(self.state.recorded(now, &written, &receipts));
                        effects
                    }
                    Some(Done::Failed(error)) => {
                        // Workers keep what they counted until a coordinator can write it. Only counts that
                        // differ end the run for them too.
                        let effects = match &error {
                            IntakeError::Disagreement { .. } => self.state.failed(&error.to_string()),
                            _ => vec![Effect::End(Finish::Failed(error.to_string()))],
                        };
                        failure = Some(error);
                        effects
                    }
                    None => break,
                },
                _ = ticks.tick() => {
                    self.state.pause(self.seen.is_paused());
                    let mut effects = Vec::new();
                    if now.saturating_sub(self.shown) >= SHOW {
                        self.shown = now;
                        effects = self.read_bars();
                        self.seen.show_hosts(self.state.hosts(now), self.state.gone(now));
                    }
                    effects.extend(self.state.tick(now));
                    effects
                }
            };
            self.follow(effects).await;
        }
        let now = self.seen.elapsed();
        self.seen
            .show_hosts(self.state.hosts(now), self.state.gone(now));
        if self.end.is_none() {
            self.seen.tell(EventKind::State(RunState::Draining));
        }
        let closed = self.ledger.take().map(LedgerThread::close);
        // What was said last should arrive.
        let _ = timeout(Duration::from_secs(1), self.client.flush()).await;
        let failure = failure.or_else(|| closed.and_then(Result::err));
        // What was written last may leave tasks to be counted.
        while let Ok(Done::Written(written, _)) = done.try_recv() {
            if written.leaves_tasks() {
                self.end = None;
            }
        }
        if let Some(error) = failure {
            let reason = error.to_string();
            self.seen.tell(EventKind::Failed { reason });
            self.seen.tell(EventKind::State(RunState::Failed));
            return Err(error.into());
        }
        let is_whole = self.end == Some(Finish::Done);
        self.seen.tell(EventKind::State(match is_whole {
            true => RunState::Finished,
            false => RunState::Stopped,
        }));
        Ok(Coordinated {
            is_whole,
            cpu_workers: self.cpu_workers,
        })
    }

    fn hear(&mut self, now: Duration, message: &Message) -> Vec<Effect> {
        let Some(worker) = worker(&message.subject) else {
            return Vec::new();
        };
        match unseal(session(worker), &message.payload) {
            Ok(said) => self.state.hear(now, worker, said),
            Err(why) => self.state.hear_unreadable(worker, why),
        }
    }

    fn read_bars(&mut self) -> Vec<Effect> {
        match Bars::read(&self.settings.bars) {
            Ok(bars) => self.state.bar(bars),
            Err(error) => {
                warn!("{}: {error}", self.settings.bars.display());
                Vec::new()
            }
        }
    }

    fn note_connection(&mut self, happened: Connection) {
        match happened {
            Connection::Lost => self.seen.tell(EventKind::ServerLost),
            Connection::Back => self.seen.tell(EventKind::ServerBack),
            // But not for each worker that it concerns.
            Connection::Refused(reason) => {
                if self.last_trouble != reason {
                    self.last_trouble.clone_from(&reason);
                    self.seen.tell(EventKind::ServerRefused { reason });
                }
            }
        }
    }

    async fn say_who(&self, question: Message) {
        if let Some(reply) = question.reply {
            let who = format!("process {} on {}", std::process::id(), host_name());
            let _ = self.client.publish(reply, who.into()).await;
        }
    }

    async fn follow(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Tell(worker, down) => self.tell(&worker, &down).await,
                Effect::Admit(worker, facts) => {
                    if let Some(ledger) = &self.ledger {
                        ledger.join(&worker, facts);
                    }
                    self.cpu_workers = self.cpu_workers.max(self.state.cpu_workers());
                }
                Effect::Grant(worker, lease) => {
                    // What cannot be noted is counted again, should the next coordinator not take it.
                    if let Err(error) = self.given.note(&worker, &lease) {
                        warn!("{}: {error}", self.settings.given.display());
                    }
                    self.tell(&worker, &Down::Lease(lease)).await;
                }
                Effect::Record(worker, items, number) => {
                    if let Some(ledger) = &self.ledger {
                        ledger.write(worker, items, number, self.state.is_urgent());
                    }
                }
                Effect::Dismiss { worker, in_order } => {
                    if let Some(ledger) = &self.ledger {
                        ledger.leave(&worker, in_order);
                    }
                }
                Effect::Happened(what) => self.seen.tell(what),
                Effect::End(finish) => self.end = Some(finish),
            }
        }
    }

    async fn tell(&self, worker: &str, down: &Down) {
        let subject = self.settings.run.down(worker);
        // What is lost is said again when the worker asks again.
        let _ = self.client.publish(subject, encode(down).into()).await;
    }
}
