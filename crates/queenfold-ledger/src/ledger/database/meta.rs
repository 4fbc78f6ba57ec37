//! The table `meta`: which run a ledger belongs to, as texts under keys, each with a digest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, params};

use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::{LedgerError, RunInfo, Shard};
use queenfold::board::decimal;
use queenfold::board::{GivenBoard, Size};

/// The key of what is given on the board: the names of the queens, a semicolon, the names of the holes. It is
/// there if something is given.
const GIVEN: &str = "given";

/// Writes the rows of `info`.
pub(crate) fn write(connection: &Connection, info: &RunInfo) -> rusqlite::Result<()> {
    let plans = serde_json::to_string(&info.plans)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let rows = [
        ("config", info.config.clone()),
        ("n", info.n().to_string()),
        ("plans", plans),
        ("program", info.program.clone()),
        ("shard", info.shard.record()),
    ];
    let given = (!info.board.is_free()).then(|| (GIVEN, given_text(&info.board)));
    for (key, value) in rows.into_iter().chain(given) {
        connection.execute(
            "INSERT INTO meta (key, value, blake3) VALUES (?1, ?2, ?3)",
            params![key, value, digest(key, &value).0],
        )?;
    }
    Ok(())
}

fn given_text(board: &GivenBoard) -> String {
    board.names().join(";")
}

/// Reads the rows back, each checked against its digest. Numbers and names have the one form in which they are written.
pub(crate) fn read(connection: &Connection, file: &Path) -> Result<RunInfo, LedgerError> {
    let damaged = |what: String| LedgerError::damaged(file, what);
    let rows = connection
        .prepare("SELECT key, value, blake3 FROM meta LIMIT 9")
        .and_then(|mut statement| {
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<Result<Vec<(String, String, [u8; 32])>, _>>()
        })
        .map_err(|error| LedgerError::sqlite(file, &error))?;
    let mut values = BTreeMap::new();
    for (key, value, stored) in rows {
        if digest(&key, &value).0 != stored {
            return Err(damaged(format!(
                "its entry `{key}` does not match its digest"
            )));
        }
        values.insert(key, value);
    }
    let mut take = |key: &str| {
        values
            .remove(key)
            .ok_or_else(|| damaged(format!("its entry `{key}` is missing")))
    };
    let unreadable = |key: &str| damaged(format!("its entry `{key}` is unreadable"));
    let n: Size = decimal::read(&take("n")?).ok_or_else(|| unreadable("n"))?;
    let board = match take(GIVEN) {
        Err(_) => n.into(),
        Ok(given) => given
            .split_once(';')
            .and_then(|(queens, holes)| GivenBoard::parse(n, queens, holes).ok())
            .filter(|board| !board.is_free() && given_text(board) == given)
            .ok_or_else(|| unreadable(GIVEN))?,
    };
    let info = RunInfo {
        board,
        plans: serde_json::from_str(&take("plans")?)
            .map_err(|why| damaged(format!("its entry `plans` is unreadable: {why}")))?,
        shard: Shard::from_record(&take("shard")?).map_err(|_| unreadable("shard"))?,
        config: take("config")?,
        program: take("program")?,
    };
    let engines: BTreeSet<_> = info.plans.iter().map(|plan| plan.engine).collect();
    if engines.is_empty() || engines.len() < info.plans.len() {
        return Err(damaged(
            "its entry `plans` names no plan, or two of one engine".to_owned(),
        ));
    }
    match values.keys().next() {
        None => Ok(info),
        Some(key) => Err(damaged(format!("it has an unknown entry `{key}`"))),
    }
}

fn digest(key: &str, value: &str) -> Digest {
    DigestFields::new(context::META)
        .text(key)
        .text(value)
        .digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads these entries, with good digests.
    fn read_entries(entries: &[(&str, &str)]) -> Result<RunInfo, String> {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE meta (key TEXT, value TEXT, blake3 BLOB)")
            .unwrap();
        for &(key, value) in entries {
            let digest = digest(key, value).0;
            connection
                .execute("INSERT INTO meta VALUES (?1, ?2, ?3)", (key, value, digest))
                .unwrap();
        }
        read(&connection, Path::new("ledger.db")).map_err(|refused| refused.to_string())
    }

    #[test]
    fn entries_have_one_form() {
        let plan = r#"[{"engine":"chain","version":"chain-1","tasks":1,"hash":""}]"#;
        let good = [
            ("n", "8"),
            ("given", "c3;d5,a1"),
            ("plans", plan),
            ("shard", "1/3 by cost 1"),
            ("config", ""),
            ("program", ""),
        ];
        read_entries(&good).unwrap();
        for (key, value) in [
            ("n", "08"),
            ("n", "+8"),
            ("given", "c3;a1,d5"),
            ("given", "c3 ;d5,a1"),
            ("given", ";"),
            ("shard", "01/3 by cost 1"),
            ("shard", "1/+3"),
        ] {
            let changed = good.map(|own| if own.0 == key { (key, value) } else { own });
            let said = read_entries(&changed).unwrap_err();
            assert!(
                said.contains(&format!("its entry `{key}` is unreadable")),
                "{said}"
            );
        }
    }

    #[test]
    fn an_engine_that_is_none_is_named() {
        let plans = r#"[{"engine":"join","version":"join-4","tasks":1,"hash":""}]"#;
        let said = read_entries(&[("n", "8"), ("plans", plans)]).unwrap_err();
        let why =
            "its entry `plans` is unreadable: unknown variant `join`, expected one of `chain`";
        assert!(said.contains(why) && said.lines().count() == 1, "{said}");
    }
}
