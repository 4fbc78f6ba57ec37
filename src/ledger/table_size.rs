//! How much a table holds, asked before any of it is read: a stranger may have written it.

use rusqlite::Connection;

/// The rows of a table, and the bytes of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableSize {
    /// The number of rows.
    pub rows: i64,
    /// The bytes of the column in all rows.
    pub bytes: i64,
}

impl TableSize {
    /// The size of `table` with the texts in `column`, both names of the layout.
    pub(super) fn of(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<Self> {
        let sql = format!("SELECT count(*), coalesce(sum(octet_length({column})), 0) FROM {table}");
        connection.query_row(&sql, [], |row| {
            Ok(Self {
                rows: row.get(0)?,
                bytes: row.get(1)?,
            })
        })
    }

    /// What is wrong if it is more than `most`, with the name of what a row holds in the plural.
    pub(super) fn beyond(self, most: Self, what: &str) -> Option<String> {
        let Self { rows, bytes } = self;
        (rows > most.rows || bytes > most.bytes).then(|| {
            let mib = most.bytes >> 20;
            let most = most.rows;
            format!("it has {rows} {what} with {bytes} bytes, and there are at most {most} with {mib} MiB")
        })
    }
}
