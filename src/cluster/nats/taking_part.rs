//! A worker that takes part in a run: the thread that talks to the coordinator.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use async_nats::Client;
use futures_util::StreamExt;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};
use tracing::{debug, warn};

use super::deliver::deliver;
use super::shared::{Leases, Outbox, Shared};
use super::worker_settings::WorkerSettings;
use crate::actors::{Control, Flushed, Recorder, Source};
use crate::cluster::lease::{Down, Finish, LeaseTimes, Leftover, SessionKey, Up, decode};

/// How often a worker says hello until it is welcome.
pub(super) const HELLO: Duration = Duration::from_secs(1);

/// How often something is said without a reason.
const TICK: Duration = Duration::from_millis(50);

/// How long a worker that ends waits for receipts.
const LAST_RECEIPTS: Duration = Duration::from_secs(10);

/// How long a worker goes on with the tasks in hand, and its last canary, when everything is recorded.
const LAST_TASKS: Duration = Duration::from_secs(5);

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

/// Who takes part.
pub(super) struct Worker {
    pub(super) client: Client,
    pub(super) settings: WorkerSettings,
    /// Of the server.
    pub(super) user: String,
    pub(super) key: SessionKey,
    /// The plans by name.
    pub(super) names: Vec<String>,
    /// What it runs on, as JSON.
    pub(super) facts: String,
}

impl Worker {
    /// Its name in subjects.
    fn name(&self) -> String {
        format!("{}.{}", self.user, self.key.session())
    }
}

impl TakingPart {
    /// Begins to take part. `leftovers`: what workers before this one left. `control`: of the run of this worker.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub(super) fn begin(
        runtime: Runtime,
        worker: Worker,
        shared: Shared,
        leftovers: Vec<Leftover>,
        control: Control,
    ) -> io::Result<Self> {
        let shared = Arc::new(shared);
        let link = Link {
            shared: Arc::clone(&shared),
            worker,
            control,
            drained: false,
            finished: None,
        };
        let thread = Builder::new().name("link".to_owned()).spawn(move || {
            let end = runtime.block_on(async {
                for left in leftovers {
                    let Worker {
                        client,
                        settings,
                        user,
                        ..
                    } = &link.worker;
                    let (run, note) = (settings.run.clone(), Arc::clone(&settings.note));
                    tokio::spawn(deliver(client.clone(), run, user.clone(), left, note));
                }
                link.run().await
            });
            runtime.shutdown_timeout(Duration::from_millis(100));
            end
        })?;
        Ok(Self { shared, thread })
    }

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

/// The thread that talks to the coordinator.
struct Link {
    shared: Arc<Shared>,
    worker: Worker,
    control: Control,
    drained: bool,
    finished: Option<Instant>,
}

impl Link {
    async fn run(mut self) -> LinkEnd {
        let mut refused = None;
        let subscribed = self
            .worker
            .client
            .subscribe(self.worker.settings.run.down(&self.worker.name()));
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
                            is_welcome = true;
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
                () = self.shared.wake.notified() => {}
                () = sleep(TICK) => {}
            }
        }
        self.farewell(refused).await
    }

    async fn hello(&self) {
        let hello = self
            .shared
            .holder
            .lock()
            .hello(self.worker.facts.clone(), self.worker.names.clone());
        self.say(&Up::Hello(hello)).await;
    }

    async fn speak(&self) {
        let said = {
            let mut holder = self.shared.holder.lock();
            holder.pause(self.shared.now(), self.control.is_paused());
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
        let subject = self.worker.settings.run.up(&self.worker.name());
        // While there is no connection, a few messages wait for one; what is lost is said again.
        let sent = self
            .worker
            .client
            .publish(subject, self.worker.key.seal(up).into());
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
            Down::Lease(lease) => self.shared.holder.lock().take(&lease),
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
            self.control.drain();
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
        let _ = timeout(HELLO, self.worker.client.flush()).await;
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
