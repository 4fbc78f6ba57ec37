//! How is a result kept? The SQLite database: its schema, what each kind of row says, and the digest of each record.
//!
//! * `store`: opens the database, reads and writes records; `schema`: its layout and version; `draft`: a ledger before
//!   it has its name; `file_system`: which journal SQLite keeps where.
//! * `entry`: a recorded task; `entry_text`: in the words of columns; `entry_rows`: as a row.
//! * `meta`, `session_rows`, `correction_rows`: the other tables.
//! * `digest`: what each digest covers; `plan_hash`: the hash of a plan; `parts`: names of partitions that depend on no
//!   order.
//! * `origin_columns`: who counted, as rows say it; `origin_filter`: everything that one origin did.

pub(super) mod correction_rows;
pub(super) mod digest;
pub(super) mod draft;
pub(super) mod entry;
pub(super) mod entry_rows;
pub(super) mod entry_text;
pub(super) mod file_system;
pub(super) mod meta;
pub(super) mod origin_columns;
pub(super) mod origin_filter;
pub(super) mod parts;
pub(super) mod plan_hash;
pub(super) mod schema;
pub(super) mod session_rows;
pub(super) mod store;
