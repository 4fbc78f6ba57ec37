//! Where a run writes: notices that the directory was moved or removed, and saves what is only in memory then.

use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

use super::{FILE, LedgerError, Store, files};
use crate::system::files::{is_removed, is_same, no_detours};

/// The ledger's file by what it is, not by its name.
pub(super) struct Home {
    dir: PathBuf,
    file: File,
}

impl Home {
    /// The place of the ledger in `dir`, which is open.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(dir: &Path) -> Result<Self, LedgerError> {
        let path = dir.join(FILE);
        let file = no_detours().read(true).open(&path);
        Ok(Self {
            dir: dir.to_owned(),
            file: file.map_err(|source| LedgerError::io(&path, source))?,
        })
    }

    /// Checks that the name of the ledger still leads to it. If it was removed, its committed records are
    /// saved in a new file, since no other process could open them any more.
    ///
    /// # Errors
    /// It was.
    pub fn check(&self, store: &Store) -> Result<(), LedgerError> {
        let here = |meta: &Metadata| {
            fs::symlink_metadata(self.dir.join(FILE)).is_ok_and(|named| is_same(meta, &named))
        };
        match self.file.metadata() {
            Ok(meta) if here(&meta) => Ok(()),
            Ok(meta) if is_removed(&meta) => {
                let saved = match self.save(store) {
                    Ok(dir) => format!("what was counted is saved in {}", dir.display()),
                    Err(error) => format!("what was counted could not be saved: {error}"),
                };
                Err(self.gone(&format!("removed while the run wrote to it; {saved}")))
            }
            Ok(_) => Err(self.gone(
                "moved or replaced while the run wrote to it; what was counted is in the moved directory",
            )),
            Err(source) => Err(LedgerError::io(&self.dir.join(FILE), source)),
        }
    }

    fn gone(&self, what: &str) -> LedgerError {
        LedgerError::Other(format!("{} was {what}", self.dir.display()))
    }

    /// Writes the records to the directory, or to one beside it if another ledger is there.
    fn save(&self, store: &Store) -> Result<PathBuf, LedgerError> {
        let mut dir = self.dir.clone();
        while dir.join(FILE).exists() {
            dir.as_mut_os_string().push(".saved");
        }
        files::make_directory(&dir)?;
        store.save_as(&dir.join(FILE))?;
        Ok(dir)
    }
}
