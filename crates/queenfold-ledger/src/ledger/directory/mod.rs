//! What lies in the directory of a run beside its database, who may write there, and what is asked of a run?

pub(super) mod files;
pub(super) mod host;
pub(super) mod lock;
pub(super) mod request;
pub(super) mod sidecar_files;
