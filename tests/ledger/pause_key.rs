//! The key that pauses a run, tested on a pseudo terminal.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::program::{PROGRAM, of, status, tasks_done, text, wait_for_more};
use crate::common::skip::skipped;
use crate::common::terminal::Terminal;

#[test]
fn the_key_p_pauses_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let Some(mut terminal) = Terminal::start(&format!(
        "exec {} run -n 18 --engine chain --isa portable --workers 1 --dir {}",
        PROGRAM,
        text(&run)
    )) else {
        skipped("there is no `script` to make a terminal");
        return;
    };
    wait_for_more(&run, 0);
    terminal.press("p");
    terminal.see("pausing");
    // The last tasks are committed after a moment, which is long on a busy machine. A run that is not
    // paused commits some in two seconds.
    let since = Instant::now();
    let mut paused = tasks_done(&run);
    loop {
        sleep(Duration::from_secs(2));
        let now = tasks_done(&run);
        if now == paused {
            break;
        }
        paused = now;
        assert!(since.elapsed() < Duration::from_secs(300), "it goes on");
    }
    assert_eq!(status(&run).unwrap()["state"], "paused");
    terminal.press("p");
    terminal.see("going on");
    wait_for_more(&run, paused);
    terminal.press("\u{3}");
    assert_eq!(terminal.end(), 4, "{}", terminal.screen);
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("666090624"), "{out}{err}");
}
