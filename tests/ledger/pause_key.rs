//! The key that pauses a run, tested on a pseudo terminal.

use std::thread::sleep;
use std::time::Duration;

use super::process::{tasks_done, text, wait_for_more};
use crate::skip::skipped;
use crate::terminal::Terminal;

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
    terminal.press("p");
    terminal.see("pausing");
    // Longer than a task and the delay of a commit.
    sleep(Duration::from_secs(2));
    let paused = tasks_done(&run);
    sleep(Duration::from_secs(2));
    assert_eq!(tasks_done(&run), paused);
    terminal.press("p");
    terminal.see("going on");
    wait_for_more(&run, paused);
    terminal.see("95815104");
    assert_eq!(terminal.end(), 0);
}
