//! A worker as an actor: an address, a state and a restart policy. It counts on a thread of its own,
//! because a busy handler would delay every timer and message of the run.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use actix::{Actor, AsyncContext, Context, Handler, Recipient};
use tracing::{dispatcher, error};

use super::cpu_worker::WorkerContext;
use super::lifeline::Lifeline;
use super::messages::{Counted, Ended, Leave, Left, LostBatch, RunFailed, Want};
use super::queue::Outlet;
use super::shared::RunShared;
use super::{EventKind, RunError, device_loop};

/// How many times a worker's thread is replaced before its death fails the run.
const RESTARTS: u32 = 8;

pub(super) struct Worker {
    pub(super) shared: Arc<RunShared>,
    pub(super) index: usize,
    pub(super) outlet: Outlet,
    /// The producer, for devices.
    pub(super) producer: (Recipient<Want>, Recipient<Leave>),
    pub(super) counted: Recipient<Counted>,
    pub(super) lost: Recipient<LostBatch>,
    pub(super) failure: Recipient<RunFailed>,
    pub(super) left: Recipient<Left>,
    pub(super) _lifeline: Lifeline,
    pub(super) threads: WorkerThreads,
}

/// What became of a worker's threads so far.
#[derive(Default)]
pub(super) struct WorkerThreads {
    running: Option<JoinHandle<()>>,
    restarts: u32,
}

impl Worker {
    /// The name of its thread and lane.
    fn name(&self) -> String {
        self.shared.worker_id(self.index).to_string()
    }

    fn start(&mut self, actor: Recipient<Ended>) {
        let context = WorkerContext {
            shared: Arc::clone(&self.shared),
            worker: self.index,
            name: self.name(),
            outlet: self.outlet.clone(),
            collector: self.counted.clone(),
            actor,
        };
        let dispatch = dispatcher::get_default(Clone::clone);
        let device = self.index.checked_sub(self.shared.workers);
        let (producer, failure) = (self.producer.clone(), self.failure.clone());
        let thread = thread::Builder::new().name(self.name()).spawn(move || {
            dispatcher::with_default(&dispatch, || match device {
                None => context.work(),
                Some(device) => device_loop::work(context, device, producer, failure),
            });
        });
        match thread {
            Ok(thread) => self.threads.running = Some(thread),
            Err(error) => self.give_up(format!("{} could not be started: {error}", self.name())),
        }
    }

    fn give_up(&mut self, why: String) {
        self.failure.do_send(RunFailed(RunError::Runtime(why)));
        self.leave();
    }

    fn leave(&mut self) {
        let worker = self.shared.worker_id(self.index);
        self.shared.observers.tell(EventKind::Gone { worker });
        self.left.do_send(Left { worker: self.index });
    }
}

impl Actor for Worker {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.start(context.address().recipient());
    }
}

impl Handler<Ended> for Worker {
    type Result = ();

    fn handle(&mut self, ended: Ended, context: &mut Self::Context) {
        // This was the thread's last message, so that joining it does not wait.
        let joined = self.threads.running.take().map(JoinHandle::join);
        if let Some(batch) = ended.batch {
            self.lost.do_send(LostBatch(batch));
        }
        let died = ended.died.or_else(|| match joined {
            Some(Err(_)) => Some("panic after its last batch".to_owned()),
            _ => None,
        });
        let Some(why) = died else {
            self.leave();
            return;
        };
        error!(worker = self.name(), "died: {why}");
        if self.threads.restarts == RESTARTS {
            let times = RESTARTS + 1;
            self.give_up(format!("{} died {times} times: {why}", self.name()));
        } else {
            self.threads.restarts += 1;
            self.start(context.address().recipient());
        }
    }
}
