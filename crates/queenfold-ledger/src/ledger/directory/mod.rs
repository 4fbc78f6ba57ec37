//! What lies in the directory of a run beside its database, who may write there, and what is asked of a run?
//!
//! * `files`: which files of a directory are opened at all, and whether they are still there.
//! * `lock`: only one process writes; `host`: the name and the clock of this machine.
//! * `sidecar_files`: the files for people who watch a run; `request`: what they ask of it.

pub(super) mod files;
pub(super) mod host;
pub(super) mod lock;
pub(super) mod request;
pub(super) mod sidecar_files;
