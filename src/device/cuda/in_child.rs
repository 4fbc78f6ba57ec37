//! A GPU that another process owns: a child of this one, with a context of its own. After an error that
//! sticks to this process, that is how a device is opened again.
//!
//! What it costs: the start of the process and of a second context, and a copy of each launch through a
//! pipe (docs/lab/2026-11-24.md). What it gives besides: a child can be killed with all its kernels.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::CudaSettings;
use super::child::{ENDING, Process, READING};
use super::compile::COMPILE_TIME;
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

/// A device that a child owns.
pub(super) struct InChild {
    process: Process,
    properties: Properties,
    slots: usize,
    opened: Instant,
    /// To the thread that writes what the child is told: a child that reads nothing must not stop this one.
    orders: Sender<Vec<u8>>,
    answers: Receiver<Answer>,
    last_words: LastWords,
    completed: VecDeque<Completed>,
    submitting: Duration,
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
            .stderr(Stdio::piped());
        // Ctrl-C is for this process, which then lets the child finish its launches.
        in_own_group(&mut command);
        let failed = |error| OpenError(format!("{}: {error}", program.display()));
        let mut process = Process(command.spawn().map_err(failed)?);
        let child = &mut process.0;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(OpenError("a child process without pipes".to_owned()));
        };
        let orders = speak(stdin);
        let mut words = Vec::new();
        message::write(&mut words, settings).map_err(failed)?;
        // If nothing can be written, the child has ended, which shows below.
        let _ = orders.send(words);
        let (answers, last_words) = (listen(stdout), LastWords::of(stderr));
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
                last_words,
                completed: VecDeque::new(),
                submitting: COMPILE_TIME + SUBMITTING,
            }),
            Ok(Answer::NotOpened(why)) => Err(OpenError(why)),
            Ok(other) => Err(OpenError(format!("the child process says {other:?}"))),
            Err(RecvTimeoutError::Timeout) => {
                let why = format!("the child process has not opened it after {OPENING:.0?}");
                Err(OpenError(why))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(OpenError(last_words.after("the child process has ended")))
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
        let how = match self.process.wait(ENDING) {
            Some(status) => status.to_string(),
            None => "no answer".to_owned(),
        };
        let what = format!("the process that owns it has ended: {how}");
        DeviceError::Lost(self.last_words.after(&what))
    }
}

/// Writes what the child is to be told, until it reads no more.
fn speak(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, orders) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for words in orders {
            if stdin
                .write_all(&words)
                .and_then(|()| stdin.flush())
                .is_err()
            {
                return;
            }
        }
    });
    sender
}

/// The last line that the child wrote to stderr.
struct LastWords {
    line: Arc<Mutex<String>>,
    /// Disconnected when the child can write no more and all is read.
    all_read: Receiver<()>,
}

impl LastWords {
    fn of(stderr: ChildStderr) -> Self {
        let line = Arc::new(Mutex::new(String::new()));
        let (sender, all_read) = channel();
        let shared = Arc::clone(&line);
        thread::spawn(move || {
            // A driver writes what it likes, not only UTF-8.
            for words in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                let words = String::from_utf8_lossy(&words);
                if !words.trim().is_empty() {
                    words.trim().clone_into(&mut shared.lock());
                }
            }
            drop(sender);
        });
        Self { line, all_read }
    }

    /// What happened, and what the child said last. It has closed its output.
    fn after(&self, what: &str) -> String {
        let _ = self.all_read.recv_timeout(READING);
        match &**self.line.lock() {
            "" => what.to_owned(),
            said => format!("{what}: {said}"),
        }
    }
}

/// Reads what the child says, until it ends.
fn listen(stdout: ChildStdout) -> Receiver<Answer> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        loop {
            let answer = match message::read(&mut stdout) {
                Ok(Some(answer)) => answer,
                Ok(None) => return,
                Err(error) => {
                    let why = format!(
                        "the process that owns it gave an answer that cannot be read: {error}"
                    );
                    let _ = sender.send(Answer::Failed(DeviceError::Lost(why)));
                    return;
                }
            };
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
        let order = message::launch_order(launch);
        let order = order.map_err(|error| DeviceError::Lost(error.to_string()))?;
        if self.orders.send(order).is_err() {
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
                    let why = format!(
                        "the process that owns it took no launch for {:.0?}",
                        self.submitting
                    );
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
        let mut words = Vec::new();
        if message::write(&mut words, &Order::Cancel).is_ok() {
            let _ = self.orders.send(words);
        }
    }
}

fn unexpected(answer: &Answer) -> DeviceError {
    DeviceError::Lost(format!("the process that owns it says {answer:?}"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::chain::ChainPlan;
    use crate::engine::{DeviceIdentity, DeviceKind, Plan};

    /// A child that is this shell script, after it has said that the device is open.
    fn child(folder: &tempfile::TempDir, script: &str) -> InChild {
        let opened = Answer::Opened {
            properties: Properties {
                identity: DeviceIdentity {
                    kind: DeviceKind::Cuda,
                    index: 0,
                    name: "script".to_owned(),
                },
                compute: None,
                memory: 0,
                multiprocessors: 1,
                shared_memory: None,
                watchdog: false,
                driver: String::new(),
                compiler: String::new(),
            },
            slots: 1,
            since: Duration::ZERO,
        };
        let opened = serde_json::to_string(&opened).unwrap();
        let program = folder.path().join("child");
        fs::write(&program, format!("#!/bin/sh\necho '{opened}'\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = CudaSettings {
            helper: Some(program),
            ..CudaSettings::default()
        };
        InChild::open(&settings).unwrap()
    }

    /// A launch that no pipe holds.
    fn launch() -> Launch {
        let plan = ChainPlan::new(crate::board::Size::new(17).unwrap());
        let tasks: Vec<_> = (0..plan.tasks()).map(|index| plan.task(index)).collect();
        let batch = plan.launcher().unwrap().batch(&tasks, 0).unwrap();
        let launch = batch.launch().unwrap().clone();
        assert!(launch.bytes() > 1 << 20, "{}", launch.bytes());
        launch
    }

    #[test]
    fn a_child_that_reads_nothing_does_not_stop_this_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = child(&folder, "exec sleep 60");
        child.submitting = Duration::from_millis(200);
        let begin = Instant::now();
        let error = child.submit(&launch()).unwrap_err();
        assert!(error.to_string().contains("took no launch"), "{error}");
        child.cancel();
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_last_words_of_a_child_are_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = child(&folder, "echo first >&2; echo so sorry >&2; exit 3");
        let error = child.submit(&launch()).unwrap_err();
        assert!(error.to_string().contains(": so sorry"), "{error}");
    }

    #[test]
    fn last_words_are_read_whatever_bytes_they_have_and_however_late_they_come() {
        let folder = tempfile::tempdir().unwrap();
        // The output is closed before the words are written.
        let late = r"exec >&-; sleep 0.3; printf 'caf\351\nso \377sorry\n' >&2; exit 3";
        let mut child = child(&folder, late);
        let error = child.submit(&launch()).unwrap_err().to_string();
        assert!(
            error.contains("exit status: 3: so \u{fffd}sorry"),
            "{error}"
        );
    }
}
