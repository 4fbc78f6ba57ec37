//! What a process and its child that owns a device tell each other: lines of JSON, and after an order to
//! count the words of the launch.

use std::io::{self, BufRead, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::device::{DeviceError, Properties};
use crate::engine::{Completed, Launch, Ticket};

/// From the parent, after a line with the settings of the device.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Count. So many words of jobs and of tables follow.
    Submit {
        /// The name of the program.
        program: String,
        jobs: usize,
        tables: usize,
    },
    /// End launches early.
    Cancel,
}

/// From the child.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The device is open.
    Opened {
        properties: Properties,
        slots: usize,
        /// For how long, on the clock of its launches.
        since: Duration,
    },
    /// The device was not opened.
    NotOpened(String),
    /// The last launch was taken.
    Submitted(Ticket),
    /// It was not.
    NotSubmitted(DeviceError),
    /// A launch has ended.
    Completed(Completed),
    /// The device failed.
    Failed(DeviceError),
}

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, message)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// An order to count.
pub(super) fn launch_order(launch: &Launch) -> io::Result<Vec<u8>> {
    let (jobs, tables) = (launch.jobs(), launch.tables());
    let order = Order::Submit {
        program: launch.program().to_string(),
        jobs: jobs.len(),
        tables: tables.len(),
    };
    let mut bytes = Vec::with_capacity(launch.bytes() as usize + 1024);
    write(&mut bytes, &order)?;
    let words = jobs.iter().chain(tables);
    bytes.extend(words.flat_map(|word| word.to_le_bytes()));
    Ok(bytes)
}

/// Reads a message; `None` if the other process has closed the pipe.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

/// Reads the words that follow an order to count.
pub(super) fn read_words(from: &mut impl Read, count: usize) -> io::Result<Vec<u32>> {
    let mut words = Vec::new();
    let mut left = count;
    let mut bytes = vec![0; 1 << 16];
    while left > 0 {
        let some = left.min(1 << 14);
        from.read_exact(&mut bytes[..some * 4])?;
        let (read, _) = bytes[..some * 4].as_chunks();
        words.extend(read.iter().map(|word| u32::from_le_bytes(*word)));
        left -= some;
    }
    Ok(words)
}
