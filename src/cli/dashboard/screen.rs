//! The terminal as the dashboard needs it: another screen, keys one by one, and all of it undone at the end.

use std::io::{self, IsTerminal, Stderr};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, kill_current_process_group};
use rustix::termios::tcgetpgrp;

use crate::cli::output::say;
use crate::cli::terminal;
use crate::telemetry::{hold_messages, release_messages};

/// A terminal whose screen belongs to the dashboard. Dropping it gives the screen back, and prints what was
/// said meanwhile.
pub struct Screen {
    terminal: ratatui::Terminal<CrosstermBackend<Stderr>>,
    /// Whether the process is in the background, where it must not touch the terminal: it would be stopped.
    away: bool,
}

impl Screen {
    /// Whether there is a terminal for a dashboard: for keys and on standard error.
    pub fn is_there() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Takes the screen.
    ///
    /// # Errors
    /// The terminal refuses.
    pub fn take() -> io::Result<Self> {
        terminal::remember();
        enter()?;
        let terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stderr()))?;
        hold_messages();
        let away = false;
        Ok(Self { terminal, away })
    }

    /// Draws the next picture.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Waits for a key, but no longer than this.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn wait_for_key(longest: Duration) -> io::Result<()> {
        let stdin = io::stdin();
        let mut look = [PollFd::new(&stdin, PollFlags::IN)];
        let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
        // A signal, such as that the size has changed, ends the wait.
        if let Err(error) = poll(&mut look, Some(&longest))
            && error != Errno::INTR
        {
            return Err(error.into());
        }
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        match look[0].revents().intersects(gone) {
            true => Err(io::ErrorKind::NotConnected.into()),
            false => Ok(()),
        }
    }

    /// Whether the process may use the terminal. If it comes back from the background, it takes the screen
    /// once more.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn is_ours(&mut self) -> io::Result<bool> {
        let ours = tcgetpgrp(io::stdin())? == getpgrp();
        if ours && self.away {
            enter()?;
            self.terminal.clear()?;
        }
        self.away = !ours;
        Ok(ours)
    }

    /// Gives the screen back and stops the process, as Ctrl-Z does.
    pub fn suspend(&mut self) {
        leave();
        self.away = true;
        // An error would mean that there is no such group, but this process is in it.
        let _ = kill_current_process_group(Signal::TSTP);
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

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    terminal::screen_taken(true);
    execute!(io::stderr(), EnterAlternateScreen)
}

fn leave() {
    // If the terminal is gone, nothing can be done.
    let _ = disable_raw_mode();
    let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
    terminal::screen_taken(false);
}
