use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{
    Completed, Device, DeviceError, Kernel, Launch, Program, Properties, Span, Spans, Ticket,
};
use crate::engine::{DeviceIdentity, DeviceKind};

unsafe extern "C" {
    /// Runs one thread of the chain kernel (`kernels/emulated.cpp`).
    fn queenfold_emulated_chain(
        depth: u32,
        jobs: *const u32,
        job_count: u32,
        group_rows: *const u32,
        sums: *const AtomicU64,
        progress: *const AtomicU32,
    );

    /// Runs threads of the bit-board kernel until no node is left.
    fn queenfold_emulated_bit_board(
        nodes: *const u32,
        node_count: u32,
        start: *const u32,
        sums: *const AtomicU64,
        progress: *const AtomicU32,
    );

    /// Runs threads of the node-layer kernel until no node is left.
    fn queenfold_emulated_node_layer(
        nodes: *const u32,
        node_count: u32,
        n: *const u32,
        sums: *const AtomicU64,
        progress: *const AtomicU32,
    );
}

/// A device made of host threads: the same kernel source, slow and exact.
pub struct Emulated {
    properties: Properties,
    settings: EmulatedSettings,
    opened: Instant,
    submitted: u64,
    /// What `poll` will report, in order, before anything else.
    failing: VecDeque<DeviceError>,
    to_worker: Option<Sender<Order>>,
    from_worker: Receiver<Completed>,
    cancelled: Arc<AtomicBool>,
    /// Launches that the worker has not reported yet.
    in_work: Arc<AtomicU32>,
    worker: Option<JoinHandle<()>>,
}

/// Decides what goes wrong with a submission.
pub type Trouble = dyn Fn(u64, &Launch) -> Option<Fault> + Send + Sync;

/// How an emulated device behaves.
#[derive(Clone)]
pub struct EmulatedSettings {
    /// Its number.
    pub index: usize,
    /// Host threads for each launch, at least 1.
    pub threads: usize,
    /// Launches it can hold, at least 1.
    pub slots: usize,
    /// Asked at each submission, counted from 0 since the device was opened: what should go wrong.
    pub fault: Arc<Trouble>,
}

/// Something that goes wrong with a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory for it.
    OutOfMemory,
    /// No kernel can be made for it.
    NoKernel,
    /// It is taken, and the device is lost.
    Lost,
    /// It is taken, and never ends.
    Hangs,
    /// One of its sums is wrong: the last one, which belongs to the sampled job.
    WrongSum,
    /// One of its jobs is left out.
    JobMissing,
}

impl Default for EmulatedSettings {
    fn default() -> Self {
        Self {
            index: 0,
            threads: 1,
            slots: 4,
            fault: Arc::new(|_, _| None),
        }
    }
}

struct Order {
    ticket: Ticket,
    launch: Launch,
    fault: Option<Fault>,
}

impl Emulated {
    /// Opens one.
    pub fn new(settings: EmulatedSettings) -> Self {
        let opened = Instant::now();
        let (to_worker, orders) = channel::<Order>();
        let (done, from_worker) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let in_work = Arc::new(AtomicU32::new(0));
        let worker = thread::spawn({
            let cancelled = Arc::clone(&cancelled);
            let in_work = Arc::clone(&in_work);
            let threads = settings.threads;
            move || work(&orders, &done, &cancelled, &in_work, threads, opened)
        });
        Self {
            properties: Properties {
                identity: DeviceIdentity {
                    kind: DeviceKind::Emulated,
                    index: settings.index,
                    name: "emulated".to_owned(),
                },
                compute: None,
                memory: 0,
                multiprocessors: settings.threads as u32,
                driver: String::new(),
                compiler: "C++".to_owned(),
            },
            settings,
            opened,
            submitted: 0,
            failing: VecDeque::new(),
            to_worker: Some(to_worker),
            from_worker,
            cancelled,
            in_work,
            worker: Some(worker),
        }
    }
}

impl Device for Emulated {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn opened(&self) -> Instant {
        self.opened
    }

