//! How a worker finds its run: it asks what is counted, and makes the plans.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::Client;
use futures_util::StreamExt;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use super::server::{Connection, ConnectionObserver, ServerError};
use super::shared::Shared;
use super::taking_part::{HELLO, TakingPart, Worker};
use super::worker_settings::WorkerSettings;
use crate::actors::Control;
use crate::board::GivenBoard;
use crate::cluster::lease::{
    Down, Hello, Holder, Journal, Offer, Plans, RunKey, SessionKey, Up, decode,
};
use crate::engine::{Engine, Plan};
use crate::job::plan;
use crate::ledger::{Facts, RunInfo, Shard, host_name, program};

/// How often the user hears that no coordinator answers.
const SILENCE: Duration = Duration::from_secs(60);

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
    /// The system refuses another thread.
    #[error("the thread that talks to the coordinator could not be started: {0}")]
    NoThread(io::Error),
}

/// A run that a worker has found.
pub struct FoundRun {
    runtime: Runtime,
    client: Client,
    settings: WorkerSettings,
    user: String,
    key_of_session: SessionKey,
    /// The board.
    pub board: GivenBoard,
    /// The plans, the counting one first.
    pub plans: Vec<Arc<dyn Plan>>,
    names: Vec<String>,
    key: RunKey,
}

impl FoundRun {
    /// Asks the coordinator of the run what is counted, however long it takes until there is one, and a server.
    ///
    /// # Errors
    /// The server refuses the worker, the coordinator has another program or other plans, or the worker is stopped.
    pub fn find(settings: WorkerSettings) -> Result<Self, WorkerError> {
        let server = &settings.server;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| server.error(error))?;
        let session = SessionKey::make().map_err(|error| server.error(error))?;
        let user = server.user_name()?;
        let name = format!("{user}.{}", session.session());
        let (client, offer) = runtime.block_on(async {
            let client = connect(&settings).await?;
            let offer = ask(&client, &settings, &session, &name).await?;
            Ok::<_, WorkerError>((client, offer))
        })?;
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
                        "the run has plan {name}, which this program, {}, does not make: it is counted by {}",
                        program(),
                        offer.program
                    )));
                }
            }
        }
        let key = RunInfo::new(board, &plans, Shard::WHOLE, String::new()).key();
        Ok(Self {
            runtime,
            client,
            user,
            key_of_session: session,
            board,
            names: offer.plans.names,
            plans,
            key: RunKey::from(key),
            settings,
        })
    }

    /// Takes part. `facts`: what the worker runs on. `control`: of the run of the worker.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn take_part(self, facts: &Facts, control: Control) -> Result<TakingPart, WorkerError> {
        let facts_text = serde_json::to_string(facts).unwrap_or_default();
        let hands = facts.workers as usize + facts.devices.len();
        let plans = Plans {
            names: self.names.clone(),
            key: self.key,
        };
        let folder = self.settings.journals.as_ref();
        let folder = folder.map(|folder| folder.join(self.settings.run.to_string()));
        let journal = folder.as_ref().and_then(|folder| {
            let made = Journal::create(folder, &self.key_of_session, &facts_text, &plans);
            let failed = |error: &std::io::Error| {
                (self.settings.note)(&format!("no journal in {}: {error}", folder.display()));
            };
            made.inspect_err(failed).ok()
        });
        let leftovers = folder.map(|folder| Journal::leftovers(&folder).unwrap_or_default());
        let mut leftovers = leftovers.unwrap_or_default();
        leftovers.retain(|left| left.plans == plans);
        let holder = Holder::new(self.plans.clone(), self.key, hands, 0);
        let worker = Worker {
            client: self.client,
            settings: self.settings,
            user: self.user,
            key: self.key_of_session,
            names: self.names,
            facts: facts_text,
        };
        TakingPart::begin(
            self.runtime,
            worker,
            Shared::new(holder, journal),
            leftovers,
            control,
        )
        .map_err(WorkerError::NoThread)
    }
}

/// Connects to the server as soon as it is there.
async fn connect(settings: &WorkerSettings) -> Result<Client, WorkerError> {
    let mut told: Option<Instant> = None;
    let note = Arc::clone(&settings.note);
    let url = settings.server.url_without_password();
    let observer: ConnectionObserver = Arc::new(move |happened| match happened {
        Connection::Lost => note(&format!(
            "{url} is away: this worker counts what it holds, and waits"
        )),
        Connection::Back => note(&format!("{url} is back")),
        Connection::Refused(why) => note(&format!("{url} refuses: {why}")),
    });
    loop {
        let connected = settings
            .server
            .connect("queenfold work", Arc::clone(&observer));
        match connected.await {
            Err(error) if error.is_away => {
                if told.is_none_or(|at| at.elapsed() >= SILENCE) {
                    told = Some(Instant::now());
                    (settings.note)(&format!("{error}; waiting for the server"));
                }
            }
            connected => return Ok(connected?),
        }
        if (settings.stopped)() {
            return Err(WorkerError::Stopped);
        }
        sleep(HELLO).await;
    }
}

/// Asks what is counted until somebody answers.
async fn ask(
    client: &Client,
    settings: &WorkerSettings,
    session: &SessionKey,
    name: &str,
) -> Result<Offer, WorkerError> {
    let failed = |error: &dyn std::fmt::Display| settings.server.error(error);
    let subscribed = client.subscribe(settings.run.down(name)).await;
    let mut down = subscribed.map_err(|error| failed(&error))?;
    let hello = Up::Hello(Hello {
        facts: serde_json::to_string(&Facts {
            host: host_name(),
            ..Facts::default()
        })
        .unwrap_or_default(),
        plans: None,
        first: 0,
        leases: Vec::new(),
    });
    let hello = session.seal(&hello);
    let since = Instant::now();
    let mut told = None;
    loop {
        let up = settings.run.up(name);
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
