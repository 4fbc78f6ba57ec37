//! The key that pauses a run, tested on a pseudo terminal.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, sleep};
use std::time::Duration;

use super::process::{tasks_done, text, wait_for_more};
use crate::skip::skipped;

/// A program on a pseudo terminal that the tool `script` makes.
struct Terminal {
    child: Child,
    shown: Receiver<Vec<u8>>,
    screen: String,
}

impl Terminal {
    fn start(command: &str) -> Option<Self> {
        let mut child = Command::new("script")
            .args(["-qefc", command, "/dev/null"])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
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

    fn press(&mut self, key: u8) {
        let keyboard = self.child.stdin.as_mut().unwrap();
        keyboard.write_all(&[key]).unwrap();
        keyboard.flush().unwrap();
    }

    /// Waits until the screen shows `text`.
    fn see(&mut self, text: &str) {
        while !self.screen.contains(text) {
            let piece = self.shown.recv_timeout(Duration::from_secs(120));
            let piece = piece.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.screen));
            self.screen.push_str(&String::from_utf8_lossy(&piece));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // This fails if the program has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_key_p_pauses_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let Some(mut terminal) = Terminal::start(&format!(
        "{} run -n 17 --engine chain --isa portable --workers 1 --dir {}",
        env!("CARGO_BIN_EXE_queenfold"),
        text(&run)
    )) else {
        skipped("there is no `script` to make a terminal");
        return;
    };
    wait_for_more(&run, 0);
    terminal.press(b'p');
    terminal.see("pausing");
    // Longer than a task and the delay of a commit.
    sleep(Duration::from_secs(2));
    let paused = tasks_done(&run);
    sleep(Duration::from_secs(2));
    assert_eq!(tasks_done(&run), paused);
    terminal.press(b'p');
    terminal.see("going on");
    wait_for_more(&run, paused);
    terminal.see("95815104");
    assert!(terminal.child.wait().unwrap().success());
}
