//! How is a result kept? The SQLite database: its schema, what each kind of row says, and the digest of each record.

pub(super) mod account;
pub(super) mod correction_rows;
pub(super) mod correction_text;
pub(super) mod digest;
pub(super) mod draft;
pub(super) mod entry;
pub(super) mod file_system;
pub(super) mod meta;
pub(super) mod origin_columns;
pub(super) mod origin_filter;
pub(super) mod parts;
pub(super) mod plan_hash;
pub(super) mod row;
pub(super) mod schema;
pub(super) mod session_rows;
pub(super) mod store;
