//! What happened in a run.

use std::collections::VecDeque;

use super::canvas::{Canvas, Rect, Span};
use super::parts::safe;
use super::theme::Theme;
use crate::telemetry::Incident;
use queenfold::words::{duration, grouped};

/// Draws the latest incidents, each with its last time and how often it happened.
pub fn draw_events(canvas: &mut Canvas, theme: Theme, area: Rect, incidents: &VecDeque<Incident>) {
    if area.height < 3 {
        return;
    }
    let hidden = incidents.len().saturating_sub(usize::from(area.height - 2));
    let lines = incidents.iter().skip(hidden).map(|incident| {
        let mut line = vec![
            Span::styled(format!("{:>9} ", duration(incident.at)), theme.label()),
            Span::raw(safe(theme, &incident.text)),
        ];
        if incident.times > 1 {
            let times = format!(" ({} times, this is the last)", grouped(incident.times));
            line.push(Span::styled(times, theme.label()));
        }
        line
    });
    let inside = canvas.frame(theme, area, " events ", &[]);
    canvas.lines(inside, &lines.collect::<Vec<_>>());
}
