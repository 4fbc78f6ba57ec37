//! What a dashboard draws, and what the user has chosen of it.

use jiff::tz::TimeZone;

use super::theme::Theme;
use crate::telemetry::Snapshot;

/// A run as the user wants it drawn.
pub struct View<'a> {
    /// What is drawn.
    pub of: &'a Snapshot,
    /// How it looks.
    pub theme: Theme,
    /// The first line of the explanation of the keys that is shown; `None` if they are not explained.
    pub help: Option<usize>,
    /// The first row of the table that is shown.
    pub first: usize,
    /// Something to tell below everything else.
    pub note: Option<&'a str>,
    /// The zone of the times of day.
    pub zone: TimeZone,
    /// What the key `q` does; it does nothing in the terminal of the run itself.
    pub can_leave: bool,
}
