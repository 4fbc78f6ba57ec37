//! Under which subjects the messages of a run go over a NATS server.
//!
//! | subject | from | what |
//! |---|---|---|
//! | `queenfold.RUN.up.USER.SESSION` | worker | [`Up`](crate::cluster::lease::Up), signed |
//! | `queenfold.RUN.down.USER.SESSION` | coordinator | [`Down`](crate::cluster::lease::Down) |
//! | `queenfold.RUN.coordinator` | coordinator | who it is, to whoever asks |
//!
//! USER is the user of the server, so that it can allow each the subjects of its own alone; `any` where there is none.

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
        match is_plain(text) {
            true => Ok(Self(text.to_owned())),
            false => Err(RunNameError(text.to_owned())),
        }
    }
}

/// Whether a text may be a part of a subject between its dots.
pub fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain)
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

    /// Where the coordinator says who it is.
    pub fn coordinator(&self) -> String {
        format!("queenfold.{self}.coordinator")
    }
}

/// Which worker said what came under this subject: `USER.SESSION`.
pub fn worker(subject: &str) -> Option<&str> {
    let (before, session) = subject.rsplit_once('.')?;
    let (before, user) = before.rsplit_once('.')?;
    let is_session = is_plain(session) && session.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_session && is_plain(user)).then(|| &subject[before.len() + 1..])
}

/// The session of a worker.
pub fn session(worker: &str) -> &str {
    worker
        .rsplit_once('.')
        .map_or(worker, |(_, session)| session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_place_for_other_subjects() {
        let run: RunName = "n28_a-b".parse().unwrap();
        assert_eq!(run.up("b-1.0a"), "queenfold.n28_a-b.up.b-1.0a");
        assert_eq!(worker(&run.up("b-1.0a")), Some("b-1.0a"));
        assert_eq!(session("b-1.0a"), "0a");
        for subject in ["", "up.0a.", "up..0a", "up.any.0-a", "0a"] {
            assert_eq!(worker(subject), None, "{subject}");
        }
        for text in ["", "a.b", "a b", "*", ">", "é", &"x".repeat(65)] {
            assert!(text.parse::<RunName>().is_err(), "{text}");
        }
    }
}
