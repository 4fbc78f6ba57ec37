//! Colours and characters of the dashboard.

use std::env;

use crossterm::style::{Color, Stylize};

use super::canvas::{Border, Span, Style};
use super::map_panel::Cell;

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
        Self {
            colour: !self.colour,
            unicode: self.colour == self.unicode,
        }
    }

    #[cfg(test)]
    pub const fn new(colour: bool, unicode: bool) -> Self {
        Self { colour, unicode }
    }

    /// A style with this colour, if there are any.
    fn coloured(self, colour: Color) -> Style {
        match self.colour {
            true => Style::new().with(colour),
            false => Style::new(),
        }
    }

    /// Names of values and columns.
    pub fn label(self) -> Style {
        match self.colour {
            true => Style::new().dark_grey(),
            false => Style::new().dim(),
        }
    }

    /// What is done, and the speed.
    pub fn good(self) -> Style {
        self.coloured(Color::DarkGreen)
    }

    /// What should not be.
    pub fn bad(self) -> Style {
        self.coloured(Color::DarkRed).bold()
    }

    /// What waits or is paused.
    pub fn waiting(self) -> Style {
        self.coloured(Color::DarkYellow)
    }

    /// What was there before.
    pub fn before(self) -> Style {
        self.coloured(Color::DarkBlue)
    }

    /// Titles.
    pub fn title(self) -> Style {
        self.coloured(Color::DarkCyan).bold()
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
    pub fn gauge(self, share: f64, width: usize) -> [Span; 2] {
        let filled = ((share.clamp(0.0, 1.0) * width as f64) as usize).min(width);
        let [full, _, empty] = self.parts().map(|part| part.text);
        [
            Span::styled(full.repeat(filled), self.good()),
            Span::styled(empty.repeat(width - filled), self.label()),
        ]
    }

    /// Dots across and up in a character of a chart.
    pub const fn dots(self) -> (u16, u16) {
        match self.unicode {
            true => (2, 4),
            false => (1, 1),
        }
    }

    /// A character of bars of these heights, of whose dots so many are below it.
    pub fn bars(self, heights: &[u16], below: u16) -> char {
        // The bits of Braille characters, from the lowest dot on, left and right (Unicode, block U+2800).
        const DOTS: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
        if !self.unicode {
            return if heights[0] > below { '#' } else { ' ' };
        }
        let bits = heights.iter().zip(DOTS).map(|(height, dots)| {
            let here = height.saturating_sub(below);
            dots.iter().take(here.into()).sum::<u32>()
        });
        let bits = bits.sum::<u32>();
        char::from_u32(if bits == 0 { ' '.into() } else { 0x2800 + bits }).unwrap_or(' ')
    }

    /// The parts of a bar: with a core, without one because others had it, without a task.
    pub fn parts(self) -> [Span; 3] {
        let glyphs = match self.unicode {
            true => ["█", "▒", "░"],
            false => ["#", "x", "."],
        };
        let styles = [self.good(), self.coloured(Color::DarkRed), self.waiting()];
        std::array::from_fn(|at| Span::styled(glyphs[at], styles[at]))
    }

    /// A cell of a map. Without colours, too, each kind looks different.
    pub fn cell(self, cell: Cell) -> (&'static str, Style) {
        let (unicode, ascii, style) = match cell {
            Cell::Empty => ("·", ".", self.label()),
            Cell::Partly => ("▄", "+", self.good()),
            Cell::Full => ("█", "#", self.good()),
            Cell::SomeBefore => ("░", "-", self.before()),
            Cell::Before => ("▒", "=", self.before()),
            Cell::Active => ("●", "o", self.waiting()),
            Cell::Wrong => ("!", "!", self.bad()),
        };
        (if self.unicode { unicode } else { ascii }, style)
    }

    /// The characters of the lines around a box, from the left to the right: at the top, between, and at the bottom.
    pub const fn border(self) -> Border {
        match self.unicode {
            true => [['┌', '─', '┐'], ['│', ' ', '│'], ['└', '─', '┘']],
            false => [['+', '-', '+'], ['|', ' ', '|'], ['+', '-', '+']],
        }
    }
}
