//! The leases that were given, in a file: a coordinator that begins again takes results from those who were asked for
//! them by the one before it.

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entries::{add, next};
use super::protocol::Lease;
use crate::system::files::no_detours;

/// The most that is read, in bytes. A run of ten million tasks has given some hundred thousand leases of a hundred bytes.
const LONGEST: u64 = 1 << 30;

/// A lease and the session that it was given to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// To whom.
    pub session: String,
    /// What.
    pub lease: Lease,
}

/// The file of the leases that were given. It is not forced to the disk: what is missing in it after a power failure is
/// counted again.
pub struct GivenLeases(BufWriter<File>);

impl GivenLeases {
    /// Opens the file, which is made if need be, and reads what was given before. What a kill cut short is cut off.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(path: &Path) -> io::Result<(Self, Vec<Given>)> {
        let mut options = no_detours();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        (&mut file).take(LONGEST).read_to_end(&mut bytes)?;
        let mut rest = &bytes[..];
        let mut given = Vec::new();
        while let Some(entry) = next(&mut rest) {
            given.push(entry);
        }
        file.set_len((bytes.len() - rest.len()) as u64)?;
        Ok((Self(BufWriter::new(file)), given))
    }

    /// Notes that a lease is given.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note(&mut self, session: &str, lease: &Lease) -> io::Result<()> {
        let given = Given {
            session: session.to_owned(),
            lease: lease.clone(),
        };
        add(&mut self.0, &given).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::engine::Engine;

    fn given(id: u64) -> Given {
        let lease = Lease {
            id,
            engine: Engine::Chain,
            ranges: vec![(id, 3), (100, 1)],
        };
        let session = format!("worker{id}");
        Given { session, lease }
    }

    #[test]
    fn what_was_given_is_known_to_the_next_one_but_for_what_a_kill_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leases");
        let note = |file: &mut GivenLeases, id| {
            let Given { session, lease } = given(id);
            file.note(&session, &lease).unwrap();
        };
        let (mut file, before) = GivenLeases::open(&path).unwrap();
        assert_eq!(before, []);
        (1..4).for_each(|id| note(&mut file, id));
        drop(file);
        let whole = fs::read(&path).unwrap();
        for cut in 1..20 {
            fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let (mut file, before) = GivenLeases::open(&path).unwrap();
            assert_eq!(before, [1, 2].map(given), "{cut}");
            note(&mut file, 4);
            drop(file);
            let (_, before) = GivenLeases::open(&path).unwrap();
            assert_eq!(before, [1, 2, 4].map(given), "{cut}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leases");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(GivenLeases::open(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
