//! What a dashboard draws, and what the user has chosen of it.

use jiff::tz::TimeZone;
use ratatui::Frame;

use super::theme::Theme;

/// Something that a dashboard shows: a run, or a job array.
pub trait Picture: Sized {
    /// Draws all of it, or as much as there is room for. Returns the first row of its table, and the first line of
    /// the explanation of the keys, that is shown.
    fn draw(frame: &mut Frame<'_>, view: &View<'_, Self>) -> (usize, Option<usize>);

    /// Whether the key `p` lets it go on.
    fn is_paused(&self) -> bool;
}

/// A picture as the user wants it.
pub struct View<'a, P> {
    /// What is drawn.
    pub of: &'a P,
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
