//! What the child process does that owns a device for its parent: launches what it is sent.

use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use super::message::{self, Answer, Order};
use super::stream::Cuda;
use crate::device::{Device, DeviceError};
use crate::engine::{DeviceProgram, Launch};

/// How long to look for launches that have ended before looking for orders.
const GLANCE: Duration = Duration::from_millis(2);

/// An order with its words.
enum Received {
    Submit(Result<Box<Launch>, String>),
    Cancel,
}

/// Owns a device for the process that has started this one: reads settings and orders from stdin, and
/// answers on stdout. `programs` are those that launches may name.
///
/// When the parent closes stdin or has ended, this calls `end_at_once`, which ends the process without
/// waiting for anything. The parent may also kill it at any time.
///
/// # Errors
/// The parent's messages are not those of this program, or it reads no answers.
pub fn serve_parent(
    programs: Vec<DeviceProgram>,
    end_at_once: impl FnOnce() + Send + 'static,
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    let mut orders = BufReader::with_capacity(1 << 16, io::stdin());
    let settings = message::read(&mut orders).map_err(failed)?;
    let settings = settings.ok_or("no settings")?;
    let (sender, received) = channel();
    // A thread of its own, because calls of the driver may never return.
    thread::spawn(move || {
        // What cannot be read ends the conversation, like the end of the parent, which reads these words.
        if let Err(error) = read_orders(&mut orders, &programs, &sender) {
            let _ = writeln!(io::stderr(), "orders that cannot be read: {error}");
        }
        end_at_once();
    });
    let answer = |answer: &Answer| message::write(&mut io::stdout().lock(), answer).map_err(failed);
    let mut device = match Cuda::open(settings) {
        Ok(device) => device,
        Err(why) => return answer(&Answer::NotOpened(why.0)),
    };
    answer(&Answer::Opened {
        properties: device.properties().clone(),
        slots: device.slots(),
        since: device.opened().elapsed(),
    })?;
    let mut launched = 0_u64;
    loop {
        match next_order(&received, launched > 0) {
            Some(Received::Submit(launch)) => answer(&match submit(&mut device, launch) {
                Ok(submitted) => {
                    launched += 1;
                    submitted
                }
                Err(error) => Answer::NotSubmitted(error),
            })?,
            Some(Received::Cancel) => device.cancel(),
            None => {}
        }
        if launched > 0 {
            match device.poll(GLANCE) {
                Ok(Some(completed)) => {
                    launched -= 1;
                    answer(&Answer::Completed(completed))?;
                }
                Ok(None) => {}
                Err(error) => return answer(&Answer::Failed(error)),
            }
        }
    }
}

fn submit(device: &mut Cuda, launch: Result<Box<Launch>, String>) -> Result<Answer, DeviceError> {
    let launch = launch.map_err(DeviceError::Lost)?;
    device.submit(&launch).map(Answer::Submitted)
}

/// The next order. Waits for it if no launch is under way.
fn next_order(received: &Receiver<Received>, busy: bool) -> Option<Received> {
    if !busy {
        return match received.recv() {
            Ok(order) => Some(order),
            // The thread that reads has ended the process, or is about to.
            Err(_) => loop {
                thread::park();
            },
        };
    }
    received.try_recv().ok()
}

/// Reads orders until the parent sends no more.
fn read_orders(
    from: &mut BufReader<io::Stdin>,
    programs: &[DeviceProgram],
    to: &Sender<Received>,
) -> io::Result<()> {
    while let Some(order) = message::read(from)? {
        let received = match order {
            Order::Cancel => Received::Cancel,
            Order::Submit {
                program,
                jobs,
                tables,
            } => {
                let jobs = message::read_words(from, jobs)?;
                let tables = message::read_words(from, tables)?;
                let known = programs.iter().find(|known| known.to_string() == program);
                let launch = known.ok_or_else(|| format!("no program {program}"));
                let checked = |known: &DeviceProgram| {
                    let launch = Launch::new(*known, jobs, tables);
                    launch.map(Box::new).map_err(|error| error.to_string())
                };
                Received::Submit(launch.and_then(checked))
            }
        };
        if to.send(received).is_err() {
            break;
        }
    }
    Ok(())
}
