//! A GPU that another process owns: a child of this one, with a context of its own. After an error that
//! sticks to this process, that is how a device is opened again.
//!
//! What it costs: the start of the process and of a second context, and a copy of each launch through a
//! pipe (docs/lab/2026-11-24.md). What it gives besides: a child can be killed with all its kernels.

use std::collections::VecDeque;
use std::io::{BufReader, BufWriter};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::CudaSettings;
use super::message::{self, Answer, Order};
use crate::device::{Device, DeviceError, OpenError, Properties};
use crate::engine::{Completed, Launch, Ticket};
use crate::system::processes::in_own_group;

/// The argument that makes this program the owner of a device; see [`serve_parent`](super::serve_parent).
const CHILD: &str = "own-device";

/// How long the child may take to open the device.
const OPENING: Duration = Duration::from_secs(60);

/// How long it may take to queue a launch, besides the compilation of a kernel.
const SUBMITTING: Duration = Duration::from_secs(20);

/// How long a killed child may take to end. The system takes the device from it, and its memory.
const ENDING: Duration = Duration::from_secs(5);

/// A device that a child owns.
pub(super) struct InChild {
    process: Process,
    properties: Properties,
    slots: usize,
    opened: Instant,
    orders: BufWriter<ChildStdin>,
    answers: Receiver<Answer>,
    completed: VecDeque<Completed>,
    submitting: Duration,
}

/// A child, which is killed when it is not needed any more.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // If it cannot be killed, it has ended by itself.
        let _ = self.0.kill();
        let begin = Instant::now();
        while let Ok(None) = self.0.try_wait()
            && begin.elapsed() < ENDING
        {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl InChild {
    /// Starts the child, which opens the device.
    ///
    /// # Errors
    /// The child does not start, or the device does not open.
    pub(super) fn open(settings: &CudaSettings) -> Result<Self, OpenError> {
        let program = settings.helper.as_ref().ok_or_else(|| {
            let why = "only another process can use the device, and this program can start none";
            OpenError(why.to_owned())
        })?;
        let mut command = Command::new(program);
        command
            .arg(CHILD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        // Ctrl-C is for this process, which then lets the child finish its launches.
        in_own_group(&mut command);
        let failed = |error| OpenError(format!("{}: {error}", program.display()));
        let mut process = Process(command.spawn().map_err(failed)?);
        let (Some(stdin), Some(stdout)) = (process.0.stdin.take(), process.0.stdout.take()) else {
            return Err(OpenError("a child process without pipes".to_owned()));
        };
        let mut orders = BufWriter::new(stdin);
        message::write(&mut orders, settings).map_err(failed)?;
        let answers = listen(stdout);
        match answers.recv_timeout(OPENING) {
            Ok(Answer::Opened {
                properties,
                slots,
                since,
            }) => Ok(Self {
                process,
                properties,
                slots,
                opened: Instant::now()
                    .checked_sub(since)
                    .unwrap_or_else(Instant::now),
                orders,
                answers,
                completed: VecDeque::new(),
                submitting: settings.compile_time + SUBMITTING,
            }),
            Ok(Answer::NotOpened(why)) => Err(OpenError(why)),
            Ok(other) => Err(OpenError(format!("the child process says {other:?}"))),
            Err(RecvTimeoutError::Timeout) => {
                let why = format!("the child process has not opened it after {OPENING:.0?}");
                Err(OpenError(why))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(OpenError("the child process has ended".to_owned()))
            }
        }
    }

    /// The next answer; `None` after `patience`.
    fn answer(&mut self, patience: Duration) -> Result<Option<Answer>, DeviceError> {
        match self.answers.recv_timeout(patience) {
            Ok(Answer::Failed(error)) => Err(error),
            Ok(answer) => Ok(Some(answer)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    fn ended(&mut self) -> DeviceError {
        // It has closed its output and ends soon.
        thread::sleep(Duration::from_millis(20));
        let how = match self.process.0.try_wait() {
            Ok(Some(status)) => status.to_string(),
            _ => "no answer".to_owned(),
        };
        DeviceError::Lost(format!("the process that owns it has ended: {how}"))
    }
}

/// Reads what the child says, until it ends.
fn listen(stdout: ChildStdout) -> Receiver<Answer> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        // What cannot be read ends the conversation, like the end of the child.
        while let Ok(Some(answer)) = message::read(&mut stdout) {
            if sender.send(answer).is_err() {
                return;
            }
        }
    });
    answers
}

impl Device for InChild {
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
        if message::write_launch(&mut self.orders, launch).is_err() {
            return Err(self.ended());
        }
        let begin = Instant::now();
        loop {
            let left = self.submitting.saturating_sub(begin.elapsed());
            match self.answer(left)? {
                Some(Answer::Submitted(ticket)) => return Ok(ticket),
                Some(Answer::NotSubmitted(error)) => return Err(error),
                Some(Answer::Completed(completed)) => self.completed.push_back(completed),
                Some(other) => return Err(unexpected(&other)),
                None => {
                    let why = format!("the process that owns it took no launch for {left:.0?}");
                    return Err(DeviceError::Lost(why));
                }
            }
        }
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        if let Some(completed) = self.completed.pop_front() {
            return Ok(Some(completed));
        }
        match self.answer(patience)? {
            Some(Answer::Completed(completed)) => Ok(Some(completed)),
            Some(other) => Err(unexpected(&other)),
            None => Ok(None),
        }
    }

    fn cancel(&mut self) {
        // A child that takes no order has ended, which `poll` reports.
        let _ = message::write(&mut self.orders, &Order::Cancel);
    }
}

fn unexpected(answer: &Answer) -> DeviceError {
    DeviceError::Lost(format!("the process that owns it says {answer:?}"))
}
