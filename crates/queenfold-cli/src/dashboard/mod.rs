//! A dashboard of a run: in the terminal of the run itself (`--tui`), or in another one (`status --watch`).

mod areas;
mod canvas;
mod events_panel;
mod figures;
mod footer;
mod map_panel;
mod other_run;
mod own_run;
mod parts;
mod screen;
mod speed_chart;
#[cfg(test)]
mod tests;
mod theme;
mod view;
mod worker_table;

use std::io::{self, PipeReader};
use std::thread;
use std::time::{Duration, Instant};

use console::Key;
use jiff::tz::TimeZone;

use self::theme::Theme;
use self::view::{View, draw};
use crate::control::signals;
use crate::control::terminal::{self, SignalKey};
use crate::telemetry::{Snapshot, last_message};
use queenfold::actors::RunState;
use queenfold_ledger::ledger::Request;

pub use self::other_run::watch;
pub use self::own_run::OwnDashboard;
pub use self::screen::Screen;

/// How often the picture is drawn.
const REFRESH: Duration = Duration::from_millis(250);

/// How long a question or an answer stands.
const SURE: Duration = Duration::from_secs(5);

/// Why Ctrl-Z did nothing.
const NOT_STOPPED: &str = "Ctrl-Z: the system does not suspend this process: it ignores the signal, or no shell would let it go on";

/// What there is to show: a run, and something to say about it; `None` if there is nothing more.
pub type Shown = Option<(Snapshot, Option<String>)>;

/// What the user is asked before anything is done, the keys that stop the run, and those that leave it alone. Any other key
/// goes back.
type Question = (&'static str, &'static str, &'static str);

/// After `d`.
const STOP: Question = ("press d again to stop; any other key goes back", "d", "");

/// After `q` or Esc, where the run is in this process and cannot be left alone.
const QUIT: Question = (
    "stop the run in order? q or s stops it, any other key goes back; Ctrl-Z suspends it",
    "qs",
    "",
);

/// After `q` or Esc, where the run is elsewhere.
const LEAVE: Question = (
    "q leaves, and the run goes on; s stops the run; any other key goes back",
    "s",
    "q",
);

/// Shows what `look` gives until it is over or the user leaves, and has `ask` ask the run for what the user wants. Returns
/// whether the user left. A run in this process has an `end`, a pipe whose other end is closed when there is nothing more to
/// show, and the keys that end a program are its own.
///
/// # Errors
/// The terminal is gone.
pub fn show(
    mut look: impl FnMut() -> Shown,
    mut ask: impl FnMut(Request) -> io::Result<()>,
    end: Option<&PipeReader>,
) -> io::Result<bool> {
    let mut screen = Screen::take()?;
    let mut theme = Theme::of_environment();
    let (mut help, mut first) = (None, 0_usize);
    let mut asked: Option<Question> = None;
    // The question or an answer, and since when.
    let mut said: Option<(String, Instant)> = None;
    let zone = TimeZone::system();
    loop {
        let Some((run, about)) = look() else {
            return Ok(false);
        };
        if !screen.is_ours()? {
            thread::sleep(REFRESH);
            continue;
        }
        said = said.filter(|(_, since)| since.elapsed() < SURE);
        asked = asked.filter(|_| said.is_some());
        let note = said.as_ref().map(|(text, _)| text.clone());
        let note = note.or(about).or_else(last_message);
        screen.draw(|canvas| {
            let view = View {
                of: &run,
                theme,
                help,
                first,
                note: note.as_deref(),
                zone: zone.clone(),
                can_leave: end.is_none(),
            };
            (first, help) = draw(canvas, &view);
        })?;
        let Some(key) = Screen::key(REFRESH, end)? else {
            continue;
        };
        let mut hint = None;
        match signal_key(&key) {
            Some(key @ SignalKey::Interrupt) if end.is_some() => signals::deliver(key),
            Some(SignalKey::Interrupt) => return Ok(true),
            Some(key @ SignalKey::Quit) => signals::deliver(key),
            Some(SignalKey::Suspend) => {
                said = (!screen.suspend()).then(|| (NOT_STOPPED.to_owned(), Instant::now()));
                continue;
            }
            None => {}
        }
        let mut done = Ok(());
        match (asked.take(), &key) {
            (Some((_, stop, _)), Key::Char(key)) if stop.contains(*key) => {
                done = ask(Request::Stop);
            }
            (Some((_, _, leave)), Key::Char(key)) if leave.contains(*key) => return Ok(true),
            // The key was the answer.
            (Some(_), _) => {}
            (None, _) => match key {
                key if help.is_some() => {
                    help = help.and_then(|mut line| scroll(&mut line, &key).then_some(line));
                }
                Key::Char('q') | Key::Escape => {
                    asked = Some(if end.is_some() { QUIT } else { LEAVE });
                }
                Key::Char('p') => {
                    done = ask(match run.progress.state {
                        RunState::Paused => Request::Resume,
                        _ => Request::Pause,
                    });
                }
                Key::Char('d') => asked = Some(STOP),
                Key::Char('?' | 'h') => help = Some(0),
                Key::Char('t') => theme = theme.next(),
                key => {
                    let scrolled = scroll(&mut first, &key);
                    hint = (!scrolled).then(|| unknown(&key));
                }
            },
        }
        let text = match (done, asked) {
            (Err(error), _) => Some(format!("the run cannot be asked: {error}")),
            (Ok(()), Some((question, ..))) => Some(question.to_owned()),
            (Ok(()), None) => hint,
        };
        said = text.map(|text| (text, Instant::now()));
    }
}

/// Moves the first line that is shown, if the key does that. What is too far is corrected when it is drawn.
const fn scroll(first: &mut usize, key: &Key) -> bool {
    *first = match key {
        Key::ArrowUp | Key::Char('k') => first.saturating_sub(1),
        Key::ArrowDown | Key::Char('j') => first.saturating_add(1),
        Key::PageUp => first.saturating_sub(10),
        Key::PageDown => first.saturating_add(10),
        Key::Home => 0,
        Key::End => usize::MAX,
        _ => return false,
    };
    true
}

/// The answer to a key that does nothing.
fn unknown(key: &Key) -> String {
    let key = match key {
        Key::Char(' ') => "the space bar".to_owned(),
        Key::Char(key) if key.is_ascii_graphic() => format!("{key}"),
        _ => "this key".to_owned(),
    };
    format!("{key} does nothing; ? lists the keys")
}

/// Which signal the user's terminal sends for this key, if any.
fn signal_key(key: &Key) -> Option<SignalKey> {
    let character = match key {
        Key::CtrlC => '\u{3}',
        Key::Char(character) => *character,
        _ => return None,
    };
    terminal::signal_key(u8::try_from(character).ok()?)
}
