//! A worker as an actor: an address, a state and a restart policy. It counts on a thread of its own,
//! because a busy handler would delay every timer and message of the run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, AsyncContext, Context, Handler, Recipient};
use tracing::{dispatcher, error};

use crate::actors::{
    Collector, Ended, EventKind, Outlet, Producer, RunError, RunLink, RunShared, ToRun,
    WorkerContext, WorkerIndex, device_loop,
};
use crate::system::threads;

/// How many times within [`HOUR`] a worker's thread is replaced before its death fails the run.
const RESTARTS: usize = 8;

/// Deaths that are longer ago are forgotten: a run may take months.
const HOUR: Duration = Duration::from_secs(60 * 60);

pub(crate) struct Worker {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) index: WorkerIndex,
    pub(crate) outlet: Outlet,
    /// For devices.
    pub(crate) producer: Addr<Producer>,
    pub(crate) collector: Addr<Collector>,
    pub(crate) run: RunLink,
    pub(crate) thread: Option<JoinHandle<()>>,
    /// When its threads died.
    pub(crate) deaths: VecDeque<Instant>,
}

/// Notes a death among those before it, the earliest first. Returns the number of deaths within the hour before `now`.
fn note_death(deaths: &mut VecDeque<Instant>, now: Instant) -> usize {
    deaths.push_back(now);
    deaths.retain(|death| now.duration_since(*death) < HOUR);
    deaths.len()
}

impl Worker {
    /// The name of its thread and lane.
    fn name(&self) -> String {
        self.shared.roster.id(self.index).to_string()
    }

    fn start(&mut self, actor: Recipient<Ended>) {
        let context = WorkerContext {
            shared: Arc::clone(&self.shared),
            worker: self.index,
            outlet: self.outlet.clone(),
            collector: self.collector.clone(),
            actor,
            is_restarted: !self.deaths.is_empty(),
        };
        let dispatch = dispatcher::get_default(Clone::clone);
        let device = self.shared.roster.device(self.index);
        let producer = self.producer.clone();
        let thread = threads::start(self.name(), move || {
            dispatcher::with_default(&dispatch, || {
                context.shared.observers.show_worker_thread();
                match device {
                    None => context.work(),
                    Some(device) => device_loop::work(&context, device, &producer),
                }
            });
        });
        match thread {
            Ok(thread) => self.thread = Some(thread),
            Err(error) => self.give_up(format!("{} could not be started: {error}", self.name())),
        }
    }

    fn give_up(&mut self, why: String) {
        self.run.do_send(ToRun::Failed(RunError::Runtime(why)));
        self.leave();
    }

    fn leave(&mut self) {
        let worker = self.shared.roster.id(self.index);
        self.shared.observers.tell(EventKind::Gone { worker });
        self.run.do_send(ToRun::Left);
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

    fn handle(&mut self, Ended(died): Ended, context: &mut Self::Context) {
        // This was the thread's last message, so that joining it does not wait.
        let joined = self.thread.take().map(JoinHandle::join);
        let died = died.or_else(|| match joined {
            Some(Err(_)) => Some("panic after its last batch".to_owned()),
            _ => None,
        });
        let Some(why) = died else {
            self.leave();
            return;
        };
        error!(worker = self.name(), "died: {why}");
        let times = note_death(&mut self.deaths, Instant::now());
        if times > RESTARTS {
            self.give_up(format!(
                "{} died {times} times within an hour: {why}",
                self.name()
            ));
        } else {
            self.start(context.address().recipient());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deaths_are_counted_by_the_hour() {
        let start = Instant::now();
        let mut deaths = VecDeque::new();
        let mut died =
            |minutes: u64| note_death(&mut deaths, start + Duration::from_secs(60 * minutes));
        assert_eq!((0..9).map(&mut died).last(), Some(9));
        // Only those of the last hour count.
        assert_eq!(died(61), 8);
        assert_eq!(died(1000), 1);
    }
}
