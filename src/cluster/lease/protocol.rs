//! What the coordinator of a run and its workers tell each other.
//!
//! A message is the version of the protocol and one of the types below, in the encoding of `postcard`: a few
//! bytes for each number. Types of other rooms that are kept as text in ledgers travel as the same text.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::report::Report;
use super::run_key::RunKey;
use crate::board::Size;
use crate::engine::Engine;

/// The version of the messages. Programs of different versions refuse each other.
pub const PROTOCOL: u32 = 4;

/// The most tasks of a lease, so that a message stays below the megabyte that a NATS server allows.
pub const LARGEST_LEASE: u64 = 1 << 14;

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Up {
    /// It wants to take part.
    Hello(Hello),
    /// It lives.
    Beat(Beat),
    /// What it counted.
    Report(Report),
    /// It takes part no longer, and everything that it counted has its receipt.
    Leave,
}

/// The wish to take part. A worker that does not know the run yet learns from the answer what is counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// What it runs on: [`Facts`](crate::ledger::Facts) as JSON.
    pub facts: String,
    /// What the worker would count, once it has made its plans; `None` before that.
    pub plans: Option<Plans>,
    /// The number of the first item without a receipt.
    pub first: u64,
    /// The leases that it holds, with the tasks that are left of them.
    pub leases: Vec<Lease>,
}

/// The plans of a run by name, with the digest of what is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plans {
    /// Such as `colour-1`, the counting plan first.
    pub names: Vec<String>,
    /// Of board, plans and boundaries of tasks.
    pub key: RunKey,
}

/// A sign of life. It renews the leases that it names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beat {
    /// What the worker counts.
    pub key: RunKey,
    /// The leases that it holds.
    pub leases: Vec<u64>,
    /// Whether it wants another one.
    pub wants: bool,
    /// Whether its owner has paused it. It wants none then, and gives up those that it has after a while.
    pub paused: bool,
    /// For each engine, the tasks that it counts in a second while it counts nothing else, once that is known.
    pub speeds: Vec<(Engine, f64)>,
}

/// Tasks that a worker is to count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Names it among all leases of the run.
    pub id: u64,
    /// Of which plan the tasks are.
    pub engine: Engine,
    /// The tasks, as the first of each range and their number, in the order in which they are to be counted.
    pub ranges: Vec<(u64, u64)>,
}

impl Lease {
    /// The tasks. Ranges beyond the largest lease are left out: they are none of a coordinator.
    pub fn tasks(&self) -> impl Iterator<Item = u64> {
        let ranges = self.ranges.iter();
        ranges
            .flat_map(|&(first, count)| first..first.saturating_add(count))
            .take(LARGEST_LEASE as usize)
    }
}

/// Tasks as ranges, in their order.
pub fn ranges(tasks: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for task in tasks {
        match ranges.last_mut() {
            Some((first, count)) if *first + *count == task => *count += 1,
            _ => ranges.push((task, 1)),
        }
    }
    ranges
}

/// What the coordinator says to one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Down {
    /// What is counted.
    Run(Offer),
    /// The worker takes part.
    Welcome {
        /// How long a lease lasts that is not renewed, in milliseconds.
        lease_ms: u64,
        /// How much work a lease should be, in milliseconds.
        work_ms: u64,
    },
    /// It is to count this. It comes again if no [beat](Beat) names it.
    Lease(Lease),
    /// The worker may not take part, and why.
    Refused(String),
    /// The coordinator does not know the worker: it began after it, or took it for lost.
    Unknown,
    /// All items below this number are committed to the ledger.
    Receipt(u64),
    /// The worker holds these leases no longer.
    Revoked(Vec<u64>),
    /// Nothing more is to be counted.
    Finish(Finish),
}

/// Why nothing more is to be counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Every task is recorded.
    Done,
    /// The run failed, and why.
    Failed(String),
}

/// What a run counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Name and version of the program of the coordinator.
    pub program: String,
    /// The size of the board.
    pub n: Size,
    /// What is given on it, by the names of the squares: queens, holes.
    pub given: [String; 2],
    /// The plans.
    pub plans: Plans,
}

/// A message as bytes.
///
/// # Panics
/// Never: all types have an encoding.
#[expect(
    clippy::expect_used,
    reason = "postcard refuses only lists of unknown length"
)]
pub fn encode<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(&(PROTOCOL, message)).expect("messages have an encoding")
}

/// The message in `bytes`.
///
/// # Errors
/// It is of another version, or no message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    match postcard::take_from_bytes(behind_version(bytes)?) {
        Ok((message, [])) => Ok(message),
        _ => Err(Unreadable::Garbage),
    }
}

/// What follows the version, which must be that of this program.
pub(super) fn behind_version(bytes: &[u8]) -> Result<&[u8], Unreadable> {
    match postcard::take_from_bytes::<u32>(bytes) {
        Ok((PROTOCOL, rest)) => Ok(rest),
        Ok((version, _)) => Err(Unreadable::Version(version)),
        Err(_) => Err(Unreadable::Garbage),
    }
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// They are of another version of the protocol.
    Version(u32),
    /// They are nothing that a program of this version writes.
    Garbage,
    /// They are not signed by the session in whose name they came.
    Forged,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(
                f,
                "it speaks version {version} of the protocol, and this program version {PROTOCOL}"
            ),
            Self::Garbage => f.write_str("it sent what is no message"),
            Self::Forged => f.write_str("somebody else sent that in its name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_after_a_journey() {
        let lease = Lease {
            id: u64::MAX,
            engine: Engine::Colour,
            ranges: ranges([5, 6, 7, 100, 3, 4]),
        };
        assert_eq!(lease.ranges, [(5, 3), (100, 1), (3, 2)]);
        assert!(lease.tasks().eq([5, 6, 7, 100, 3, 4]));
        assert_eq!(decode::<Lease>(&encode(&lease)), Ok(lease));
        let down = Down::Finish(Finish::Failed("why".to_owned()));
        assert_eq!(decode::<Down>(&encode(&down)), Ok(down));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let mut bytes = encode(&Up::Leave);
        bytes.push(0);
        assert_eq!(decode::<Up>(&bytes), Err(Unreadable::Garbage));
        assert_eq!(decode::<Up>(&[]), Err(Unreadable::Garbage));
        let other = postcard::to_allocvec(&(PROTOCOL + 1, "anything")).unwrap();
        assert_eq!(decode::<Up>(&other), Err(Unreadable::Version(PROTOCOL + 1)));
        let endless = Lease {
            id: 1,
            engine: Engine::Chain,
            ranges: vec![(0, u64::MAX)],
        };
        assert_eq!(endless.tasks().count() as u64, LARGEST_LEASE);
    }
}
