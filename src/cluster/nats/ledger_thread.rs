//! The thread that writes to the ledger what workers delivered.

use std::io;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, Receiver, RecvTimeoutError, Sender};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::actors::Finding;
use crate::ledger::{Facts, Intake, IntakeError, LedgerError, Written};

/// How long deliveries wait for others, so that a commit has more than one.
const GATHER: Duration = Duration::from_millis(250);

/// What the thread did.
pub enum Done {
    /// It committed this. The numbers are those that came with the deliveries.
    Written(Written, Vec<(String, u64)>),
    /// It could not, and writes no more.
    Failed(IntakeError),
}

enum Order {
    Join(String, Facts),
    Write {
        worker: String,
        items: Vec<Finding>,
        number: u64,
        urgent: bool,
    },
    Leave(String, bool),
}

/// The thread. It ends when this is dropped or closed.
pub struct LedgerThread {
    orders: Sender<Order>,
    thread: JoinHandle<Result<(), LedgerError>>,
}

impl LedgerThread {
    /// Starts it. What it did comes through the channel.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(intake: Intake) -> io::Result<(Self, UnboundedReceiver<Done>)> {
        let (orders, inbox) = channel::unbounded();
        let (tell, done) = unbounded_channel();
        let thread = Builder::new()
            .name("ledger".to_owned())
            .spawn(move || serve(intake, &inbox, &tell))?;
        Ok((Self { orders, thread }, done))
    }

    /// A worker takes part.
    pub fn join(&self, worker: &str, facts: Facts) {
        self.order(Order::Join(worker.to_owned(), facts));
    }

    /// A worker delivered this. `urgent`: it is committed at once.
    pub fn write(&self, worker: String, items: Vec<Finding>, number: u64, urgent: bool) {
        self.order(Order::Write {
            worker,
            items,
            number,
            urgent,
        });
    }

    /// A worker takes part no longer. `in_order`: its last canary was right.
    pub fn leave(&self, worker: &str, in_order: bool) {
        self.order(Order::Leave(worker.to_owned(), in_order));
    }

    fn order(&self, order: Order) {
        // If the thread has ended, it has said why.
        let _ = self.orders.send(order);
    }

    /// Commits what is left, and ends.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn close(self) -> Result<(), IntakeError> {
        drop(self.orders);
        match self.thread.join() {
            Ok(closed) => Ok(closed?),
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn serve(
    mut intake: Intake,
    inbox: &Receiver<Order>,
    tell: &UnboundedSender<Done>,
) -> Result<(), LedgerError> {
    let mut batch: Vec<(String, Vec<Finding>)> = Vec::new();
    let mut receipts: Vec<(String, u64)> = Vec::new();
    let mut left: Vec<(String, bool)> = Vec::new();
    let mut due: Option<Instant> = None;
    loop {
        let order = match due {
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => inbox.recv_deadline(at),
        };
        let is_over = matches!(order, Err(RecvTimeoutError::Disconnected));
        match order {
            Ok(Order::Join(worker, facts)) => {
                left.retain(|(other, _)| *other != worker);
                if let Err(error) = intake.join(&worker, facts) {
                    let _ = tell.send(Done::Failed(error.into()));
                    return Ok(());
                }
            }
            Ok(Order::Write {
                worker,
                items,
                number,
                urgent,
            }) => {
                receipts.push((worker.clone(), number));
                batch.push((worker, items));
                let wait = if urgent { Duration::ZERO } else { GATHER };
                let at = Instant::now() + wait;
                due = Some(due.map_or(at, |due| due.min(at)));
            }
            Ok(Order::Leave(worker, in_order)) => left.push((worker, in_order)),
            Err(_) => {}
        }
        let now = Instant::now();
        // Deliveries that came meanwhile go along.
        if is_over || due.is_some_and(|at| at <= now && inbox.is_empty()) {
            if !batch.is_empty() {
                match intake.write(&batch) {
                    Ok(written) => {
                        let is_refused = |worker: &String| {
                            written.refused.iter().any(|(other, _)| other == worker)
                        };
                        receipts.retain(|(worker, _)| !is_refused(worker));
                        let _ = tell.send(Done::Written(written, std::mem::take(&mut receipts)));
                    }
                    Err(error) => {
                        let _ = tell.send(Done::Failed(error));
                        return Ok(());
                    }
                }
            }
            batch.clear();
            due = None;
        }
        if batch.is_empty() && !left.is_empty() {
            if let Err(error) = intake.leave(&left) {
                let _ = tell.send(Done::Failed(error.into()));
                return Ok(());
            }
            left.clear();
        }
        if is_over {
            return intake.close();
        }
    }
}
