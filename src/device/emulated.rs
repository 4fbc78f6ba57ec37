//! The emulated device: host threads that run the kernels as C++.

#![expect(unsafe_code, reason = "calls of the kernels as C++")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Device, DeviceError, OpenError, Properties};
use crate::engine::{
    Completed, DeviceIdentity, DeviceKind, DeviceProgram, DeviceSpan, DeviceSpans, Launch, Ticket,
};

/// A kernel as a host function of `kernels/emulated.cpp`: runs one thread, as long as there are jobs
/// to take.
type HostKernel = unsafe extern "C" fn(
    variant: u32,
    jobs: *const u32,
    job_count: u32,
    tables: *const u32,
    sums: *const AtomicU64,
    progress: *const AtomicU32,
);

/// Declares the host functions of kernels, and finds them by the names of their entries.
macro_rules! host_kernels {
    ($($entry:literal => $function:ident),* $(,)?) => {
        unsafe extern "C" {
            $(fn $function(
                variant: u32,
                jobs: *const u32,
                job_count: u32,
                tables: *const u32,
                sums: *const AtomicU64,
                progress: *const AtomicU32,
            );)*
        }

        /// The host function of a program; `None` if it was not compiled for the host.
        fn host_kernel(program: &DeviceProgram) -> Option<HostKernel> {
            match program.entry() {
                $($entry => Some($function),)*
                _ => None,
            }
        }
    };
}

host_kernels! {
    "chain" => queenfold_emulated_chain,
    "colour" => queenfold_emulated_colour,
    "bit_board" => queenfold_emulated_bit_board,
    "node_layer" => queenfold_emulated_node_layer,
}

/// A device made of host threads: it runs the same kernel source, slowly and exactly.
pub struct Emulated {
    properties: Properties,
    settings: EmulatedSettings,
    opened: Instant,
    submitted: u64,
    to_worker: Option<Sender<Order>>,
    from_worker: Receiver<Completed>,
    cancelled: Arc<AtomicBool>,
    /// Launches that the worker has not reported yet.
    in_work: Arc<AtomicU32>,
    worker: Option<JoinHandle<()>>,
}

/// How an emulated device behaves.
#[derive(Clone, Debug)]
pub struct EmulatedSettings {
    /// Host threads for each launch, at least 1.
    pub threads: usize,
    /// Launches it can hold, at least 1.
    pub slots: usize,
}

impl Default for EmulatedSettings {
    fn default() -> Self {
        Self {
            threads: 1,
            slots: 4,
        }
    }
}

/// Opens one with so many host threads for each launch.
///
/// # Errors
/// None; a build without it has one.
pub fn open_emulated(threads: usize) -> Result<Box<dyn Device>, OpenError> {
    Ok(Box::new(Emulated::new(EmulatedSettings {
        threads,
        ..EmulatedSettings::default()
    })))
}

struct Order {
    ticket: Ticket,
    kernel: HostKernel,
    launch: Launch,
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
                    index: 0,
                    name: "emulated".to_owned(),
                },
                compute: None,
                memory: 0,
                multiprocessors: settings.threads as u32,
                shared_memory: None,
                watchdog: false,
                driver: String::new(),
            },
            settings,
            opened,
            submitted: 0,
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
        let program = launch.program();
        let kernel =
            host_kernel(&program).ok_or_else(|| DeviceError::NoKernel(program.to_string()))?;
        if self.in_work.load(Ordering::Relaxed) == 0 {
            self.cancelled.store(false, Ordering::Relaxed);
        }
        let ticket = Ticket(self.submitted);
        self.submitted += 1;
        let order = Order {
            ticket,
            kernel,
            launch: launch.clone(),
        };
        self.in_work.fetch_add(1, Ordering::Relaxed);
        let worker = self.to_worker.as_ref();
        if worker.is_none_or(|worker| worker.send(order).is_err()) {
            return Err(DeviceError::Lost("its thread ended".to_owned()));
        }
        Ok(ticket)
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
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
            kernel,
            launch,
        } = order;
        let start = opened.elapsed();
        let (sums, jobs_done) = run(kernel, &launch, cancelled, threads);
        let end = opened.elapsed();
        let at = |instant| DeviceSpan {
            start: instant,
            end: instant,
        };
        let completed = Completed {
            ticket,
            sums,
            jobs_done,
            stream: 0,
            spans: DeviceSpans {
                upload: at(start),
                kernel: DeviceSpan { start, end },
                download: at(end),
            },
        };
        in_work.fetch_sub(1, Ordering::Relaxed);
        if done.send(completed).is_err() {
            return;
        }
    }
}

/// Runs a launch on `threads` threads. Returns its sums and the number of jobs done.
fn run(
    kernel: HostKernel,
    launch: &Launch,
    cancelled: &AtomicBool,
    threads: usize,
) -> (Vec<u64>, u32) {
    let (variant, job_count) = (launch.program().variant(), launch.job_count());
    let sums: Vec<AtomicU64> = (0..launch.sums()).map(|_| AtomicU64::new(0)).collect();
    // Next job, jobs done: `Progress` of kernels/device.h.
    let progress = [AtomicU32::new(0), AtomicU32::new(0)];
    let running = AtomicU32::new(threads as u32);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (running, sums, progress) = (&running, &sums, &progress);
            scope.spawn(move || {
                let (jobs, tables) = (launch.jobs().as_ptr(), launch.tables().as_ptr());
                let (sums, progress) = (sums.as_ptr(), progress.as_ptr());
                // SAFETY: the function is the program's own, by name. Whoever made the program vouches for its layout,
                // by which `Launch::new` has checked every word that the kernel finds memory by, against as many
                // jobs, tables and sums as there are. The buffers outlive the scope; sums and progress are only
                // touched atomically.
                unsafe {
                    kernel(variant, jobs, job_count, tables, sums, progress);
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
