//! What the pictures of the dashboard have in common. They show what files of strangers say, so every text is made
//! printable.

use super::canvas::{Canvas, Line, Rect, Span, Style};
use super::theme::Theme;
use crate::control::live_run::state_in_words;
use crate::telemetry::{RunFacts, printable};
use queenfold::actors::{Progress, RunState};
use queenfold::words::percent;

/// A text of somebody else, safe for a terminal.
pub fn safe(theme: Theme, text: &str) -> String {
    theme.text(&printable(text))
}

/// What a run does, and how that looks.
pub fn state(progress: &Progress, theme: Theme) -> (String, Style) {
    let style = match progress.state {
        RunState::Running | RunState::Finished => theme.good(),
        RunState::Failed => theme.bad(),
        RunState::Planning | RunState::Paused | RunState::Draining | RunState::Stopped => {
            theme.waiting()
        }
    };
    let state = state_in_words(progress.state.name(), &progress.paused_for);
    (state, style)
}

/// A bar of the share that is done, and after it that share, the time left, and when that is over.
pub fn share_line(theme: Theme, width: u16, facts: &RunFacts, end: Option<String>) -> Line {
    let share = facts.share.map(percent);
    let mut after = vec![share.unwrap_or_else(|| "share not known".to_owned())];
    after.extend(facts.left().map(|left| format!("left {left}")));
    after.extend(end.map(|end| format!("ends {end}")));
    let after = theme.text(&format!(" {}", after.join(" · ")));
    let room = usize::from(width).saturating_sub(after.chars().count());
    let (full, empty) = theme.gauge(facts.share.unwrap_or(0.0), room);
    vec![
        Span::styled(full, theme.good()),
        Span::styled(empty, theme.label()),
        Span::raw(after),
    ]
}

/// Puts parts one after the other, as many on each line as fit. Blanks at the end of a part need no room.
pub fn flow(parts: impl Iterator<Item = Line>, width: u16) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut used = 0;
    for part in parts {
        let text: String = part.iter().map(|span| span.text.as_str()).collect();
        let needs = text.trim_end().chars().count();
        if lines.is_empty() || used + needs > usize::from(width) {
            lines.push(Line::new());
            used = 0;
        }
        used += text.chars().count();
        if let Some(line) = lines.last_mut() {
            line.extend(part);
        }
    }
    lines
}

/// Draws an empty box with a title, and a line at its lower edge. Returns what is inside.
pub fn boxed(canvas: &mut Canvas, theme: Theme, area: Rect, title: &str, below: &[Span]) -> Rect {
    canvas.frame(
        area,
        theme.border(),
        theme.label(),
        &theme.text(title),
        below,
    )
}

/// The keys, and what they do.
pub fn key_line(theme: Theme, keys: &[(&'static str, &str)], width: u16) -> Vec<Line> {
    let keys = keys.iter().map(|(key, what)| {
        vec![
            Span::styled(*key, theme.title()),
            Span::styled(theme.text(&format!(" {what}   ")), theme.label()),
        ]
    });
    flow(keys, width)
}

/// Draws an explanation of ASCII lines over everything else, from line `first`. Returns the first line that is shown.
pub fn draw_help(
    canvas: &mut Canvas,
    theme: Theme,
    area: Rect,
    text: &[&str],
    first: usize,
) -> usize {
    let width = (text.iter().map(|line| line.len()).max().unwrap_or(0) as u16 + 4).min(area.width);
    let lines: Vec<_> = text
        .iter()
        .flat_map(|line| wrapped(line, width.saturating_sub(2).into()))
        .collect();
    let height = (lines.len() as u16 + 2).min(area.height);
    let hidden = lines
        .len()
        .saturating_sub(height.saturating_sub(2).max(1).into());
    let first = first.min(hidden);
    let middle = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let name = match hidden {
        0 => " keys ",
        _ => " keys: up, down ",
    };
    let inside = boxed(canvas, theme, middle, name, &[]);
    canvas.lines(inside, &lines[first..]);
    first
}

/// An ASCII text in lines of at most this many columns, each ended between words if it can be.
fn wrapped(text: &str, columns: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut rest = text;
    while rest.len() > columns && columns > 0 {
        let end = rest[..=columns].rfind(' ').filter(|end| *end > 0);
        let (line, more) = rest.split_at(end.unwrap_or(columns));
        lines.push(vec![Span::raw(line)]);
        rest = more.trim_start();
    }
    lines.push(vec![Span::raw(rest)]);
    lines
}
