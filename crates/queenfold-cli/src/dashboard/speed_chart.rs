//! The picture of the speed.

use std::time::Duration;

use super::canvas::{Canvas, Rect, Side, Span};
use super::theme::Theme;
use crate::telemetry::Speeds;
use queenfold::words::{duration, speed};

/// Columns at the left for speeds.
const SCALE: u16 = 13;

/// Below these columns and lines, nothing is drawn.
const LEAST: (u16, u16) = (30, 5);

/// Draws all speeds, the latest at the right edge, with the time below and the scale at the left. When they are more than
/// there are dots, several of them share one; when they are fewer, each has several.
pub fn draw_speed(canvas: &mut Canvas, theme: Theme, area: Rect, speeds: &Speeds) {
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return;
    }
    let mut rest = canvas.frame(theme, area, " speed ", &[]);
    let mut upper = rest.take_top(rest.height - 1);
    let scale = upper.take_left(SCALE);
    let (across, up) = theme.dots();
    let dots = [upper.width * across, upper.height * up];
    let (together, means) = means(&speeds.nodes_per_second, dots[0].into());
    let most = means.iter().copied().fold(0.0, f64::max);
    let top = f64::from(dots[1] - 1);
    let wide = usize::from(dots[0]) / means.len().max(1);
    let mut heights = vec![0; usize::from(dots[0]) - wide * means.len()];
    heights.extend(means.iter().flat_map(|mean| {
        let height = match *mean > 0.0 {
            true => (mean / most * top).round() as u16 + 1,
            false => 0,
        };
        std::iter::repeat_n(height, wide)
    }));
    let bars = (0..upper.height).map(|row| {
        let below = (upper.height - 1 - row) * up;
        let dots = heights.chunks(across.into());
        let text: String = dots.map(|heights| theme.bars(heights, below)).collect();
        vec![Span::styled(text, theme.good())]
    });
    canvas.lines(upper, &bars.collect::<Vec<_>>());
    draw_scale(canvas, theme, scale, most);
    let span = speeds
        .each
        .saturating_mul(u32::from(dots[0]) * together as u32)
        / wide as u32;
    let axis = Rect {
        x: upper.x,
        width: upper.width,
        ..rest
    };
    draw_axis(canvas, theme, axis, span);
}

/// How many speeds share a dot, and the mean of those of each dot. Which ones share depends on their number alone, so that
/// the picture moves and does not flicker.
fn means(speeds: &[f64], dots: usize) -> (usize, Vec<f64>) {
    let together = speeds.len().div_ceil(dots.max(1)).max(1);
    let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
    (together, speeds.chunks(together).map(mean).collect())
}

/// Writes the highest speed, half of it where there is room, and 0.
fn draw_scale(canvas: &mut Canvas, theme: Theme, area: Rect, most: f64) {
    let mut label = |row, text: &str| {
        let (y, height) = (area.y + row, 1);
        let text = Span::styled(format!("{text} "), theme.label());
        canvas.line(Rect { y, height, ..area }, Side::Right, &[text]);
    };
    label(0, &speed(most));
    label(area.height - 1, "0");
    // Exactly in the middle, or the label would lie.
    if area.height % 2 == 1 && area.height >= 5 {
        label(area.height / 2, &speed(most / 2.0));
    }
}

/// What time the columns stand for, of which all together cover `span`.
fn draw_axis(canvas: &mut Canvas, theme: Theme, area: Rect, span: Duration) {
    let texts = [
        (Side::Left, format!("{} ago", duration(span))),
        (Side::Middle, format!("{} ago", duration(span / 2))),
        (Side::Right, "now".to_owned()),
    ];
    let has_middle = area.width >= 40;
    for (side, text) in texts {
        if has_middle || side != Side::Middle {
            canvas.line(area, side, &[Span::styled(text, theme.label())]);
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
