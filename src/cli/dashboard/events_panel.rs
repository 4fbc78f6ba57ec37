//! What happened in a run.

use std::collections::VecDeque;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::parts::{boxed, safe};
use super::theme::Theme;
use crate::telemetry::{Incident, duration, grouped};

/// Draws the latest incidents, each with its last time and how often it happened.
pub fn draw_events(
    frame: &mut Frame<'_>,
    theme: Theme,
    area: Rect,
    incidents: &VecDeque<Incident>,
) {
    if area.height < 3 {
        return;
    }
    let hidden = incidents.len().saturating_sub(usize::from(area.height - 2));
    let lines = incidents.iter().skip(hidden).map(|incident| {
        let mut line = Line::from(vec![
            Span::styled(format!("{:>9} ", duration(incident.at)), theme.label()),
            Span::raw(safe(theme, &incident.text)),
        ]);
        if incident.times > 1 {
            let times = format!(" ({} times, this is the last)", grouped(incident.times));
            line.push_span(Span::styled(times, theme.label()));
        }
        line
    });
    let lines = Paragraph::new(lines.collect::<Vec<_>>());
    frame.render_widget(lines.block(boxed(theme, " events ")), area);
}
