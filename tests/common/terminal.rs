//! A pseudo terminal, and a program on it.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::program::isolated;

/// A program on a pseudo terminal that the tool `script` makes.
pub struct Terminal {
    child: Child,
    shown: Receiver<Vec<u8>>,
    /// Everything that was shown, with the codes that move the cursor.
    pub screen: String,
}

impl Terminal {
    /// Runs `command` by a shell on a terminal of its own. `None` if there is no `script`. For the exit code
    /// of a program that is interrupted, `command` must be `exec` and the program: a shell that waits for
    /// the program is interrupted too, and then returns a code of its own.
    pub fn start(command: &str) -> Option<Self> {
        let mut child = isolated("script")
            .args(["-qefc", command, "/dev/null"])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            // The shell that `script` takes: every machine has this one. Without TERM, there is no
            // progress line.
            .envs([("SHELL", "/bin/sh"), ("TERM", "xterm")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut output = child.stdout.take().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            child,
            shown,
            screen: String::new(),
        })
    }

    /// Presses keys, all at once.
    pub fn press(&mut self, keys: &str) {
        let keyboard = self.child.stdin.as_mut().unwrap();
        keyboard.write_all(keys.as_bytes()).unwrap();
        keyboard.flush().unwrap();
    }

    /// Waits until the screen shows `text`.
    pub fn see(&mut self, text: &str) {
        self.see_that(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as it should be; `what` names that if it never is.
    pub fn see_that(&mut self, what: &str, is_shown: impl Fn(&str) -> bool) {
        while !is_shown(&self.screen) {
            assert!(self.piece(), "no {what:?} in {:?}", self.screen);
        }
    }

    /// Waits until the screen shows something more. Returns whether it does.
    fn piece(&mut self) -> bool {
        let Ok(piece) = self.shown.recv_timeout(Duration::from_secs(300)) else {
            return false;
        };
        self.screen.push_str(&String::from_utf8_lossy(&piece));
        true
    }
}

impl Terminal {
    /// Waits for the end. Returns the exit code of the command.
    pub fn end(&mut self) -> i32 {
        while self.piece() {}
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // This fails if the program has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
