//! A table of a picture: as many columns as there is room for, and the rows that are scrolled to.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Row, Table};

use super::theme::Theme;

/// The blanks between columns.
const BETWEEN: u16 = 2;

/// A column: title, width, and the side on which texts stand.
pub type Column = (&'static str, u16, Alignment);

/// Rows with a text for each of these columns. What is less important is further to the right, and left out if
/// there is no room.
pub struct Rows<'a, const COLUMNS: usize> {
    /// The columns.
    pub columns: &'a [Column; COLUMNS],
    /// Their titles.
    pub titles: [Line<'static>; COLUMNS],
    /// How many rows there are.
    pub count: usize,
    /// What is said if there are none.
    pub none: &'a str,
}

impl<const COLUMNS: usize> Rows<'_, COLUMNS> {
    /// Draws the rows from `first` on, each as `row` says. Returns the first row that is shown.
    pub fn draw(
        &self,
        frame: &mut Frame<'_>,
        theme: Theme,
        area: Rect,
        first: usize,
        row: impl Fn(usize) -> ([Line<'static>; COLUMNS], Style),
    ) -> usize {
        if area.height < 2 {
            return first;
        }
        if self.count == 0 {
            frame.render_widget(Line::styled(self.none.to_owned(), theme.label()), area);
            return 0;
        }
        let shown = usize::from(area.height - 1);
        let first = first.min(self.count.saturating_sub(shown));
        let mut needed = 0;
        let fits = |column: &&Column| {
            needed += column.1 + BETWEEN;
            needed <= area.width + BETWEEN
        };
        let columns: Vec<_> = self.columns.iter().take_while(fits).collect();
        let cells = |texts: [Line<'static>; COLUMNS]| {
            let cells = texts.into_iter().zip(&columns);
            Row::new(cells.map(|(text, column)| text.alignment(column.2)))
        };
        let mut titles = self.titles.clone();
        let hidden = self.count.saturating_sub(first + shown);
        if first + hidden > 0 {
            titles[0] = format!("{}-{}", first + 1, self.count - hidden).into();
        }
        let last = self.count.min(first + shown);
        let rows = (first..last).map(|index| {
            let (texts, style) = row(index);
            cells(texts).style(style)
        });
        let widths = columns.iter().map(|column| Constraint::Length(column.1));
        let table = Table::new(rows, widths.collect::<Vec<_>>())
            .header(cells(titles).style(theme.label()))
            .column_spacing(BETWEEN);
        frame.render_widget(table, area);
        first
    }
}
