//! The program on a terminal: what fits, what is redrawn, and what is left of the terminal at the end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use regex::Regex;

use super::threads::wait_for_thread;
use crate::common::program::{
    PROGRAM, Running, isolated, output, printed, queenfold, tells, words,
};
use crate::common::skip::skipped;
use crate::common::terminal::Terminal;

/// A board that takes minutes.
const LONG: &str = "run -n 20 --engine chain --workers 1";

/// What a shell prints about its terminal if keys are echoed, come by line, and send signals.
const RESTORED: &str = "isig icanon echo";

/// Runs `command` with a terminal of `columns` and 24 rows.
fn start(columns: u32, command: &str) -> Option<Terminal> {
    let terminal = Terminal::start(&format!("stty cols {columns} rows 24; {command}"));
    if terminal.is_none() {
        skipped("there is no `script` to make a terminal");
    }
    terminal
}

/// Runs `command`, then shows its exit code and the mode of the terminal. The shell survives what the
/// terminal sends.
fn start_and_show_mode(command: &str) -> Option<Terminal> {
    let mode = "stty -a | tr ' ' '\\n' | grep -xE -- '-?(isig|icanon|echo)' | tr '\\n' ' '";
    start(
        80,
        &format!("trap : HUP INT QUIT TERM; {command}; echo \"code $? mode $({mode})\""),
    )
}

/// What stands in each line at the end, without the codes that move the cursor.
fn lines(screen: &str) -> Vec<String> {
    screen
        .split(['\r', '\n'])
        .map(|line| console_text(line).trim_end().to_owned())
        .collect()
}

fn console_text(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            let _ = characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            text.push(character);
        }
    }
    text
}

#[test]
fn the_progress_line_fits_every_width_and_shows_what_matters() {
    for columns in [40, 80, 300] {
        let Some(mut terminal) = start(columns, &format!("exec {PROGRAM} {LONG}")) else {
            return;
        };
        terminal.see(" % ");
        terminal.press("\u{3}");
        terminal.end();
        let lines = lines(&terminal.screen);
        let progress: Vec<_> = lines.iter().filter(|l| l.starts_with("n = 20: ")).collect();
        assert!(!progress.is_empty(), "{lines:#?}");
        for line in progress {
            assert!(
                line.chars().count() <= columns as usize,
                "{columns}: {line}"
            );
            // In between it depends on how many digits there are.
            if columns != 80 {
                assert_eq!(
                    line.contains("solutions"),
                    columns == 300,
                    "{columns}: {line}"
                );
            }
        }
    }
}

#[test]
fn two_ctrl_c_in_one_write_are_two() {
    // One alone stops the run in order, with another code. If the task in hand ends between the two, the
    // run does so too.
    let command = format!("exec {PROGRAM} run -n 27 --yes --engine chain --workers 1");
    for _ in 0..10 {
        let Some(mut terminal) = start(80, &command) else {
            return;
        };
        // Not earlier: the progress line comes after the keyboard is the program's.
        terminal.see(" % ");
        terminal.press("\u{3}\u{3}");
        match terminal.end() {
            130 => return,
            code => assert_eq!(code, 4, "{}", terminal.screen),
        }
    }
    panic!("two were one in ten of ten runs");
}

#[test]
fn keys_and_signals_that_end_a_run_restore_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = format!("{PROGRAM} run -n 27 --yes --engine chain --workers 1");
    // The signal goes to all processes on the terminal. The shell ignores it.
    let go = folder.path().join("go");
    let hung_up = format!(
        "(trap '' HUP; {}; kill -HUP 0; sleep 0.2; kill -HUP 0) & {run}",
        until(&go)
    );
    // 128 + SIGQUIT: the program ends as the system ends it.
    for (command, keys, code) in [
        (&run, "\u{1c}", 131),
        (&run, "\u{3}\u{3}", 130),
        (&hung_up, "", 4),
    ] {
        let ended = || {
            let mut terminal = start_and_show_mode(command)?;
            terminal.see(" % ");
            std::fs::write(&go, "").expect("written");
            terminal.press(keys);
            terminal.see("mode ");
            terminal.end();
            std::fs::remove_file(&go).expect("it is there");
            Some(terminal.screen.clone())
        };
        // Where the task in hand ends between two Ctrl-C, the first one has stopped the run.
        let is_over = |screen: &String| keys.len() < 2 || !screen.contains("code 4 ");
        let Some(mut screen) = ended() else {
            return;
        };
        for _ in 0..9 {
            if is_over(&screen) {
                break;
            }
            screen = ended().expect("a terminal again");
        }
        let expected = format!("code {code} mode {RESTORED}");
        assert!(screen.contains(&expected), "{keys:?}: {screen}");
    }
}

/// What makes a shell wait until this file is there.
fn until(file: &Path) -> String {
    format!("while [ ! -e '{}' ]; do sleep 0.05; done", file.display())
}

