//! The picture of the speed.

use std::time::Duration;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::Color;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use ratatui::widgets::canvas::{Canvas, Line as Stroke};

use super::parts::boxed;
use super::theme::Theme;
use crate::telemetry::{Speeds, duration, speed};

/// Columns at the left for speeds.
const SCALE: u16 = 13;

/// Below these columns and lines, nothing is drawn.
const LEAST: (u16, u16) = (30, 5);

/// Draws all speeds, the latest at the right edge, with the time below and the scale at the left. When they are more than
/// there are dots, several of them share one.
pub fn draw_speed(frame: &mut Frame<'_>, theme: Theme, area: Rect, speeds: &Speeds) {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return;
    }
    let block = boxed(theme, " speed ");
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let [upper, axis] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inside);
    let [scale, chart] =
        Layout::horizontal([Constraint::Length(SCALE), Constraint::Min(0)]).areas(upper);
    let (across, up, marker) = theme.dots();
    let dots = [chart.width * across, chart.height * up];
    let (together, means) = means(&speeds.nodes_per_second, dots[0].into());
    let most = means.iter().copied().fold(0.0, f64::max);
    let [right, top] = dots.map(|dots| f64::from(dots.saturating_sub(1)));
    let first = f64::from(dots[0]) - means.len() as f64;
    let colour = theme.good().fg.unwrap_or(Color::Reset);
    let canvas = Canvas::default()
        .marker(marker)
        .x_bounds([0.0, right])
        .y_bounds([0.0, top])
        .paint(|paint| {
            for (at, mean) in means.iter().enumerate().filter(|(_, mean)| **mean > 0.0) {
                let x = first + at as f64;
                let y = (mean / most * top).round();
                paint.draw(&Stroke::new(x, 0.0, x, y, colour));
            }
        });
    frame.render_widget(canvas, chart);
    frame.render_widget(scale_lines(theme, most, scale.height), scale);
    let span = speeds
        .each
        .saturating_mul(u32::from(dots[0]))
        .saturating_mul(together as u32);
    let axis = Rect {
        x: chart.x,
        width: chart.width,
        ..axis
    };
    draw_axis(frame, theme, axis, span);
}

/// How many speeds share a dot, and the mean of those of each dot. Which ones share depends on their number alone, so that
/// the picture moves and does not flicker.
fn means(speeds: &[f64], dots: usize) -> (usize, Vec<f64>) {
    let together = speeds.len().div_ceil(dots.max(1)).max(1);
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    (together, speeds.chunks(together).map(mean).collect())
}

/// The highest speed, half of it where there is room, and 0.
fn scale_lines(theme: Theme, most: f64, height: u16) -> Paragraph<'static> {
    let middle = (height - 1) / 2;
    let lines = (0..height).map(|row| {
        let text = match row {
            0 => speed(most),
            row if row + 1 == height => "0".to_owned(),
            // Exactly in the middle, or the label would lie.
            row if row == middle && height % 2 == 1 && height >= 5 => speed(most / 2.0),
            _ => String::new(),
        };
        Line::from(format!("{text} ")).alignment(Alignment::Right)
    });
    Paragraph::new(lines.collect::<Vec<_>>()).style(theme.label())
}

/// What time the columns stand for, of which all together cover `span`.
fn draw_axis(frame: &mut Frame<'_>, theme: Theme, area: Rect, span: Duration) {
    let texts = [
        (Alignment::Left, format!("{} ago", duration(span))),
        (Alignment::Center, format!("{} ago", duration(span / 2))),
        (Alignment::Right, "now".to_owned()),
    ];
    let has_middle = area.width >= 40;
    for (side, text) in texts {
        if has_middle || side != Alignment::Center {
            let line = Line::styled(text, theme.label()).alignment(side);
            frame.render_widget(line, area);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_share_dots_only_where_they_have_to() {
        let speeds = [1.0, 2.0, 3.0, 4.0, 8.0];
        assert_eq!(means(&speeds, 5), (1, speeds.to_vec()));
        assert_eq!(means(&speeds, 4), (2, vec![1.5, 3.5, 8.0]));
        assert_eq!(means(&speeds, 0), (5, vec![3.6]));
        assert_eq!(means(&[], 4), (1, vec![]));
    }
}
