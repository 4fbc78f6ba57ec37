//! A real terminal: one that tmux makes. Keys go in, and what stands on the screen comes out.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::program::isolated;
use super::skip::skipped;

/// A terminal that tmux makes, with a shell.
pub struct Tmux(tempfile::TempDir);

impl Tmux {
    /// `None` if there is no tmux.
    pub fn start(columns: u32, rows: u32) -> Option<Self> {
        let tmux = Self(tempfile::tempdir().unwrap());
        let size = [columns.to_string(), rows.to_string()];
        let made = tmux
            .command(&[
                "-u",
                "-f",
                "/dev/null",
                "new-session",
                "-d",
                "-x",
                &size[0],
                "-y",
                &size[1],
            ])
            .arg("exec /bin/sh")
            .envs([("LANG", "C.UTF-8"), ("PS1", "ready "), ("SHELL", "/bin/sh")])
            .current_dir(tmux.0.path())
            .status();
        if made.is_ok_and(|status| status.success()) {
            return Some(tmux);
        }
        skipped("there is no tmux to make a terminal");
        None
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut tmux = isolated("tmux");
        // A server of its own: its socket lies in the folder.
        tmux.arg("-S")
            .arg(self.0.path().join("tmux"))
            .args(arguments);
        tmux
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types a line.
    pub fn type_line(&self, line: &str) {
        self.run(&["send-keys", "-l", line]);
        self.run(&["send-keys", "Enter"]);
    }

    /// Presses a key.
    pub fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    /// Makes the terminal of another size, and presses a key at the same moment.
    pub fn resize_and_press(&self, columns: u32, rows: u32, key: &str) {
        let [columns, rows] = [columns, rows].map(|size| size.to_string());
        let resize = ["resize-window", "-x", &columns, "-y", &rows];
        self.run(&[&resize[..], &[";", "send-keys", key]].concat());
    }

    fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Waits until the screen is as it should be, and returns it.
    pub fn see_that(&self, what: &str, is_shown: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let screen = self.screen();
            if is_shown(&screen) {
                return screen;
            }
            assert!(
                since.elapsed() < Duration::from_secs(120),
                "no {what:?} in {screen}"
            );
            sleep(Duration::from_millis(100));
        }
    }

    pub fn see(&self, text: &str) -> String {
        self.see_that(text, |screen| screen.contains(text))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}
