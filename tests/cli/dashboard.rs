//! The dashboard on a real terminal: one that tmux makes. Keys go in, and what stands on the screen comes out.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::program::{PROGRAM, queenfold, refusal, tells};
use crate::common::tmux::Tmux;

/// A board that takes minutes.
const LONG: &str = "run -n 21 --engine chain --workers 2";

#[test]
fn a_run_is_shown_paused_and_stopped_and_the_terminal_is_as_before() {
    let Some(tmux) = Tmux::start(100, 30) else {
        return;
    };
    tmux.type_line(&format!(
        "stty -a > before; {PROGRAM} {LONG} --dir run --tui"
    ));
    let screen = tmux.see_that("a whole picture", |screen| {
        screen.contains("left ") && screen.contains("t theme")
    });
    for text in ["21 queens", "running", "░", "worker-1", "resume run"] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
    tmux.press("p");
    tmux.see("paused (asked for)");
    tmux.press("p");
    tmux.see(" · running");
    // A key that comes together with a change of size is taken, too.
    for _ in 0..5 {
        tmux.resize_and_press(40, 15, "?");
        let screen = tmux.see("stop the run in order");
        assert!(
            screen.lines().all(|line| line.chars().count() <= 40),
            "{screen}"
        );
        tmux.resize_and_press(100, 30, "?");
        tmux.see_that("no help", |screen| {
            !screen.contains("stop the run in order") && screen.contains("worker-1")
        });
    }
    // Any key that does not scroll closes the help, and does nothing else.
    tmux.press("?");
    tmux.see("stop the run in order");
    tmux.press("p");
    tmux.see_that("no help", |screen| {
        !screen.contains("stop the run in order") && screen.contains(" · running")
    });
    // What a key sends that the dashboard does not know is no letter: F1 ends with a P.
    tmux.press("F1");
    tmux.press("t");
    // Stopped by Ctrl-Z, the shell is back, and what stood there too. Then the dashboard comes again.
    tmux.resize_and_press(90, 30, "C-z");
    let screen = tmux.see("Stopped");
    assert!(screen.contains("--tui"), "{screen}");
    tmux.type_line("fg; echo code $?; stty -a > after");
    let screen = tmux.see("worker-1");
    assert!(screen.contains(" running "), "{screen}");
    tmux.press("C-c");
    let screen = tmux.see("code 4");
    tells(&screen, &["stopping within two seconds", "resume run"]);
    tmux.see_that("the end", |_| tmux.folder().join("after").exists());
    sleep(Duration::from_millis(300));
    let modes =
        ["before", "after"].map(|name| std::fs::read_to_string(tmux.folder().join(name)).unwrap());
    let flags = modes.map(|mode| mode.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(flags[0], flags[1]);
}

#[test]
fn another_terminal_watches_pauses_and_stops_a_run() {
    let Some(tmux) = Tmux::start(120, 30) else {
        return;
    };
    tmux.type_line(&format!("{PROGRAM} {LONG} --dir run 2> said & sleep 2; NO_COLOR=1 LC_ALL=C {PROGRAM} status --watch run; echo code $?"));
    let screen = tmux.see("q leave");
    assert!(screen.contains("###") || screen.contains("..."), "{screen}");
    assert!(screen.is_ascii(), "{screen}");
    tmux.press("p");
    tmux.see("paused (asked for)");
    tmux.press("p");
    tmux.see("| running");
    // Esc takes a question back, as any other key does.
    for other in ["Escape", "x"] {
        tmux.press("q");
        tmux.see("s stops the run");
        tmux.press(other);
        tmux.see_that("no question", |screen| !screen.contains("s stops the run"));
    }
    tmux.press("d");
    tmux.see("press d again");
    tmux.press("x");
    tmux.press("d");
    tmux.see("press d again");
    tmux.press("q");
    tmux.see_that("no question", |screen| !screen.contains("press d again"));
    tmux.press("q");
    tmux.see("q leaves");
    tmux.press("q");
    tmux.see("code 0");
    tmux.type_line(&format!(
        "clear; {PROGRAM} status --watch run; echo code $?"
    ));
    tmux.see("q leave");
    tmux.press("C-z");
    tmux.see("Stopped");
    tmux.type_line("clear; fg %2; echo code $?");
    tmux.see("q leave");
    tmux.press("Escape");
    tmux.see("s stops the run");
    tmux.press("s");
    let screen = tmux.see("code 0");
    tells(&screen, &[", stopped", "queenfold resume run"]);
    let said = std::fs::read_to_string(tmux.folder().join("said")).unwrap();
    assert!(
        said.contains("as `queenfold status --watch` asks"),
        "{said}"
    );
    tmux.type_line(&format!(
        "clear; {PROGRAM} status --watch run; echo code $?"
    ));
    tmux.see("no process works on this run");
}

#[test]
fn the_keys_that_end_other_programs_answer() {
    let Some(tmux) = Tmux::start(100, 30) else {
        return;
    };
    tmux.type_line(&format!(
        "(trap '' TSTP; exec {PROGRAM} {LONG} --dir run --tui); echo code $?"
    ));
    tmux.see("q quit");
    tmux.press("C-z");
    tmux.see("does not suspend this process");
    for key in ["q", "Escape"] {
        tmux.press(key);
        tmux.see("q or s stops it");
        tmux.press("Escape");
        tmux.see_that("no question", |screen| !screen.contains("q or s stops it"));
    }
    // No key is without an answer.
    for (key, answer) in [
        ("x", "x does nothing; ? lists the keys"),
        ("F5", "this key does nothing"),
    ] {
        tmux.press(key);
        tmux.see(answer);
    }
    tmux.press("Down");
    tmux.see_that("no answer to a key that scrolls", |screen| {
        !screen.contains("does nothing")
    });
    tmux.press("q");
    tmux.see("q or s stops it");
    tmux.press("q");
    let screen = tmux.see("code 4");
    assert!(screen.contains("stopped by a key after"), "{screen}");
}

#[test]
fn a_run_goes_on_when_its_terminal_is_lost() {
    let Some(tmux) = Tmux::start(80, 24) else {
        return;
    };
    // What a terminal that closes sends is ignored, as under nohup.
    tmux.type_line(&format!(
        "trap '' HUP; {PROGRAM} run -n 18 --engine chain --workers 1 --dir run --tui > result"
    ));
    tmux.see("running");
    tmux.run(&["kill-server"]);
    let since = Instant::now();
    let result = tmux.folder().join("result");
    while !std::fs::read_to_string(&result).is_ok_and(|text| text.contains("666090624")) {
        assert!(
            since.elapsed() < Duration::from_secs(300),
            "the run has not ended"
        );
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_has_no_dashboard() {
    let Some(tmux) = Tmux::start(150, 24) else {
        return;
    };
    tmux.type_line(&format!("TERM=dumb {PROGRAM} run -n 8 --tui; echo code $?"));
    let screen = tmux.see("code 2");
    assert!(screen.contains("and TERM is dumb"), "{screen}");
}

#[test]
fn the_map_shows_what_was_recorded_before() {
    let Some(tmux) = Tmux::start(120, 34) else {
        return;
    };
    let run = format!("{PROGRAM} {LONG} --dir run");
    tmux.type_line(&format!(
        "{run} --time-limit 4s; clear; {PROGRAM} resume run --tui"
    ));
    let screen = tmux.see_that("a map", |screen| {
        screen.contains("earlier ") && screen.contains("now ")
    });
    assert!(screen.contains('▒') && screen.contains('●'), "{screen}");
    tmux.press("C-c");
    tmux.see("resume run");
}

#[test]
fn without_a_terminal_there_is_no_dashboard() {
    let line = refusal(&mut queenfold(&["run", "-n", "8", "--tui"]), 2);
    assert!(line.contains("--tui needs a terminal"), "{line}");
    let line = refusal(&mut queenfold(&["status", "--watch", "no/such/run"]), 1);
    assert!(line.contains("no/such/run"), "{line}");
}
