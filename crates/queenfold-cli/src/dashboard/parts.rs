//! What the pictures of the dashboard have in common. They show what files of strangers say, so every text is made
//! printable.

use super::canvas::{Canvas, Line, Rect, Span, Style};
use super::theme::Theme;
use crate::telemetry::{RunFacts, printable, state_in_words};
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
    let state = state_in_words(progress.state, &progress.paused_for);
    (state, style)
}

/// A bar of the share that is done, and after it that share, the time left, and when that is over.
pub fn share_line(theme: Theme, width: u16, facts: &RunFacts<'_>, end: Option<String>) -> Line {
    let share = facts.share.map(percent);
    let mut after = vec![share.unwrap_or_else(|| "share not known".to_owned())];
    after.extend(facts.left().map(|left| format!("left {left}")));
    after.extend(end.map(|end| format!("ends {end}")));
    let after = theme.text(&format!(" {}", after.join(" · ")));
    let room = usize::from(width).saturating_sub(after.chars().count());
    let [full, empty] = theme.gauge(facts.share.unwrap_or(0.0), room);
    vec![full, empty, Span::raw(after)]
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

/// Draws an explanation of ASCII lines over everything else, from line `first`. Returns the first line that is shown.
pub fn draw_help(
    canvas: &mut Canvas,
    theme: Theme,
    area: Rect,
    text: &[&str],
    first: usize,
) -> usize {
    let width = (text.iter().map(|line| line.len()).max().unwrap_or(0) as u16 + 4).min(area.width);
    let words = |line: &&str| {
        let words = line.split_inclusive(' ').map(|word| vec![Span::raw(word)]);
        flow(words.chain([Line::new()]), width.saturating_sub(2))
    };
    let lines: Vec<_> = text.iter().flat_map(words).collect();
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
    let inside = canvas.frame(theme, middle, name, &[]);
    canvas.lines(inside, &lines[first..]);
    first
}
