//! How many of the tasks two parties count: all, or fewer of a party that others have confirmed often. BOINC calls that
//! adaptive replication.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::files::options;
use super::sidecar_files::read;
use super::{hex, unhex};
use crate::engine::TaskKey;
use crate::system::files::for_owner;

/// So many of its tasks others must have counted alike before a party is trusted.
pub(super) const TRUSTED_FROM: u64 = 100;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 10;

/// Which tasks of a trusted party another one counts, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quorum {
    share: f64,
    secret: [u8; 32],
}

impl Quorum {
    /// All tasks of a party that is not trusted, and this share of those of one that is: above 0, at most 1. Which ones
    /// follows from the secret, which no party may know.
    pub const fn new(share: f64, secret: [u8; 32]) -> Self {
        Self { share, secret }
    }

    /// Every task.
    pub const ALL: Self = Self::new(1.0, [0; 32]);

    /// The same with another share.
    #[must_use]
    pub const fn with_share(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// The share of the tasks of a trusted party.
    pub const fn share(&self) -> f64 {
        self.share
    }

    /// Reads it from a file; there may be none.
    ///
    /// # Errors
    /// It cannot be read, or says something else.
    pub fn read(file: &Path) -> io::Result<Option<Self>> {
        let Some(text) = read(file, LONGEST)? else {
            return Ok(None);
        };
        let quorum = || {
            let (share, secret) = str::from_utf8(&text).ok()?.trim_end().split_once(' ')?;
            let share = share
                .parse()
                .ok()
                .filter(|share| *share > 0.0 && *share <= 1.0)?;
            Some(Self::new(share, unhex(secret)?))
        };
        let other = "it does not say which tasks are to be counted twice: remove it, and give `serve --twice` again";
        quorum().map(Some).ok_or_else(|| io::Error::other(other))
    }

    /// Writes it to a file that its owner alone can read.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let text = format!("{} {}\n", self.share, hex(&self.secret));
        let mut options = options();
        options.write(true).create(true).truncate(true);
        for_owner(&mut options)
            .open(file)?
            .write_all(text.as_bytes())
    }

    /// Whether a task is among those that two parties count in any case.
    fn is_chosen(&self, task: TaskKey) -> bool {
        let digest = blake3::keyed_hash(&self.secret, task.to_string().as_bytes());
        let (first, _) = digest
            .as_bytes()
            .split_first_chunk()
            .unwrap_or((&[0; 8], &[]));
        (u64::from_le_bytes(*first) as f64) < self.share * 2.0_f64.powi(64)
    }
}

/// What others have found of each party.
pub(super) struct Standings {
    quorum: Quorum,
    standings: BTreeMap<String, Standing>,
    /// Whether somebody is trusted now who was not, or the other way round.
    changed: bool,
}

#[derive(Default)]
struct Standing {
    confirmed: u64,
    is_refuted: bool,
}

impl Standing {
    const fn is_trusted(&self) -> bool {
        self.confirmed >= TRUSTED_FROM && !self.is_refuted
    }
}

impl Standings {
    /// Nothing is known of anybody.
    pub(super) const fn new(quorum: Quorum) -> Self {
        Self {
            quorum,
            standings: BTreeMap::new(),
            changed: false,
        }
    }

    /// Forgets who was confirmed. Who was refuted stays so.
    pub(super) fn clear(&mut self) {
        self.standings.retain(|_, standing| standing.is_refuted);
        for standing in self.standings.values_mut() {
            standing.confirmed = 0;
        }
    }

    /// Notes that another party counted a task as this one did.
    pub(super) fn confirm(&mut self, party: &str) {
        self.note(party, |standing| standing.confirmed += 1);
    }

    /// Notes that a count of this party is wrong.
    pub(super) fn refute(&mut self, party: &str) {
        self.note(party, |standing| standing.is_refuted = true);
    }

    fn note(&mut self, party: &str, found: impl FnOnce(&mut Standing)) {
        let standing = self.standings.entry(party.to_owned()).or_default();
        let before = standing.is_trusted();
        found(standing);
        self.changed |= standing.is_trusted() != before && self.quorum.share < 1.0;
    }

    /// Whether another party is to count a task that this one alone has counted.
    pub(super) fn wants_another(&self, party: &str, task: TaskKey) -> bool {
        let is_trusted = self.standings.get(party).is_some_and(Standing::is_trusted);
        !is_trusted || self.quorum.is_chosen(task)
    }

    /// Whether other tasks are wanted than before, since this was asked last.
    pub(super) const fn take_changed(&mut self) -> bool {
        std::mem::replace(&mut self.changed, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::Engine;

    fn task(index: u64) -> TaskKey {
        TaskKey {
            n: Size::new(20).unwrap(),
            engine: Engine::Chain,
            version: 1,
            index,
        }
    }

    #[test]
    fn fewer_tasks_of_a_party_are_wanted_once_it_is_trusted_and_all_after_a_wrong_one() {
        let mut standings = Standings::new(Quorum::new(0.1, [7; 32]));
        let wanted = |standings: &Standings| {
            let wants = |index: &u64| standings.wants_another("anna", task(*index));
            (0..2000).filter(wants).count()
        };
        for _ in 1..TRUSTED_FROM {
            standings.confirm("anna");
        }
        assert_eq!(
            (wanted(&standings), standings.take_changed()),
            (2000, false)
        );
        standings.confirm("anna");
        // Ten standard deviations.
        let few = wanted(&standings);
        assert!((70..330).contains(&few), "{few}");
        assert!(standings.take_changed() && !standings.take_changed());
        assert!(standings.wants_another("bob", task(0)));
        standings.refute("anna");
        assert_eq!((wanted(&standings), standings.take_changed()), (2000, true));
        // It does not earn it again.
        (0..TRUSTED_FROM).for_each(|_| standings.confirm("anna"));
        assert_eq!(
            (wanted(&standings), standings.take_changed()),
            (2000, false)
        );
    }

    #[test]
    fn which_tasks_are_wanted_is_known_to_who_has_the_secret() {
        let chosen = |secret| {
            let quorum = Quorum::new(0.5, [secret; 32]);
            let tasks = (0..64).map(move |index| quorum.is_chosen(task(index)));
            tasks.collect::<Vec<_>>()
        };
        assert_eq!(chosen(1), chosen(1));
        assert_ne!(chosen(1), chosen(2));
        assert!((0..64).all(|index| Quorum::ALL.is_chosen(task(index))));
    }

    #[test]
    fn a_directory_remembers_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("twice");
        assert_eq!(Quorum::read(&file).unwrap(), None);
        let quorum = Quorum::new(0.05, [9; 32]);
        quorum.write(&file).unwrap();
        assert_eq!(Quorum::read(&file).unwrap(), Some(quorum));
        for other in ["", "0.5", "0 00", "2 00", "0.5 xy"] {
            std::fs::write(&file, other).unwrap();
            assert!(Quorum::read(&file).is_err(), "{other}");
        }
    }
}
