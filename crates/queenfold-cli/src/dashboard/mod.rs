//! A dashboard of a run: in the terminal of the run itself (`--tui`), or in another one (`watch`).

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

pub use self::other_run::watch;
pub use self::own_run::OwnDashboard;
pub use self::screen::Screen;

/// How often the picture is drawn.
const REFRESH: Duration = Duration::from_millis(250);

/// How long a question or an answer stands.
const SURE: Duration = Duration::from_secs(5);

/// Why Ctrl-Z did nothing.
const NOT_STOPPED: &str = "Ctrl-Z: the system does not suspend this process: it ignores the signal, or no shell would let it go on";

/// What a dashboard can do with a run.
pub trait Steer {
    /// Pauses the run, or lets it go on.
    fn pause(&mut self, paused: bool) -> io::Result<()>;

    /// Stops the run in order.
    fn stop(&mut self) -> io::Result<()>;

    /// Whether the keys that end a program are those of the run: it is in this process.
    fn is_own(&self) -> bool;

    /// A pipe whose other end is closed when there is nothing more to show.
    fn end(&self) -> Option<&PipeReader> {
        None
    }
}

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

/// Shows what `look` gives until it is over or the user leaves. Returns whether the user left.
///
/// # Errors
/// The terminal is gone.
pub fn show(mut look: impl FnMut() -> Shown, steer: &mut impl Steer) -> io::Result<bool> {
    let mut screen = Screen::take()?;
    let mut theme = Theme::of_environment();
    let (mut help, mut first) = (None, 0_usize);
    let mut asked: Option<(Question, Instant)> = None;
    let mut answered: Option<(String, Instant)> = None;
    let zone = TimeZone::system();
    loop {
        let Some((run, about)) = look() else {
            return Ok(false);
        };
        if !screen.is_ours()? {
            thread::sleep(REFRESH);
            continue;
        }
        asked = asked.filter(|(_, since)| since.elapsed() < SURE);
        let question = asked.map(|((text, ..), _)| text.to_owned());
        answered = answered.filter(|(_, since)| since.elapsed() < SURE);
        let note = question
            .or_else(|| answered.as_ref().map(|(text, _)| text.clone()))
            .or(about)
            .or_else(last_message);
        screen.draw(|canvas| {
            let view = View {
                of: &run,
                theme,
                help,
                first,
                note: note.as_deref(),
                zone: zone.clone(),
                can_leave: !steer.is_own(),
            };
            (first, help) = draw(canvas, &view);
        })?;
        let Some(key) = Screen::key(REFRESH, steer.end())? else {
            continue;
        };
        let mut done = Ok(());
        let mut hint = None;
        match signal_key(&key) {
            Some(key @ SignalKey::Interrupt) if steer.is_own() => signals::deliver(key),
            Some(SignalKey::Interrupt) => return Ok(true),
            Some(key @ SignalKey::Quit) => signals::deliver(key),
            Some(SignalKey::Suspend) => {
                answered = (!screen.suspend()).then(|| (NOT_STOPPED.to_owned(), Instant::now()));
                continue;
            }
            None => {}
        }
        match (asked.take(), &key) {
            (Some(((_, stop, _), _)), Key::Char(key)) if stop.contains(*key) => done = steer.stop(),
            (Some(((_, _, leave), _)), Key::Char(key)) if leave.contains(*key) => return Ok(true),
            // The key was the answer.
            (Some(_), _) => {}
            (None, _) => match key {
                key if help.is_some() => {
                    help = help.and_then(|mut line| scroll(&mut line, &key).then_some(line));
                }
                Key::Char('q') | Key::Escape => {
                    let question = if steer.is_own() { QUIT } else { LEAVE };
                    asked = Some((question, Instant::now()));
                }
                Key::Char('p') => {
                    done = steer.pause(run.progress.state != RunState::Paused);
                }
                Key::Char('d') => asked = Some((STOP, Instant::now())),
                Key::Char('?' | 'h') => help = Some(0),
                Key::Char('t') => theme = theme.next(),
                key => {
                    let scrolled = scroll(&mut first, &key);
                    hint = (!scrolled).then(|| unknown(&key));
                }
            },
        }
        let error = done.err();
        answered = error
            .map(|error| format!("the run cannot be asked: {error}"))
            .or(hint)
            .map(|text| (text, Instant::now()));
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
