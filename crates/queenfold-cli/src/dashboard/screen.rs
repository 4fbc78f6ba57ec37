//! The terminal as the dashboard needs it: another screen, keys one by one, and all of it undone at the end.

use std::env;
use std::io::{self, BufWriter, IsTerminal, PipeReader, Stderr, Write};
use std::thread;
use std::time::{Duration, Instant};

use console::{Key, Term};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::PrintStyledContent;
use crossterm::terminal::{
    Clear, ClearType, DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};

use super::canvas::{Canvas, Span};
use crate::control::terminal::{self, SignalKey};
use crate::output::say;
use crate::system::Continued;
use crate::system::signals::send;
use crate::telemetry::{hold_messages, release_messages};

/// Room for a whole picture: a terminal should not show half of one.
const PICTURE: usize = 1 << 16;

/// How long a process that stops itself takes at most to be stopped.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long the rest of what a key sends takes at most to come.
const REST: Duration = Duration::from_millis(20);

/// A terminal whose screen belongs to the dashboard. Dropping it gives the screen back, and prints what was
/// said meanwhile.
pub struct Screen {
    out: BufWriter<Stderr>,
    /// What it shows; `None` if that is not known.
    shown: Option<Canvas>,
    /// Whether the process is in the background, where it must not touch the terminal: it would be stopped.
    away: bool,
    /// Whether the process went on after it was stopped: others have used the terminal.
    continued: Continued,
}

impl Screen {
    /// What a dashboard needs that is not there: a terminal for keys and on standard error, which can move its cursor.
    pub fn missing() -> Option<&'static str> {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        // A serial line, for example, knows none.
        let has_size = || Term::stderr().size_checked().is_some();
        match io::stdin().is_terminal() && io::stderr().is_terminal() {
            false => Some("a terminal on standard input and standard error"),
            true if is_dumb => Some("a terminal that can move its cursor, and TERM is dumb"),
            true if !has_size() => {
                Some("a terminal with a size, which `stty rows 24 cols 80` gives it")
            }
            true => None,
        }
    }

    /// Takes the screen.
    ///
    /// # Errors
    /// The terminal refuses.
    pub fn take() -> io::Result<Self> {
        terminal::remember();
        let continued = Continued::listen()?;
        enter()?;
        hold_messages();
        Ok(Self {
            out: BufWriter::with_capacity(PICTURE, io::stderr()),
            shown: None,
            away: false,
            continued,
        })
    }

    /// Draws the next picture, of which only lines that are new are written.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Canvas)) -> io::Result<()> {
        let (rows, columns) = Term::stderr().size();
        let mut canvas = Canvas::new(columns, rows);
        draw(&mut canvas);
        let before = self.shown.take();
        let before = before.filter(|before| before.area() == canvas.area());
        if before.is_none() {
            queue!(self.out, Clear(ClearType::All))?;
        }
        for y in 0..rows {
            if before
                .as_ref()
                .is_none_or(|before| before.row(y) != canvas.row(y))
            {
                queue!(self.out, MoveTo(0, y))?;
                for Span { text, style } in canvas.spans(y) {
                    queue!(self.out, PrintStyledContent(style.apply(text)))?;
                }
            }
        }
        self.shown = Some(canvas);
        self.out.flush()
    }

    /// The next key, if one comes in this time and before the other end of `end` is closed.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn key(longest: Duration, end: Option<&PipeReader>) -> io::Result<Option<Key>> {
        if !terminal::wait_for_key(longest, end)? {
            return Ok(None);
        }
        let mut key = Term::stderr().read_key_raw()?;
        if let Key::UnknownEscSeq(sequence) = &mut key {
            // What is left of it would be taken for letters: F1 for a P.
            while !is_whole(sequence) && terminal::wait_for_key(REST, end)? {
                match Term::stderr().read_key_raw()? {
                    Key::Char(more) => sequence.push(more),
                    other => return Ok(Some(other)),
                }
            }
        }
        Ok(Some(key))
    }

    /// Whether the process may use the terminal. If it comes back from the background, it takes the screen
    /// once more.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn is_ours(&mut self) -> io::Result<bool> {
        let ours = terminal::is_ours(io::stdin())?;
        self.away |= self.continued.take();
        if ours && self.away {
            // Whatever the mode is now, crossterm has to set it once more.
            disable_raw_mode()?;
            enter()?;
            self.shown = None;
        }
        self.away = !ours;
        Ok(ours)
    }

    /// Gives the screen back and stops the process, as Ctrl-Z does. Returns whether the system stopped it: it does
    /// not if no shell is there to let it go on.
    pub fn suspend(&mut self) -> bool {
        leave();
        self.away = true;
        self.continued.take();
        send(SignalKey::Suspend);
        // Until the process stops, the terminal is still its own, and it would take the screen again.
        let since = Instant::now();
        while !self.continued.has() && since.elapsed() < PATIENCE {
            thread::sleep(PATIENCE / 100);
        }
        self.continued.has()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.away {
            terminal::screen_taken(false);
        } else {
            leave();
        }
        for message in release_messages() {
            say(&message);
        }
    }
}

/// Whether these are all characters that a key sends after the escape character: by ECMA-48, one after an `O`,
/// and after a `[` all up to the first from `@` to `~`.
fn is_whole(sequence: &[char]) -> bool {
    match sequence {
        ['O'] | ['['] => false,
        ['[', .., last] => ('@'..='~').contains(last),
        _ => true,
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    terminal::screen_taken(true);
    // A terminal that has just become narrower would scroll.
    execute!(io::stderr(), EnterAlternateScreen, DisableLineWrap, Hide)
}

fn leave() {
    // If the terminal is gone, nothing can be done.
    let _ = disable_raw_mode();
    let _ = execute!(io::stderr(), EnableLineWrap, LeaveAlternateScreen, Show);
    terminal::screen_taken(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F1, Ctrl-right, F5, Alt-x; all but the first character that each sends.
    #[test]
    fn a_sequence_ends_with_its_last_character() {
        for sent in ["OP", "[1;5C", "[15~", "x"] {
            let sent: Vec<char> = sent.chars().collect();
            for length in 1..=sent.len() {
                assert_eq!(is_whole(&sent[..length]), length == sent.len(), "{sent:?}");
            }
        }
    }
}
