//! What stands at the bottom of the screen of a run: how it goes on, and the keys.

use super::canvas::{Line, Rect, Span, width};
use super::parts::{flow, safe};
use super::view::View;
use crate::shell::resume_command;

/// How to go on after a stop, and the keys.
pub fn footer(view: &View<'_>, area: Rect) -> Vec<Line> {
    let theme = view.theme;
    let styled = |text: &str, style| Span::styled(safe(theme, text), style);
    let note = view.note.map(|note| vec![styled(note, theme.waiting())]);
    let mut lines: Vec<_> = note.into_iter().collect();
    let go_on = match &view.of.directory {
        Some(directory) => vec![
            styled("after a stop: ", theme.label()),
            Span::raw(safe(theme, &resume_command(directory))),
        ],
        None => vec![styled("nothing is kept: there is no --dir", theme.label())],
    };
    // On a small screen, a worker more is worth more; and half a command is worth nothing.
    if area.height >= 14 && width(&go_on) <= usize::from(area.width) {
        lines.push(go_on);
    }
    let keys = [
        ("p", "pause"),
        ("d", "stop the run"),
        ("?", "help"),
        ("t", "theme"),
        ("q", if view.can_leave { "leave" } else { "quit" }),
    ];
    let keys = keys.map(|(key, what)| {
        let what = format!(" {what}   ");
        vec![styled(key, theme.title()), styled(&what, theme.label())]
    });
    lines.extend(flow(keys.into_iter(), area.width));
    lines
}

/// What the keys do, and what the names of the columns mean.
pub fn help_text(view: &View<'_>) -> Vec<&'static str> {
    let [quit, interrupt] = match view.can_leave {
        true => [
            "q        leave, or stop the run, too: it asks",
            "Ctrl-Z   suspend this program; the run goes on",
        ],
        false => [
            "q        stop the run in order: it asks",
            "Ctrl-C   stop the run in order; twice: at once",
        ],
    };
    let keys = KEYS.lines().chain([quit, interrupt, ""]);
    keys.chain(NAMES.lines()).collect()
}

const KEYS: &str = "\
p        pause the run, or let it go on
d d      stop the run in order; it can be resumed
t        other colours, or ASCII alone
up down  scroll the workers or this, also j k,
         page up, page down, home, end
other    close this";

const NAMES: &str = "\
busy: share of the time that it counted
stolen: had a task, but others had its core
idle: had no task, or the run was paused
speed of a worker: while it has a task
share: of the nodes that this run searched

map of the tasks, in the order of the plan; the
run takes them from all over it
  partly: some of the tasks of a cell
  now: being counted by a CPU worker
  earlier: recorded by an earlier process
  differed: two counts of it were not equal
queue: batches of tasks ready for workers
audits: tasks that were counted twice
CPU: share of all processors, lately";