#[test]
fn a_run_under_nohup_goes_on_after_a_hang_up() {
    let mut command = isolated("nohup");
    command
        .args([PROGRAM, "run", "-n", "18", "--workers", "1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = Running::of(&mut command);
    wait_for_thread(&mut child, "signals", 0);
    child.send("-HUP");
    let (code, _, err) = child.end();
    assert_eq!(code, 0, "{err}");
}

/// Presses keys, which end the program with this code.
fn ends_restored(terminal: &mut Terminal, keys: &str, code: i32) {
    terminal.press(keys);
    terminal.see("mode ");
    terminal.end();
    let expected = format!("code {code} mode {RESTORED}");
    tells(&terminal.screen, &[&expected]);
}

#[test]
fn a_step_waits_for_a_key_and_ends_by_signals_with_the_terminal_restored() {
    let folder = tempfile::tempdir().expect("a folder");
    let step = format!("{PROGRAM} ladder --step --method backtrack -n 5");
    // The signal goes to all processes on the terminal, the shell included.
    let go = folder.path().join("go");
    let killed = format!("({}; kill -TERM 0) & {step}", until(&go));
    for (command, keys, code) in [
        (&killed, "", 130),
        (&step, "\u{3}", 130),
        (&step, "\u{1c}", 131),
        (&step, "q", 0),
    ] {
        let Some(mut terminal) = start_and_show_mode(command) else {
            return;
        };
        terminal.see("q: quit");
        std::fs::write(&go, "").expect("written");
        ends_restored(&mut terminal, keys, code);
    }
}

#[test]
fn status_redraws_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let run = run.to_str().expect("UTF-8");
    let _part = Running::start(&words!(
        "run -n 20 --engine chain --dir {} --workers 1 --time-limit 10m",
        run
    ));
    // `--watch` ends unless the run is running.
    while !output(&["status", run]).status.success() {
        sleep(Duration::from_millis(20));
    }
    // It needs no core to be shown. Whose input is no terminal is shown no dashboard.
    assert!(output(&["pause", run]).status.success());
    let Some(mut terminal) = start(
        40,
        &format!("exec {PROGRAM} status {run} --watch < /dev/null"),
    ) else {
        return;
    };
    // The cursor goes up by the lines of a frame, once to clear them and once to write the next frame.
    let frames = Regex::new("\u{1b}\\[([0-9]+)A").expect("a pattern");
    terminal.see_that("third frame", |screen| {
        frames.find_iter(screen).count() >= 3
    });
    let (mut begin, mut height) = (0, 0);
    for up in frames.captures_iter(&terminal.screen) {
        let code = up.get(0).expect("all of it");
        let shown = lines(&terminal.screen[begin..code.start()]);
        match shown.iter().filter(|line| !line.is_empty()).count() {
            0 => {}
            lines => height = lines,
        }
        assert_eq!(up[1], height.to_string(), "{:?}", terminal.screen);
        begin = code.end();
    }
    for line in lines(&terminal.screen) {
        assert!(line.chars().count() <= 40, "{line}");
    }
    terminal.press("\u{3}");
    terminal.end();
}

#[test]
fn help_is_wrapped_to_the_width_of_the_terminal() {
    for command in ["", "run", "estimate", "ladder", "status", "config"] {
        for columns in [40, 72] {
            let Some(mut terminal) = start(columns, &format!("exec {PROGRAM} {command} --help"))
            else {
                return;
            };
            assert_eq!(terminal.end(), 0);
            for line in lines(&terminal.screen) {
                // A word that is longer than a line cannot be wrapped.
                let words = line.split_whitespace().count();
                let fits = line.chars().count() <= columns as usize;
                assert!(fits || words <= 2, "{command}, {columns}: {line}");
            }
        }
    }
}

#[test]
fn a_terminal_without_a_size_has_no_dashboard() {
    let command = format!("stty rows 0 cols 0; exec {PROGRAM} run -n 8 --tui");
    let Some(mut terminal) = Terminal::start(&command) else {
        return;
    };
    assert_eq!(terminal.end(), 2);
    let shown = &terminal.screen;
    tells(shown, &["--tui needs a terminal with a size"]);
}

#[test]
fn no_columns_are_no_width() {
    for command in ["--help", "run --help"] {
        let of = |columns| {
            let mut program = queenfold(&command.split(' ').collect::<Vec<_>>());
            printed(&program.env("COLUMNS", columns).output().unwrap().stdout)
        };
        assert_eq!(of("0"), of("100"), "{command}");
        assert_ne!(of("40"), of("100"), "{command}");
    }
}

/// Sends Ctrl-C, and returns what the program says of it.
fn interrupted(mut child: Running, said: &mut impl BufRead) -> String {
    child.send("-INT");
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(4), "{rest}");
    rest
}

#[test]
fn an_estimate_that_is_stopped_says_what_it_has_counted() {
    let mut child = Running::start(&words!("estimate -n 25 --engine chain --workers 1"));
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    wait_for_thread(&mut child, "signals", 0);
    let rest = interrupted(child, &mut said);
    assert!(rest.contains("stopped by a signal: "), "{rest}");
    tells(&rest, &[" of 64 tasks of the sample of n = 25 counted"]);
}

#[test]
fn a_verification_that_is_stopped_says_what_it_has_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let run = run.to_str().expect("UTF-8");
    let shard = ["--engine", "colour", "--shard", "0/64", "--dir", run];
    output(&[&["run", "-n", "20"], &shard[..]].concat());
    // The oracle takes a second for each of these tasks.
    let mut child = Running::start(&["verify", run, "--sample", "1", "--by", "oracle"]);
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    wait_for_thread(&mut child, "signals", 0);
    let rest = interrupted(child, &mut said);
    let says =
        rest.contains("no task was counted again") || rest.contains("equal to their records");
    assert!(rest.contains("stopped by a signal: ") && says, "{rest}");
}
