//! The name and the clock of this machine, for the record.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::system::host;

/// The name of this machine, for the record only; `unknown` where the system does not say.
pub fn host_name() -> String {
    host::name().unwrap_or_else(|| "unknown".to_owned())
}

/// Seconds since 1970 by the clock of this machine; 0 before.
///
/// For people to read. A clock can be wrong and can be set back, so nothing is decided by it, and no
/// duration is computed from it.
pub fn unix_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
