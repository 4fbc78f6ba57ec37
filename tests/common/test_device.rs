//! A device for tests: it counts launches by plain recursion on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use queenfold::actors::DeviceSpec;
use queenfold::device::{Device, DeviceError, OwnerSettings, Properties};
use queenfold::engine::{
    Completed, DeviceIdentity, DeviceKernel, DeviceSpan, DeviceSpans, Launch, Ticket,
};

/// The device. It knows the kernels `chain` and `node_layer`.
pub struct TestDevice {
    properties: Properties,
    slots: usize,
    opened: Instant,
    submitted: u64,
    orders: Sender<(Ticket, Launch, Arc<AtomicBool>)>,
    done: Receiver<Completed>,
    /// Whether the launches that were submitted last are to end.
    cancelled: Arc<AtomicBool>,
}

impl TestDevice {
    /// Opens one that holds so many launches.
    pub fn new(slots: usize) -> Self {
        let opened = Instant::now();
        let (orders, ordered) = channel::<(Ticket, Launch, Arc<AtomicBool>)>();
        let (ready, done) = channel();
        thread::spawn(move || {
            for (ticket, launch, cancelled) in ordered {
                let start = opened.elapsed();
                let (sums, jobs_done) = count(&launch, &cancelled);
                let end = opened.elapsed();
                let at = |start, end| DeviceSpan { start, end };
                let completed = Completed {
                    ticket,
                    sums,
                    jobs_done,
                    stream: 0,
                    spans: DeviceSpans {
                        upload: at(start, start),
                        kernel: at(start, end),
                        download: at(end, end),
                    },
                };
                if ready.send(completed).is_err() {
                    return;
                }
            }
        });
        Self {
            properties: Properties {
                identity: DeviceIdentity {
                    kernel: DeviceKernel::Cuda,
                    index: 0,
                    name: "test device".to_owned(),
                },
                compute: None,
                memory: 0,
                multiprocessors: 1,
                shared_memory: None,
                watchdog: false,
                driver: String::new(),
            },
            slots,
            opened,
            submitted: 0,
            orders,
            done,
            cancelled: Arc::default(),
        }
    }
}

impl Default for TestDevice {
    fn default() -> Self {
        Self::new(4)
    }
}

impl Drop for TestDevice {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Device for TestDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn opened(&self) -> Instant {
        self.opened
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError> {
        let ticket = Ticket(self.submitted);
        self.submitted += 1;
        let order = (ticket, launch.clone(), Arc::clone(&self.cancelled));
        self.orders.send(order).unwrap();
        Ok(ticket)
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        Ok(self.done.recv_timeout(patience).ok())
    }

    fn cancel(&mut self) {
        std::mem::take(&mut self.cancelled).store(true, Ordering::Relaxed);
    }
}

/// The sums of a launch, and how many of its jobs were done before it was cancelled.
fn count(launch: &Launch, cancelled: &AtomicBool) -> (Vec<u64>, u32) {
    let mut sums = vec![0; launch.sums()];
    let words = launch.jobs().len() / launch.job_count() as usize;
    let (jobs, tables) = (launch.jobs().chunks(words), launch.tables());
    let is_chain = launch.program().entry() == "chain";
    let rows = launch.program().variant() as usize + 1;
    let mut done = 0;
    for job in jobs {
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        if is_chain {
            let group = job[3] as usize;
            let rows = &tables[group * rows..][..rows];
            chain(rows, job[0], job[1], job[2], &mut sums[2 * group..]);
        } else {
            node_layer(tables[0], job[0], job[1], job[2], &mut sums);
        }
        done += 1;
    }
    (sums, done)
}

/// Solutions and nodes of a job of the chain kernel. A row has a word: its free squares, and the way to the next row.
fn chain(rows: &[u32], columns: u32, up: u32, down: u32, sums: &mut [u64]) {
    let left = columns.count_zeros() as usize;
    if left == 0 {
        sums[0] += 1;
        return;
    }
    let gap = rows[rows.len() - left] & 3;
    let mut free = rows[rows.len() - 1 - left] & !(columns | up | down);
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        sums[1] += 1;
        chain(
            rows,
            columns | bit,
            (up | bit) << gap,
            (down | bit) >> gap,
            sums,
        );
    }
}

/// Nodes and solutions of a job of the kernel of `node-layer`.
fn node_layer(n: u32, left: u32, columns: u32, right: u32, sums: &mut [u64]) {
    let full = u32::MAX >> (32 - n);
    if columns == full {
        sums[1] += 1;
        return;
    }
    let mut free = full & !(left | columns | right);
    while free != 0 {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        sums[0] += 1;
        node_layer(
            n,
            (left | bit) << 1,
            columns | bit,
            (right | bit) >> 1,
            sums,
        );
    }
}

/// The device with these settings, as a run gets it.
pub fn device(settings: OwnerSettings) -> DeviceSpec {
    DeviceSpec {
        index: 0,
        name: "test device".to_owned(),
        open: Arc::new(|| Ok(Box::new(TestDevice::default()) as Box<dyn Device>)),
        settings,
    }
}

/// Settings for small boards: short launches from the first one on, so that a run has many, and patience with a
/// busy machine.
pub fn short_launches() -> OwnerSettings {
    OwnerSettings {
        batch_time: Duration::from_millis(50),
        first_cost: 0.0005,
        least_patience: Duration::from_secs(600),
        ..OwnerSettings::default()
    }
}
