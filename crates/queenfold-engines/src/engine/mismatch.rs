//! Why a counter gives no tally: a self-check failed, or the task was given up.

/// A self-check of a counter or of a device failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Mismatch(pub String);

/// A task was given up before its end, because the run stops or pauses. What was counted of it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("given up before its end")]
pub struct GivenUp;
