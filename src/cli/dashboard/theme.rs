use std::env;

use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::{Marker, border};

use super::cell::Cell;

/// How the dashboard looks. Colours are those that the user's terminal has under these names, so that they
/// fit its background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    colour: bool,
    unicode: bool,
}

impl Theme {
    /// What the environment asks for: no colours with `NO_COLOR`, and ASCII alone if the locale has no UTF-8.
    pub fn of_environment() -> Self {
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        // The first of these that is set decides.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .filter_map(|name| env::var(name).ok())
            .find(|value| !value.is_empty())
            .unwrap_or_default()
            .to_ascii_lowercase();
        Self {
            colour: !is_set("NO_COLOR"),
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
        }
    }

    /// The next theme, for the key that changes it.
    #[must_use]
    pub const fn next(self) -> Self {
        match (self.colour, self.unicode) {
            (true, unicode) => Self {
                colour: false,
                unicode,
            },
            (false, unicode) => Self {
                colour: true,
                unicode: !unicode,
            },
        }
    }

    #[cfg(test)]
    pub const fn new(colour: bool, unicode: bool) -> Self {
        Self { colour, unicode }
    }

    /// A style with this colour, if there are any.
    fn coloured(self, colour: Color) -> Style {
        match self.colour {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }

    /// Names of values and columns.
    pub fn label(self) -> Style {
        match self.colour {
            true => Style::new().fg(Color::DarkGray),
            false => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// What is done, and the speed.
    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What should not be.
    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What waits or is paused.
    pub fn waiting(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// What somebody else had.
    pub fn stolen(self) -> Style {
        self.coloured(Color::Red)
    }

    /// What was there before.
    pub fn before(self) -> Style {
        self.coloured(Color::Blue)
    }

    /// Titles.
    pub fn title(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The text in characters that the terminal has.
    pub fn text(self, text: &str) -> String {
        match self.unicode {
            true => text.to_owned(),
            false => text
                .replace('·', "|")
                .replace('±', "+-")
                .replace('…', "...")
                .replace('°', "")
                .chars()
                .map(|c| if c.is_ascii() { c } else { '?' })
                .collect(),
        }
    }

    /// A bar of this width, a share of which is filled.
    pub fn gauge(self, share: f64, width: usize) -> (String, String) {
        let filled = ((share.clamp(0.0, 1.0) * width as f64) as usize).min(width);
        let (full, empty) = match self.unicode {
            true => ("█", "░"),
            false => ("#", "."),
        };
        (full.repeat(filled), empty.repeat(width - filled))
    }

    /// Dots across and up in a character of a chart, and what is drawn there.
    pub const fn dots(self) -> (u16, u16, Marker) {
        match self.unicode {
            true => (2, 4, Marker::Braille),
            false => (1, 1, Marker::Custom('#')),
        }
    }

    /// The parts of a bar: busy, stolen, waiting.
    pub const fn parts(self) -> [&'static str; 3] {
        match self.unicode {
            true => ["█", "▒", "░"],
            false => ["#", "x", "."],
        }
    }

    /// A cell of a map. Without colours, too, each kind looks different.
    pub fn cell(self, cell: Cell) -> (&'static str, Style) {
        let style = match cell {
            Cell::Empty => self.label(),
            Cell::Partly(_) | Cell::Full => self.good(),
            Cell::SomeBefore | Cell::Before => self.before(),
            Cell::Active => self.waiting(),
            Cell::Wrong => self.bad(),
        };
        (self.glyph(cell), style)
    }

    fn glyph(self, cell: Cell) -> &'static str {
        const EIGHTHS: [&str; 7] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇"];
        match (cell, self.unicode) {
            (Cell::Empty, true) => "·",
            (Cell::Partly(share), true) => EIGHTHS[((share * 7.0) as usize).min(6)],
            (Cell::Full, true) => "█",
            (Cell::SomeBefore, true) => "░",
            (Cell::Before, true) => "▒",
            (Cell::Active, true) => "●",
            (Cell::Wrong, _) => "!",
            (Cell::Empty, false) => ".",
            (Cell::Partly(_), false) => "+",
            (Cell::Full, false) => "#",
            (Cell::SomeBefore, false) => "-",
            (Cell::Before, false) => "=",
            (Cell::Active, false) => "o",
        }
    }

    /// The lines around a box.
    pub const fn border(self) -> border::Set<'static> {
        match self.unicode {
            true => border::PLAIN,
            false => border::Set {
                top_left: "+",
                top_right: "+",
                bottom_left: "+",
                bottom_right: "+",
                vertical_left: "|",
                vertical_right: "|",
                horizontal_top: "-",
                horizontal_bottom: "-",
            },
        }
    }
}
