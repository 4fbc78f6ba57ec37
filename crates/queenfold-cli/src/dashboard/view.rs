//! The picture of a run.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::areas::Areas;
use super::canvas::{Canvas, Line, Side, Span};
use super::events_panel::draw_events;
use super::figures::figures;
use super::footer::{footer, help_text};
use super::map_panel::draw_tasks;
use super::parts::{draw_help, safe, share_line, state};
use super::speed_chart::draw_speed;
use super::theme::Theme;
use super::worker_table::draw_workers;
use crate::telemetry::{RunFacts, Snapshot};
use queenfold::words::duration;

/// A run as the user wants it drawn.
pub struct View<'a> {
    /// What is drawn.
    pub of: &'a Snapshot,
    /// How it looks.
    pub theme: Theme,
    /// The first line of the explanation of the keys that is shown; `None` if they are not explained.
    pub help: Option<usize>,
    /// The first row of the table that is shown.
    pub first: usize,
    /// Something to tell below everything else.
    pub note: Option<&'a str>,
    /// The zone of the times of day.
    pub zone: TimeZone,
    /// What the key `q` does; it does nothing in the terminal of the run itself.
    pub can_leave: bool,
}

/// Draws all of it, or as much as there is room for. Returns the first row of its table, and the first line of
/// the explanation of the keys, that is shown.
pub fn draw(canvas: &mut Canvas, view: &View<'_>) -> (usize, Option<usize>) {
    let screen = canvas.area();
    let (run, theme) = (view.of, view.theme);
    let figures = figures(view, screen.width);
    let footer = footer(view, screen);
    let areas = Areas::of(screen, figures.len(), footer.len(), run);
    canvas.line(areas.title, Side::Left, &title(view));
    let facts = RunFacts::of(&run.progress, &run.host);
    let is_wide = screen.width >= 100;
    let end = facts.eta.filter(|_| is_wide);
    let end = end.and_then(|eta| end_of(view, eta.left));
    let share = share_line(theme, screen.width, &facts, end);
    canvas.line(areas.share, Side::Left, &share);
    canvas.lines(areas.figures, &figures);
    draw_speed(canvas, theme, areas.speed, &run.speeds);
    draw_tasks(canvas, theme, areas.map, &run.tasks);
    let workers = &run.progress.workers;
    let first = draw_workers(canvas, theme, areas.workers, workers, view.first);
    draw_events(canvas, theme, areas.events, &run.incidents);
    canvas.lines(areas.footer, &footer);
    let help = view.help;
    let help = help.map(|first| draw_help(canvas, theme, screen, &help_text(view), first));
    (first, help)
}

fn title(view: &View<'_>) -> Line {
    let (run, theme) = (view.of, view.theme);
    let (state, style) = state(&run.progress, theme);
    let engines: Vec<_> = run.engines.iter().map(|engine| engine.name()).collect();
    let by = match engines.is_empty() {
        true => String::new(),
        false => format!(" · by {}", engines.join(" + ")),
    };
    // What is given may be long, and is cut where it does not fit.
    let given = run.given.as_ref().map(|given| format!(" · given {given}"));
    let rest = format!(
        " · {}{by} · on {}{}",
        duration(run.progress.elapsed),
        run.host,
        given.unwrap_or_default()
    );
    vec![
        Span::styled(format!("{} queens", run.n), theme.title()),
        Span::raw(theme.text(" · ")),
        Span::styled(state, style),
        Span::raw(safe(theme, &rest)),
    ]
}

/// When this much time will have passed, by the local clock: the hour, with the day if it is another one.
fn end_of(view: &View<'_>, left: Duration) -> Option<String> {
    let taken = Timestamp::from_second(view.of.taken as i64).ok()?;
    let taken = taken.to_zoned_datetime(view.zone.clone());
    let end = taken.checked_add(left).ok()?;
    let format = match end.date() == taken.date() {
        true => "%H:%M",
        false => "%Y-%m-%d %H:%M",
    };
    Some(end.strftime(format).to_string())
}
