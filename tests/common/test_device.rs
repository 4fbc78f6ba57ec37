//! A device for tests: it counts launches on a thread of its own, by plain recursion or as a test says.

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

/// What comes of a launch that may be cancelled: its sums, how many of its jobs were done, and how long a device that
/// only pretends to count takes for it.
pub type Counted = (Vec<u64>, u32, Option<Duration>);

/// The device.
pub struct TestDevice {
    properties: Properties,
    slots: usize,
    opened: Instant,
    submitted: u64,
    orders: Sender<Order>,
    done: Receiver<Completed>,
    /// Whether the launches that were submitted last are to end.
    cancelled: Arc<AtomicBool>,
}

/// A launch, when it was given, and whether it is cancelled.
type Order = (Ticket, Launch, Duration, Arc<AtomicBool>);

impl TestDevice {
    /// Opens one that holds so many launches, and knows the kernels `chain` and `node_layer`.
    pub fn new(slots: usize) -> Self {
        Self::that_counts(slots, count)
    }

    /// The same that counts so.
    pub fn that_counts(
        slots: usize,
        mut count: impl FnMut(&Launch, &AtomicBool) -> Counted + Send + 'static,
    ) -> Self {
        let opened = Instant::now();
        let (orders, ordered) = channel::<Order>();
        let (ready, done) = channel();
        thread::spawn(move || {
            let mut free = Duration::ZERO;
            for (ticket, launch, given, cancelled) in ordered {
                // A machine that is busy with tests must not slow down a device that pretends.
                let start = given.max(free);
                let (sums, mut jobs_done, takes) = count(&launch, &cancelled);
                let planned = takes.map(|takes| start + takes);
                while let Some(left) = planned.and_then(|end| end.checked_sub(opened.elapsed())) {
                    if cancelled.load(Ordering::Relaxed) {
                        jobs_done = 0;
                        break;
                    }
                    thread::sleep(left.min(Duration::from_millis(20)));
                }
                let end = planned.unwrap_or_else(|| opened.elapsed());
                free = end;
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
        let given = self.opened.elapsed();
        let order = (ticket, launch.clone(), given, Arc::clone(&self.cancelled));
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

/// Counts a launch until it is cancelled.
fn count(launch: &Launch, cancelled: &AtomicBool) -> Counted {
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
    (sums, done, None)
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
