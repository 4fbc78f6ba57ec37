//! Hosts that the owner of a run has paused or banned, in a file of its directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::system::file_kind::replace;

/// What the owner of a run asks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// It gets no more leases, and counts what it holds.
    Paused,
    /// It may not take part.
    Banned,
}

/// The name of the file in a run directory.
pub const BARS: &str = "hosts";

impl Bar {
    const ALL: [Self; 2] = [Self::Paused, Self::Banned];

    /// In the file, and for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Banned => "banned",
        }
    }
}

/// All such hosts, by the names that they give themselves or by their users of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bars(BTreeMap<String, Bar>);

impl Bars {
    /// What is asked of the host of a worker, whose name is `worker`.
    pub fn of(&self, worker: &str, host: &str) -> Option<Bar> {
        let user = worker.split_once('.').map_or("", |(user, _)| user);
        let asked = [user, host].map(|name| self.0.get(name).copied());
        let is_banned = asked.contains(&Some(Bar::Banned));
        is_banned.then_some(Bar::Banned).or(asked[0]).or(asked[1])
    }

    /// Asks something of a host, or nothing any more.
    pub fn set(&mut self, name: &str, bar: Option<Bar>) {
        match bar {
            Some(bar) => self.0.insert(name.to_owned(), bar),
            None => self.0.remove(name),
        };
    }

    /// Reads a file; there may be none. Lines that say nothing known are left out.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(file: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            text => text?,
        };
        let asked = text.lines().filter_map(|line| {
            let (bar, name) = line.split_once(' ')?;
            let bar = Bar::ALL.into_iter().find(|of| of.name() == bar)?;
            Some((name.to_owned(), bar))
        });
        Ok(Self(asked.collect()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let lines = self.0.iter();
        let lines = lines.map(|(name, bar)| format!("{} {name}\n", bar.name()));
        let text: String = lines.collect();
        replace(file, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_its_name_or_its_user() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hosts");
        assert_eq!(Bars::read(&file).unwrap(), Bars::default());
        let mut bars = Bars::default();
        bars.set("anna", Some(Bar::Paused));
        bars.set("node 7", Some(Bar::Banned));
        bars.write(&file).unwrap();
        assert_eq!(Bars::read(&file).unwrap(), bars);
        for (worker, host, expected) in [
            ("anna.1f", "other", Some(Bar::Paused)),
            ("bob.1f", "anna", Some(Bar::Paused)),
            ("anna.1f", "node 7", Some(Bar::Banned)),
            ("bob.1f", "node 8", None),
        ] {
            assert_eq!(bars.of(worker, host), expected, "{worker} {host}");
        }
        bars.set("anna", None);
        assert_eq!(bars.of("anna.1f", "other"), None);
    }
}
