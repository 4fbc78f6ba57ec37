//! A dashboard of a run: in the terminal of the run itself (`--tui`), or in another one (`watch`).

mod screen;
mod theme;
mod view;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::process::Signal;

use self::theme::Theme;
use self::view::{View, draw};
use super::output::say;
use super::pause::Pause;
use super::signals;
use crate::actors::{Control, RunState};
use crate::telemetry::{Snapshot, SnapshotKeeper, last_message};

pub use self::screen::Screen;

/// How often the picture is drawn.
const REFRESH: Duration = Duration::from_millis(250);

/// A run that ends earlier shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

/// How long the end of a run waits for the last picture.
const LAST_PICTURE: Duration = Duration::from_secs(2);

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
        let done = match key.code {
            KeyCode::Char('c') if control && steer.is_own() => {
                signals::deliver(Signal::INT);
                Ok(())
            }
            KeyCode::Char('c') if control => return Ok(End::Left),
            KeyCode::Char('\\' | '4') if control => {
                signals::deliver(Signal::QUIT);
                return Ok(End::Left);
            }
            KeyCode::Char('z') if control => {
                screen.suspend();
                Ok(())
            }
            KeyCode::Char('q') | KeyCode::Esc if help => {
                help = false;
                Ok(())
            }
            KeyCode::Char('q') if !steer.is_own() => return Ok(End::Left),
            KeyCode::Char('p' | 'P') => steer.pause(snapshot.progress.state != RunState::Pausing),
            KeyCode::Char('d') if asked.take().is_some() => steer.drain(),
            KeyCode::Char('d') => {
                asked = Some(Instant::now());
                Ok(())
            }
            KeyCode::Char('?' | 'h') => {
                help = !help;
                Ok(())
            }
            KeyCode::Char('t') => {
                theme = theme.next();
                Ok(())
            }
            KeyCode::Up | KeyCode::Char('k') => {
                first = first.saturating_sub(1);
                Ok(())
            }
            KeyCode::Down | KeyCode::Char('j') => {
                first += 1;
                Ok(())
            }
            KeyCode::PageUp => {
                first = first.saturating_sub(10);
                Ok(())
            }
            KeyCode::PageDown => {
                first += 10;
                Ok(())
            }
            _ => Ok(()),
        };
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

/// The dashboard of a run in this process. Dropping it gives the screen back.
pub struct OwnDashboard {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl OwnDashboard {
    /// Shows the run under `control`. If its terminal is lost, one line says so, and the run goes on.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn show(keeper: Arc<SnapshotKeeper>, control: Control, pause: Pause) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("dashboard".into())
            .spawn(move || {
                if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let look = || own(&keeper, &control, &stopped);
                let mut steer = OwnRun(control.clone(), pause);
                if let Err(error) = show(look, &mut steer) {
                    say(&format!(
                        "the dashboard has lost its terminal ({error}); the run goes on"
                    ));
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

fn own(keeper: &SnapshotKeeper, control: &Control, stopped: &Receiver<()>) -> Shown {
    match stopped.try_recv() {
        Err(mpsc::TryRecvError::Disconnected) => Shown::Over,
        _ => Shown::Run(Box::new(keeper.snapshot(control.progress())), None),
    }
}

impl Drop for OwnDashboard {
    fn drop(&mut self) {
        self.stop = None;
        let since = Instant::now();
        if let Some(thread) = self.thread.take() {
            // A terminal may hold up who writes to it, and a run does not wait for that.
            while !thread.is_finished() && since.elapsed() < LAST_PICTURE {
                thread::sleep(LAST_PICTURE / 200);
            }
        }
    }
}

struct OwnRun(Control, Pause);

impl Steer for OwnRun {
    fn pause(&mut self, paused: bool) -> io::Result<()> {
        self.1.set(paused);
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        self.0.drain();
        Ok(())
    }

    fn is_own(&self) -> bool {
        true
    }
}
