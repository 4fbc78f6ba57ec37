//! Under which subjects the messages of a run go over a NATS server.
//!
//! | subject | from | what |
//! |---|---|---|
//! | `queenfold.RUN.up.WORKER` | worker | [`Up`](crate::cluster::lease::Up) |
//! | `queenfold.RUN.down.WORKER` | coordinator | [`Down`](crate::cluster::lease::Down) |
//! | `queenfold.RUN.lease.WORKER` | coordinator, through the stream `queenfold-RUN` | [`Lease`](crate::cluster::lease::Lease) |
//! | `queenfold.RUN.coordinator` | coordinator | who it is, to whoever asks |

use std::fmt;
use std::str::FromStr;

/// The name of a run on a server: up to 64 letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName(String);

/// A text that is no name of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no run: use up to 64 letters, digits, - and _")]
pub struct RunNameError(String);

impl FromStr for RunName {
    type Err = RunNameError;

    fn from_str(text: &str) -> Result<Self, RunNameError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match (1..=64).contains(&text.len()) && text.bytes().all(is_plain) {
            true => Ok(Self(text.to_owned())),
            false => Err(RunNameError(text.to_owned())),
        }
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RunName {
    /// What a worker says.
    pub fn up(&self, worker: &str) -> String {
        format!("queenfold.{self}.up.{worker}")
    }

    /// What a worker is said.
    pub fn down(&self, worker: &str) -> String {
        format!("queenfold.{self}.down.{worker}")
    }

    /// The leases of a worker.
    pub fn lease(&self, worker: &str) -> String {
        format!("queenfold.{self}.lease.{worker}")
    }

    /// Where the coordinator says who it is.
    pub fn coordinator(&self) -> String {
        format!("queenfold.{self}.coordinator")
    }

    /// The stream of the leases.
    pub fn stream(&self) -> String {
        format!("queenfold-{self}")
    }
}

/// Which worker said what came under this subject.
pub fn worker(subject: &str) -> Option<&str> {
    let worker = subject.rsplit('.').next()?;
    let is_plain = worker.bytes().all(|byte| byte.is_ascii_alphanumeric());
    ((1..=64).contains(&worker.len()) && is_plain).then_some(worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_place_for_other_subjects() {
        let run: RunName = "n28_a-b".parse().unwrap();
        assert_eq!(run.up("0a"), "queenfold.n28_a-b.up.0a");
        assert_eq!(worker(&run.up("0a")), Some("0a"));
        assert_eq!(worker("queenfold.n28.up."), None);
        for text in ["", "a.b", "a b", "*", ">", "é", &"x".repeat(65)] {
            assert!(text.parse::<RunName>().is_err(), "{text}");
        }
    }
}
