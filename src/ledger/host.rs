//! The name and the clock of this machine, for the record.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::system::host;

/// The name of this machine, for the record only; `unknown` where the system does not say.
pub fn host_name() -> String {
    host::name().unwrap_or_else(|| "unknown".to_owned())
}

/// Seconds since 1970 by the clock of this machine; negative before.
///
/// For people to read. A clock can be wrong and can be set back, so nothing is decided by it, and no
/// duration is computed from it.
pub fn unix_time() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |s| -s),
    }
}
