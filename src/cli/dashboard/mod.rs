//! A dashboard of a run: in the terminal of the run itself (`--tui`), or in another one (`watch`).

mod other_run;
mod own_run;
mod screen;
mod theme;
mod view;

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::process::Signal;

use self::theme::Theme;
use self::view::{View, draw};
use super::signals;
use crate::actors::RunState;
use crate::telemetry::{Snapshot, last_message};

pub use self::other_run::watch;
pub use self::own_run::OwnDashboard;
pub use self::screen::Screen;

/// How often the picture is drawn.
const REFRESH: Duration = Duration::from_millis(250);

/// After the first `d`, how long the second one may take.
const SURE: Duration = Duration::from_secs(5);

/// What a dashboard can do with a run.
pub trait Steer {
    /// Pauses the run, or lets it go on.
    fn pause(&mut self, paused: bool) -> io::Result<()>;

    /// Stops the run in order.
    fn drain(&mut self) -> io::Result<()>;

    /// Whether the keys that end a program are those of the run: it is in this process.
    fn is_own(&self) -> bool;
}

/// How a dashboard ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The user left it.
    Left,
    /// There is nothing more to show.
    Over,
}

/// What there is to show.
pub enum Shown {
    /// The run, and something to say about it.
    Run(Box<Snapshot>, Option<String>),
    /// Nothing more.
    Over,
}

/// Shows what `look` gives until it is over or the user leaves.
///
/// # Errors
/// The terminal is gone.
pub fn show(mut look: impl FnMut() -> Shown, steer: &mut impl Steer) -> io::Result<End> {
    let mut screen = Screen::take()?;
    let mut theme = Theme::of_environment();
    let (mut help, mut first) = (false, 0_usize);
    let mut asked: Option<Instant> = None;
    let mut refused: Option<String> = None;
    loop {
        let Shown::Run(snapshot, about) = look() else {
            return Ok(End::Over);
        };
        if !screen.is_ours()? {
            thread::sleep(REFRESH);
            continue;
        }
        asked = asked.filter(|asked| asked.elapsed() < SURE);
        let sure = asked.map(|_| "press d again to stop the run".to_owned());
        let note = sure
            .or_else(|| refused.clone())
            .or(about)
            .or_else(last_message);
        first = first.min(snapshot.progress.workers.len().saturating_sub(1));
        screen.draw(|frame| {
            let view = View {
                snapshot: &snapshot,
                theme,
                help,
                first,
                note: note.as_deref(),
                can_leave: !steer.is_own(),
            };
            draw(frame, &view);
        })?;
        let Some(key) = key()? else {
            continue;
        };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let mut done = Ok(());
        match key.code {
            KeyCode::Char('c') if control && steer.is_own() => signals::deliver(Signal::INT),
            KeyCode::Char('c') if control => return Ok(End::Left),
            KeyCode::Char('\\' | '4') if control => {
                signals::deliver(Signal::QUIT);
                return Ok(End::Left);
            }
            KeyCode::Char('z') if control => screen.suspend(),
            KeyCode::Char('q') | KeyCode::Esc if help => help = false,
            KeyCode::Char('q') if !steer.is_own() => return Ok(End::Left),
            KeyCode::Char('p' | 'P') => {
                done = steer.pause(snapshot.progress.state != RunState::Pausing);
            }
            KeyCode::Char('d') if asked.take().is_some() => done = steer.drain(),
            KeyCode::Char('d') => asked = Some(Instant::now()),
            KeyCode::Char('?' | 'h') => help = !help,
            KeyCode::Char('t') => theme = theme.next(),
            KeyCode::Up | KeyCode::Char('k') => first = first.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => first += 1,
            KeyCode::PageUp => first = first.saturating_sub(10),
            KeyCode::PageDown => first += 10,
            _ => {}
        }
        refused = done
            .err()
            .map(|error| format!("the run cannot be asked: {error}"));
    }
}

/// The next key, if one comes before the next picture.
fn key() -> io::Result<Option<KeyEvent>> {
    // `event::poll` never returns from a terminal that is gone.
    Screen::wait_for_key(REFRESH)?;
    while event::poll(Duration::ZERO)? {
        // Of a new size, the next picture is drawn.
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            return Ok(Some(key));
        }
    }
    Ok(None)
}
