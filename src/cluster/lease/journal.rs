//! What a worker counted, in a file until it has its receipt.
//!
//! A worker that is killed leaves its journal, and the next one on the host delivers it. The file is not forced to
//! the disk: a host that loses its power loses the work of seconds, which is counted again, and no result.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entries::{add, next};
use super::protocol::Plans;
use super::session_key::SessionKey;
use crate::actors::Finding;
use crate::system::files::for_owner;

/// How a journal ends in its folder.
const EXTENSION: &str = "journal";

/// A journal whose entries all have their receipt is emptied when it is longer than this, in bytes.
const LONG: u64 = 1 << 20;

/// An entry of a journal.
#[derive(Debug, Serialize, Deserialize)]
enum Line {
    /// The first one.
    Begin {
        /// The secret of the session that counted: who delivers this speaks in its name.
        secret: [u8; 32],
        /// What it ran on: the facts of the session as JSON.
        facts: String,
        /// What it counted.
        plans: Plans,
    },
    /// An item with its number.
    Item(u64, Finding),
    /// The items below this number have their receipt.
    Receipt(u64),
}

/// The journal of a worker. It is locked while the worker lives.
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
    /// Where the first entry ends.
    begin: u64,
    length: u64,
}

/// What a worker that is gone left: its items without a receipt, in their order.
pub struct Leftover {
    /// The session that counted.
    pub key: SessionKey,
    /// What it ran on.
    pub facts: String,
    /// What it counted.
    pub plans: Plans,
    /// The number of the first item.
    pub first: u64,
    /// The items.
    pub items: Vec<Finding>,
    path: PathBuf,
    _lock: File,
}

impl Leftover {
    /// Removes the journal: everything in it has its receipt.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

impl Journal {
    /// Makes the journal of a session in `folder`, which is made if need be. Nobody else may read it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(folder: &Path, key: &SessionKey, facts: &str, plans: &Plans) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(key.session()).with_extension(EXTENSION);
        let mut options = OpenOptions::new();
        let file = for_owner(&mut options)
            .write(true)
            .create_new(true)
            .open(&path)?;
        file.lock()?;
        let mut journal = Self {
            path,
            file: BufWriter::new(file),
            begin: 0,
            length: 0,
        };
        journal.write(&Line::Begin {
            secret: key.secret(),
            facts: facts.to_owned(),
            plans: plans.clone(),
        })?;
        journal.begin = journal.length;
        Ok(journal)
    }

    /// Writes an item.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note(&mut self, number: u64, item: &Finding) -> io::Result<()> {
        self.write(&Line::Item(number, item.clone()))
    }

    /// Notes a receipt. `all`: whether no item is without one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn receipt(&mut self, number: u64, all: bool) -> io::Result<()> {
        if all && self.length > LONG {
            self.file.get_ref().set_len(self.begin)?;
            self.file.seek(SeekFrom::Start(self.begin))?;
            self.length = self.begin;
        }
        self.write(&Line::Receipt(number))
    }

    /// Removes the journal: everything in it has its receipt.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.length += add(&mut self.file, line)?;
        Ok(())
    }

    /// The journals in `folder` that no living worker writes. Those that cannot be read are left where they are.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn leftovers(folder: &Path) -> io::Result<Vec<Leftover>> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut leftovers = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|is| is == EXTENSION)
                && let Ok(Some(leftover)) = read(&path)
            {
                leftovers.push(leftover);
            }
        }
        Ok(leftovers)
    }
}

/// The journal at `path`; `None` if its worker lives or it has no beginning.
fn read(path: &Path) -> io::Result<Option<Leftover>> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut rest = &bytes[..];
    let Some(Line::Begin {
        secret,
        facts,
        plans,
    }) = next(&mut rest)
    else {
        return Ok(None);
    };
    let mut items: Vec<(u64, Finding)> = Vec::new();
    // A line that a kill cut short is the last one.
    while let Some(line) = next(&mut rest) {
        match line {
            Line::Item(number, item) => items.push((number, item)),
            Line::Receipt(number) => items.retain(|(other, _)| *other >= number),
            Line::Begin { .. } => break,
        }
    }
    Ok(Some(Leftover {
        key: SessionKey::from_secret(secret),
        facts,
        plans,
        first: items.first().map_or(0, |(first, _)| *first),
        items: items.into_iter().map(|(_, item)| item).collect(),
        path: path.to_owned(),
        _lock: file,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::run_key::RunKey;
    use super::*;
    use crate::actors::SickWorker;
    use crate::board::Size;
    use crate::engine::{Engine, TaskKey, WorkerId};
    use crate::ledger::Digest;

    fn plans() -> Plans {
        Plans {
            names: vec!["colour-1".to_owned()],
            key: RunKey::from(Digest([7; 32])),
        }
    }

    fn key() -> SessionKey {
        SessionKey::from_secret([7; 32])
    }

    fn item(index: u64) -> Finding {
        Finding::Withdrawal(TaskKey {
            n: Size::new(20).unwrap(),
            engine: Engine::Colour,
            version: 1,
            index,
        })
    }

    fn journal(folder: &Path) -> Journal {
        let mut journal = Journal::create(folder, &key(), "{}", &plans()).unwrap();
        for number in 0..5 {
            journal.note(number, &item(number)).unwrap();
        }
        journal
    }

    #[test]
    fn what_has_no_receipt_is_left_when_a_worker_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = journal(folder.path());
        // The worker lives.
        assert_eq!(Journal::leftovers(folder.path()).unwrap().len(), 0);
        journal.receipt(2, false).unwrap();
        drop(journal);
        let left = Journal::leftovers(folder.path()).unwrap().pop().unwrap();
        assert_eq!((left.key.secret(), left.first), (key().secret(), 2));
        assert_eq!(left.items, [2, 3, 4].map(item));
        assert_eq!(left.plans, plans());
        left.remove().unwrap();
        assert_eq!(Journal::leftovers(folder.path()).unwrap().len(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_what_speaks_for_a_session() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let mode = fs::metadata(journal.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_was_cut_short_ends_a_journal() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let path = journal.path().to_owned();
        drop(journal);
        let whole = fs::read(&path).unwrap();
        for cut in 1..30 {
            fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let left = Journal::leftovers(folder.path()).unwrap().pop().unwrap();
            assert!((3..5).contains(&left.items.len()), "{cut}");
        }
        let mut wrong = whole.clone();
        *wrong.last_mut().unwrap() ^= 1;
        fs::write(&path, &wrong).unwrap();
        let left = Journal::leftovers(folder.path()).unwrap().pop().unwrap();
        assert_eq!(left.items, [0, 1, 2, 3].map(item));
    }

    #[test]
    fn a_long_journal_is_emptied_when_everything_has_its_receipt() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(folder.path(), &key(), "{}", &plans()).unwrap();
        let long = Finding::TakenOut(SickWorker {
            worker: WorkerId::Cpu(0),
            counted_by: None,
            reason: "x".repeat(1 << 19),
            suspects: 0,
        });
        for number in 0..3 {
            journal.note(number, &long).unwrap();
        }
        journal.receipt(3, true).unwrap();
        journal.note(3, &item(3)).unwrap();
        assert!(fs::metadata(journal.path()).unwrap().len() < 1000);
        drop(journal);
        let left = Journal::leftovers(folder.path()).unwrap().pop().unwrap();
        assert_eq!((left.first, left.items), (3, vec![item(3)]));
    }
}
