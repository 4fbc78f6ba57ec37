//! What the dashboard draws on: places for characters, each with its style.

use console::measure_text_width;
use crossterm::style::ContentStyle;

use super::theme::Theme;

/// How a text looks.
pub type Style = ContentStyle;

/// A part of a screen, in columns and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

impl Rect {
    /// Takes at most so many lines away from the top.
    pub fn take_top(&mut self, height: u16) -> Self {
        let height = height.min(self.height);
        let top = Self { height, ..*self };
        self.y += height;
        self.height -= height;
        top
    }

    /// Takes at most so many columns away from the left.
    pub fn take_left(&mut self, width: u16) -> Self {
        let width = width.min(self.width);
        let left = Self { width, ..*self };
        self.x += width;
        self.width -= width;
        left
    }
}

/// A text of one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

impl Span {
    /// A text with a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        let text = text.into();
        Self { text, style }
    }

    /// A text that looks like most.
    pub fn raw(text: impl Into<String>) -> Self {
        Self::styled(text, Style::default())
    }
}

/// Texts beside each other.
pub type Line = Vec<Span>;

/// How many columns these texts need.
pub fn width(line: &[Span]) -> usize {
    line.iter().map(|span| measure_text_width(&span.text)).sum()
}

/// Where a line stands in its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Middle,
    Right,
}

/// A screen of places.
#[derive(Debug)]
pub struct Canvas {
    width: u16,
    height: u16,
    /// Line after line. A character of two columns has a place without text to its right.
    places: Vec<(Option<char>, Style)>,
}

impl Canvas {
    /// An empty screen of this size.
    pub fn new(width: u16, height: u16) -> Self {
        let places = usize::from(width) * usize::from(height);
        Self {
            width,
            height,
            places: vec![(Some(' '), Style::default()); places],
        }
    }

    /// All of it.
    pub const fn area(&self) -> Rect {
        Rect {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        }
    }

    /// The texts of a line.
    pub fn spans(&self, y: u16) -> Line {
        let mut spans = Line::new();
        for (character, style) in self.row(y) {
            match spans.last_mut() {
                Some(span) if span.style == *style => span.text.extend(character),
                _ => spans.push(Span {
                    text: character.iter().collect(),
                    style: *style,
                }),
            }
        }
        spans
    }

    /// What stands in each place of a line.
    pub fn row(&self, y: u16) -> &[(Option<char>, Style)] {
        let begin = usize::from(y) * usize::from(self.width);
        &self.places[begin..begin + usize::from(self.width)]
    }

    /// Writes a line into the first one of an area, as much of it as fits.
    pub fn line(&mut self, area: Rect, side: Side, line: &[Span]) {
        if area.height == 0 {
            return;
        }
        let free = usize::from(area.width).saturating_sub(width(line)) as u16;
        let mut left = area;
        left.take_left(match side {
            Side::Left => 0,
            Side::Middle => free / 2,
            Side::Right => free,
        });
        let characters = line.iter().flat_map(|span| {
            let characters = span.text.chars();
            characters.map(|character| (character, span.style))
        });
        for (character, style) in characters {
            let columns = measure_text_width(character.encode_utf8(&mut [0; 4])) as u16;
            if columns > left.width {
                return;
            }
            let place = left.take_left(columns);
            let begin = usize::from(place.y) * usize::from(self.width) + usize::from(place.x);
            for (column, of) in self.places[begin..][..columns.into()]
                .iter_mut()
                .enumerate()
            {
                *of = ((column == 0).then_some(character), style);
            }
        }
    }

    /// Writes lines from the top of an area on.
    pub fn lines<'a>(&mut self, mut area: Rect, lines: impl IntoIterator<Item = &'a Line>) {
        for line in lines {
            let top = area.take_top(1);
            self.line(top, Side::Left, line);
        }
    }

    /// Empties an area, and draws a frame around it with a title and a line below. Returns what is inside.
    pub fn frame(&mut self, theme: Theme, area: Rect, title: &str, below: &[Span]) -> Rect {
        let ([top, sides, bottom], style) = (theme.border(), theme.label());
        let inner = usize::from(area.width.saturating_sub(2));
        let mut rows = area;
        for row in 1..=area.height {
            let [begin, between, end] = match row {
                1 => top,
                row if row == area.height => bottom,
                _ => sides,
            };
            let line = format!("{begin}{}{end}", between.to_string().repeat(inner));
            self.line(rows.take_top(1), Side::Left, &[Span::styled(line, style)]);
        }
        let mut inside = Rect {
            x: area.x + 1,
            width: inner as u16,
            ..area
        };
        let title = Span::styled(theme.text(title), style);
        self.line(inside.take_top(1), Side::Left, &[title]);
        let within = inside.take_top(area.height.saturating_sub(2));
        self.line(inside, Side::Left, below);
        within
    }
}

/// The characters of a frame, from the left to the right: of its top, its sides and its bottom.
pub type Border = [[char; 3]; 3];

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(canvas: &Canvas) -> String {
        canvas.row(0).iter().filter_map(|place| place.0).collect()
    }

    #[test]
    fn a_line_is_cut_where_its_area_ends_and_never_inside_a_wide_character() {
        let line = [Span::raw("a漢"), Span::raw("\u{301}字b")];
        for (columns, expected) in [(6, "a漢字b"), (5, "a漢字"), (4, "a漢 "), (2, "a "), (0, "")]
        {
            let mut canvas = Canvas::new(columns, 1);
            canvas.line(canvas.area(), Side::Left, &line);
            assert_eq!(shown(&canvas), expected, "{columns}");
        }
        let mut canvas = Canvas::new(9, 1);
        canvas.line(canvas.area(), Side::Right, &[Span::raw("end")]);
        canvas.line(canvas.area(), Side::Middle, &[Span::raw("mid")]);
        assert_eq!(shown(&canvas), "   midend");
    }
}