    fn slots(&self) -> usize {
        self.settings.slots
    }

    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError> {
        if !Program::all().any(|program| program == launch.program) {
            return Err(DeviceError::NoKernel(launch.program.to_string()));
        }
        if self.in_work.load(Ordering::Relaxed) == 0 {
            self.cancelled.store(false, Ordering::Relaxed);
        }
        let ticket = Ticket(self.submitted);
        let fault = (self.settings.fault)(self.submitted, launch);
        self.submitted += 1;
        match fault {
            Some(Fault::OutOfMemory) => return Err(DeviceError::OutOfMemory),
            Some(Fault::NoKernel) => return Err(DeviceError::NoKernel("as told".to_owned())),
            Some(Fault::Lost) => self
                .failing
                .push_back(DeviceError::Lost("as told".to_owned())),
            Some(Fault::Hangs) => {}
            fault => {
                let order = Order {
                    ticket,
                    launch: launch.clone(),
                    fault,
                };
                self.in_work.fetch_add(1, Ordering::Relaxed);
                let sent = self.to_worker.as_ref().map(|worker| worker.send(order));
                if !matches!(sent, Some(Ok(()))) {
                    return Err(DeviceError::Lost("its thread ended".to_owned()));
                }
            }
        }
        Ok(ticket)
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        if let Some(error) = self.failing.pop_front() {
            return Err(error);
        }
        match self.from_worker.recv_timeout(patience) {
            Ok(completed) => Ok(Some(completed)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(DeviceError::Lost("its thread ended".to_owned()))
            }
        }
    }

    fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        self.cancel();
        self.to_worker = None;
        if let Some(worker) = self.worker.take() {
            // A panic there has been reported as a lost device.
            let _ = worker.join();
        }
    }
}

fn work(
    orders: &Receiver<Order>,
    done: &Sender<Completed>,
    cancelled: &AtomicBool,
    in_work: &AtomicU32,
    threads: usize,
    opened: Instant,
) {
    while let Ok(order) = orders.recv() {
        let Order {
            ticket,
            launch,
            fault,
        } = order;
        let missing = u32::from(fault == Some(Fault::JobMissing)).min(launch.job_count);
        let start = opened.elapsed();
        let (mut sums, jobs_done) = run(&launch, launch.job_count - missing, cancelled, threads);
        let end = opened.elapsed();
        if let (Some(Fault::WrongSum), Some(last)) = (fault, sums.last_mut()) {
            *last += 1;
        }
        let at = |instant| Span {
            start: instant,
            end: instant,
        };
        let completed = Completed {
            ticket,
            sums,
            jobs_done,
            stream: 0,
            spans: Spans {
                upload: at(start),
                kernel: Span { start, end },
                download: at(end),
            },
        };
        in_work.fetch_sub(1, Ordering::Relaxed);
        if done.send(completed).is_err() {
            return;
        }
    }
}

/// Runs a launch on `threads` threads; what it gives is its sums and the number of jobs done.
fn run(launch: &Launch, job_count: u32, cancelled: &AtomicBool, threads: usize) -> (Vec<u64>, u32) {
    let sums: Vec<AtomicU64> = (0..launch.sums).map(|_| AtomicU64::new(0)).collect();
    // Next job, jobs done: `Progress` of kernels/device.h.
    let progress = [AtomicU32::new(0), AtomicU32::new(0)];
    let running = AtomicU32::new(threads as u32);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let (jobs, tables) = (launch.jobs.as_ptr(), launch.tables.as_ptr());
                let (sums, progress) = (sums.as_ptr(), progress.as_ptr());
                // SAFETY: the buffers are as long as the kernel takes them to be (a launch's jobs
                // name groups whose tables and sums it has, and `job_count` is how many they are),
                // they outlive the scope, and sums and progress are only touched atomically.
                unsafe {
                    match launch.program.kernel {
                        Kernel::Chain => {
                            let depth = launch.program.depth;
                            queenfold_emulated_chain(
                                depth, jobs, job_count, tables, sums, progress,
                            );
                        }
                        Kernel::BitBoard => {
                            queenfold_emulated_bit_board(jobs, job_count, tables, sums, progress);
                        }
                        Kernel::NodeLayer => {
                            queenfold_emulated_node_layer(jobs, job_count, tables, sums, progress);
                        }
                    }
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) > 0 {
                if cancelled.load(Ordering::Relaxed) {
                    progress[0].fetch_max(1 << 31, Ordering::Relaxed);
                    return;
                }
                thread::park_timeout(Duration::from_micros(200));
            }
        });
    });
    let [_, jobs_done] = progress;
    (
        sums.into_iter().map(AtomicU64::into_inner).collect(),
        jobs_done.into_inner(),
    )
}
