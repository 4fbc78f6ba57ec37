//! Whether the process was stopped and went on: never, because a console stops none.

use std::io;

/// Knows when the process goes on after it was stopped: a console stops none.
#[derive(Debug)]
pub struct Continued(());

impl Continued {
    /// From now on.
    ///
    /// # Errors
    /// None.
    pub const fn listen() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Whether it was stopped and went on.
    pub const fn has(&self) -> bool {
        false
    }

    /// As [`has`](Self::has).
    pub const fn take(&self) -> bool {
        false
    }
}
