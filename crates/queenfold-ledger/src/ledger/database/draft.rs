//! The ledger of a new run, before it gets its name.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::ledger::{LedgerError, RunInfo, files, meta, schema};

/// The name of a ledger that is being made.
const DRAFT: &str = "ledger.new";

/// Writes the ledger of a new run in `dir`, complete and on the disk, and gives its path. It gets its name by a
/// rename.
pub(crate) fn write(dir: &Path, info: &RunInfo) -> Result<PathBuf, LedgerError> {
    let draft = dir.join(DRAFT);
    // What a kill left. The journal of an old draft must not be taken for one of the new draft.
    let beside = files::BESIDE.map(|suffix| files::beside(&draft, suffix));
    for left in beside.iter().chain([&draft]) {
        if files::is_there(left)? {
            fs::remove_file(left).map_err(|source| LedgerError::io(left, source))?;
        }
    }
    let write = || {
        let connection = Connection::open(files::for_sqlite(&draft))?;
        // An incomplete draft is thrown away, so it needs no journal.
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch("BEGIN")?;
        schema::create(&connection)?;
        meta::write(&connection, info)?;
        connection.execute_batch("COMMIT")?;
        // Under its name, the change of the journal would be a commit with a rollback journal, and a kill in it
        // would leave a ledger that nobody can read.
        schema::choose_journal(&connection, dir)?;
        connection.close().map_err(|(_, error)| error)
    };
    write().map_err(|error| LedgerError::sqlite(&draft, &error))?;
    files::sync_file(&draft)?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ledger::Shard;
    use crate::ledger::database::file_system::Journal;
    use queenfold::board::Size;
    use queenfold::chain::ChainPlan;
    use queenfold::engine::Plan;

    fn info() -> RunInfo {
        let n = Size::new(8).unwrap();
        let plans: [Arc<dyn Plan>; 1] = [Arc::new(ChainPlan::new(n))];
        RunInfo::new(n, &plans, Shard::WHOLE, String::new())
    }

    /// The versions in the header of a database are 2 with a write-ahead log, 1 with a rollback journal
    /// (<https://sqlite.org/fileformat2.html>).
    #[test]
    fn the_journal_is_chosen_before_the_ledger_has_its_name() {
        let dir = tempfile::tempdir().unwrap();
        // What a kill left of another draft is thrown away.
        for suffix in ["", "-wal", "-shm", "-journal"] {
            fs::write(dir.path().join(format!("ledger.new{suffix}")), "left").unwrap();
        }
        let draft = write(dir.path(), &info()).unwrap();
        let versions = match Journal::for_directory(dir.path()) {
            Journal::WriteAhead => [2, 2],
            Journal::Rollback => [1, 1],
        };
        assert_eq!(fs::read(draft).unwrap()[18..20], versions);
        // The draft is one file.
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
