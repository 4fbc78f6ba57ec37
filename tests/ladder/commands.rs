//! `queenfold ladder` and `queenfold explain` as a user meets them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command as Process, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use queenfold::ladder::{METHODS, TableRow};
use serde_json::Value as Json;

fn output(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("queenfold").expect("the binary is built");
    command.args(args).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn stdout(args: &[&str]) -> String {
    let output = output(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    text(&output.stdout)
}

/// The one line on stderr of a command that prints nothing else.
fn refusal(args: &[&str], code: i32) -> String {
    let output = output(args);
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {line}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

/// Every form of the command that runs one method, `ladder --method NAME` first.
fn ladder<'a>(method: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["ladder", "--method", method], rest].concat()
}

#[test]
fn without_a_terminal_the_methods_are_listed() {
    let list = stdout(&["ladder"]);
    assert_eq!(list.lines().count(), METHODS.len());
    for (line, method) in list.lines().zip(METHODS) {
        assert!(line.starts_with(method.about().name), "{line}");
    }
}

#[test]
fn the_table_has_a_row_for_each_method_style_and_board() {
    let out = output(&ladder("all", &["-n", "5..=6"]));
    let table = text(&out.stdout);
    let styles: usize = METHODS
        .iter()
        .map(|method| method.about().styles.len())
        .sum();
    // A style without its device has a line instead.
    let stderr = text(&out.stderr);
    let missing = |line: &&str| line.contains("no GPU") || line.contains("no emulated device");
    let missing = stderr.lines().filter(missing).count();
    assert_eq!(table.lines().count(), 1 + 2 * (styles - missing), "{table}");
    let counting = |line: &&str| line.ends_with("bit-board, emulated");
    let emulated = usize::from(cfg!(feature = "emulated-gpu"));
    assert_eq!(table.lines().filter(counting).count(), 2 * emulated);
    let header = table.lines().next().unwrap();
    assert!(
        header.contains("dd:hh:mm:ss.ms") && header.contains("Speed"),
        "{header}"
    );
    let column = |line: &str| line.find("00:00:00:").map(|at| line[..at].chars().count());
    let widths: Vec<_> = table.lines().skip(1).map(column).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
    let first = table.lines().nth(1).unwrap();
    assert!(
        first.starts_with(" 5: ") && first.contains(" 1.00x "),
        "{first}"
    );
    assert!(
        first.contains(" – ") && first.ends_with("tuples, recursive"),
        "{first}"
    );
}

#[test]
fn json_rows_have_decimal_strings_and_null_for_what_is_not_given() {
    let rows: Vec<Json> = stdout(&ladder("all", &["-n", "8", "--json"]))
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |method, style| {
        rows.iter()
            .find(|row| row["method"] == method && row["style"] == style)
            .unwrap()
    };
    let bitmap = of("bitmap", Json::from("iterative"));
    assert_eq!(bitmap["n"], 8);
    assert_eq!(bitmap["total"], "92");
    assert_eq!(bitmap["nodes"], "2056");
    assert_eq!(bitmap["unique"], Json::Null);
    assert_eq!(bitmap["classes"], Json::Null);
    assert!(bitmap["seconds"].is_f64());
    let parallel = of("symmetry-parallel", Json::Null);
    assert_eq!(parallel["unique"], "12");
    assert_eq!(parallel["classes"]["c4"], "1");
    assert_eq!(parallel["classes"]["c8"], "11");
    for row in &rows {
        let keys: Vec<_> = row
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut expected = [
            "n", "method", "style", "total", "unique", "classes", "nodes", "seconds",
        ];
        expected.sort_unstable();
        assert_eq!(keys, expected);
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    for (args, says) in [
        (ladder("bogosort", &[]), "invalid value 'bogosort'"),
        (ladder("bitmap", &["-n", "33"]), "from 1 to 32"),
        (ladder("bitmap", &["--style", "gpu"]), "no such style"),
        (
            ladder("bit-board", &["--style", "recursive"]),
            "no such style",
        ),
        (ladder("bit-board", &["--style", "both"]), "no such style"),
        (
            ladder("bitmap", &["--plot", "-"]),
            "--plot - goes with --from",
        ),
        (ladder("bitmap", &["--boards", "--limit", "0"]), "'0'"),
        (ladder("bitmap", &["--lines"]), "--lines is for"),
        (ladder("symmetry-parallel", &["--step"]), "--step"),
        (ladder("all", &["--boards"]), "one --method"),
        (ladder("bitmap", &["-n", "11", "--boards"]), "--limit"),
        (ladder("bitmap", &["--limit", "3"]), "--limit goes with"),
        (ladder("bitmap", &["--json", "--boards"]), "--boards"),
        (
            ladder("bitmap", &["--time-limit", "0"]),
            "number of seconds",
        ),
        (
            ladder("bitmap", &["--time-limit", "-1"]),
            "number of seconds",
        ),
        (
            ladder("bitmap", &["--time-limit", "soon"]),
            "number of seconds",
        ),
        (ladder("bit-board", &["--mark", "0"]), "'0'"),
        (ladder("bit-board", &["--mark", "32"]), "'32'"),
        (ladder("bit-board", &["--steps", "0"]), "'0'"),
        (ladder("bit-board", &["--steps", "262145"]), "'262145'"),
        (ladder("bit-board", &["--block", "1025"]), "'1025'"),
        (ladder("node-layer", &["--layer", "9"]), "'9'"),
        (ladder("bit-board", &["--boards"]), "lists none"),
        (
            ladder("node-layer", &["--boards", "--style", "emulated"]),
            "node-layer, emulated: a device counts solutions and lists none",
        ),
        (
            ladder("bitmap", &["--layer", "3"]),
            "--layer is for node-layer, not for bitmap",
        ),
        (
            ladder("backtrack", &["--steps", "5"]),
            "--steps is for bit-board",
        ),
        (
            ladder("node-layer", &["--mark", "5"]),
            "--mark is for bit-board",
        ),
        (
            ladder("tuples", &["--block", "5"]),
            "--block is for bit-board and node-layer, not for tuples",
        ),
        (
            ladder("bitmap", &["--boards", "--limit", "-1"]),
            "invalid value '-1'",
        ),
        (
            ladder("node-layer", &["--layer", "-1"]),
            "invalid value '-1'",
        ),
        (
            vec!["ladder", "--from", "-", "--plot", "x.svg", "--layer", "3"],
            "cannot be used with",
        ),
        (
            ladder(
                "node-layer",
                &["-n", "32", "--layer", "8", "--style", "recursive"],
            ),
            "choose a smaller --layer",
        ),
        (vec!["ladder", "--from", "rows.json"], "--plot"),
        (
            vec!["ladder", "--from", "/nowhere", "--plot", "x.svg"],
            "/nowhere",
        ),
        (vec!["explain", "bitmpa"], "'bitmap'"),
    ] {
        let line = refusal(&args, 2);
        assert!(line.contains(says), "{args:?}: {line}");
    }
}

#[test]
fn a_device_asked_for_by_name_counts_or_is_not_available() {
    for (method, style) in [
        ("bit-board", "gpu"),
        ("node-layer", "gpu"),
        ("bit-board", "emulated"),
        ("node-layer", "emulated"),
    ] {
        let args = ladder(method, &["--style", style]);
        if output(&args).status.success() {
            let table = stdout(&args);
            let row = table.lines().nth(1).unwrap();
            assert!(row.starts_with(" 8: ") && row.contains(" 92 "), "{row}");
            assert!(row.ends_with(&format!("{method}, {style}")), "{row}");
        } else {
            let line = refusal(&args, 6);
            let begins = format!("error: {method}, {style}: no ");
            assert!(line.starts_with(&begins), "{line}");
            assert!(style == "gpu" || !cfg!(feature = "emulated-gpu"), "{line}");
        }
    }
}

#[test]
fn both_styles_are_recursion_and_loop_and_no_style_is_all() {
    let rows = |style: &[&str]| {
        let args = [&["-n", "6", "--json"], style].concat();
        let out = output(&ladder("node-layer", &args));
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        text(&out.stdout).lines().count()
    };
    assert_eq!(rows(&["--style", "both"]), 2);
    assert!(rows(&[]) >= 2 + usize::from(cfg!(feature = "emulated-gpu")));
}

/// The numbered lines of columns among the output.
fn numbered(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|line| {
            line.split_once(": ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        })
        .filter(|line| !line.contains("00:00:"))
        .collect()
}

#[test]
fn boards_are_all_solutions_whatever_the_method_finds() {
    let solutions = |args: &[&str]| {
        let out = stdout(args);
        let mut boards: Vec<_> = numbered(&out)
            .into_iter()
            .map(|line| line.split_once(": ").unwrap().1.to_owned())
            .collect();
        boards.sort();
        boards
    };
    let expected = solutions(&ladder("tuples", &["-n", "6", "--boards"]));
    assert_eq!(expected.len(), 4);
    for method in METHODS.iter().map(|method| method.about().name) {
        // Borders, and counts alone.
        if !method.starts_with("carry-chain") && method != "bit-board" {
            let boards = solutions(&ladder(method, &["-n", "6", "--boards"]));
            assert_eq!(boards, expected, "{method}");
        }
    }
}

#[test]
fn unique_boards_are_one_of_each_orbit_with_its_size() {
    let orbits = |method| {
        let out = stdout(&ladder(method, &["-n", "8", "--boards", "unique"]));
        let mut boards: Vec<_> = numbered(&out)
            .into_iter()
            .map(|line| line.split_once(": ").unwrap().1.to_owned())
            .collect();
        boards.sort();
        boards
    };
    let expected = orbits("bitmap");
    assert_eq!(expected.len(), 12);
    assert_eq!(
        expected
            .iter()
            .filter(|board| board.ends_with("orbit of 4"))
            .count(),
        1
    );
    assert_eq!(
        expected
            .iter()
            .filter(|board| board.ends_with("orbit of 8"))
            .count(),
        11
    );
    for method in [
        "mirror",
        "orbits",
        "bound1",
        "symmetry",
        "symmetry-parallel",
        "node-layer",
    ] {
        assert_eq!(orbits(method), expected, "{method}");
    }
}

#[test]
fn a_board_is_drawn_with_a_q_for_each_queen() {
    let out = stdout(&ladder("bitmap", &["-n", "4", "--boards", "--limit", "1"]));
    assert!(
        out.starts_with("1: 1 3 0 2\n. Q . .\n. . . Q\nQ . . .\n. . Q .\n\n"),
        "{out}"
    );
    assert_eq!(numbered(&out).len(), 1);
    let borders = stdout(&ladder("carry-chain", &["-n", "8", "--boards"]));
    assert_eq!(numbered(&borders).len(), 179);
    let board = borders.split("\n\n").next().unwrap();
    assert!(
        board.contains(" - ") && board.contains("orbit of"),
        "{board}"
    );
}

#[test]
fn lines_are_what_the_method_enumerates() {
    let out = stdout(&ladder("tuples", &["-n", "4", "--lines"]));
    let lines = numbered(&out);
    assert_eq!(
        (lines.len(), lines[0], lines[255]),
        (256, "1: 0 0 0 0", "256: 3 3 3 3")
    );
    let out = stdout(&ladder("permutations", &["-n", "5", "--lines"]));
    let lines = numbered(&out);
    assert_eq!((lines.len(), lines[119]), (120, "120: 4 3 2 1 0"));
    let out = stdout(&ladder("backtrack", &["-n", "8", "--lines"]));
    assert_eq!(
        numbered(&out)[82..],
        [
            "83: 6 1 5 2 0 3 7 4",
            "84: 6 2 0 5 7 4 1 3",
            "85: 6 2 7 1 4 0 5 3",
            "86: 6 3 1 4 7 0 2 5",
            "87: 6 3 1 7 5 0 2 4",
            "88: 6 4 2 0 5 7 1 3",
            "89: 7 1 3 0 6 4 2 5",
            "90: 7 1 4 2 0 6 3 5",
            "91: 7 2 0 5 1 4 6 3",
            "92: 7 3 0 2 5 1 6 4",
        ]
    );
}

#[test]
fn steps_are_plain_frames_where_there_is_no_terminal() {
    let out = stdout(&ladder("backtrack", &["-n", "4", "--step"]));
    assert!(
        out.starts_with("1. row 0, a queen in column 0\nQ . . .\n. . . .\n"),
        "{out}"
    );
    assert!(
        out.contains("2. row 1, column 0 is attacked\nQ . . .\nx . . .\n"),
        "{out}"
    );
    assert!(
        out.contains("solution 2\n. . Q .\nQ . . .\n. . . Q\n. Q . .\n"),
        "{out}"
    );
    for method in METHODS {
        let about = method.about();
        if about.steps {
            let out = stdout(&ladder(about.name, &["-n", "4", "--step"]));
            assert!(
                out.contains("Q . . .") && out.contains(". . Q ."),
                "{}",
                about.name
            );
        }
    }
}

/// A frame of `--step`: what it says, and the marks on the squares.
type Frame = (String, Vec<Vec<char>>);

fn frames(out: &str, n: usize) -> Vec<Frame> {
    let end = out.find("\n N:").expect("a table follows");
    let mut frames = Vec::new();
    for (index, frame) in out[..end].split_terminator("\n\n").enumerate() {
        let mut lines = frame.lines();
        let (number, words) = lines.next().unwrap().split_once(". ").unwrap();
        assert_eq!(number, (index + 1).to_string());
        let squares = |line: &str| line.split(' ').map(|s| s.parse().unwrap()).collect();
        let board: Vec<Vec<char>> = lines.map(squares).collect();
        assert!(board.len() == n && board.iter().all(|row| row.len() == n));
        frames.push((words.to_owned(), board));
    }
    frames
}

/// Whether the board shows what the words say.
fn is_true((words, board): &Frame) -> bool {
    let last = board.len() - 1;
    let queen = |row: usize| board[row].contains(&'Q');
    let queen_below = |column: usize| board.iter().any(|row| row[column] == 'Q');
    let square = |prefix, separator, suffix| -> Option<(usize, usize)> {
        let words = words.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let (row, column) = words.split_once(separator)?;
        Some((row.parse().ok()?, column.parse().ok()?))
    };
    let sides = [
        ("top", queen(0) && queen(1)),
        ("right", queen_below(last) && queen_below(last - 1)),
        ("bottom", queen(last) && queen(last - 1)),
        ("left", queen_below(0) && queen_below(1)),
    ];
    if let Some((row, column)) = square("row ", ", a queen in column ", "") {
        board[row][column] == 'Q'
    } else if let Some((row, column)) = square("row ", ", column ", " is attacked") {
        board[row][column] == 'x' && !queen(row)
    } else if let Some(side) = words.strip_prefix("the queens along the ") {
        sides.iter().any(|(name, there)| *name == side && *there)
    } else if words.starts_with("a border, orbit of ") {
        sides.iter().all(|(_, there)| *there)
    } else {
        words.starts_with("solution ") && (0..=last).all(queen)
    }
}

#[test]
fn every_frame_is_true_and_differs_from_the_one_before() {
    for method in METHODS {
        let about = method.about();
        let styles = about.styles.iter().filter(|style| !style.needs_device());
        for style in styles.filter(|_| about.steps) {
            for n in [4, 5, 6_usize] {
                if about.name == "tuples" && n > 5 {
                    continue;
                }
                let (name, size) = (style.name().unwrap(), n.to_string());
                let rest = ["-n", &size, "--step", "--style", name];
                let out = stdout(&ladder(about.name, &rest));
                let frames = frames(&out, n);
                assert!(frames.len() > 5, "{}", about.name);
                for frame in &frames {
                    assert!(is_true(frame), "{}, {name}: {frame:?}", about.name);
                    let rows = frame.1.iter();
                    let crowded = |row: &Vec<char>| row.iter().filter(|c| **c != '.').count() > 1;
                    assert!(!rows.clone().any(crowded), "{frame:?}");
                }
                for pair in frames.windows(2) {
                    assert_ne!(pair[0], pair[1], "{}, {name}", about.name);
                }
            }
        }
    }
}

#[test]
fn a_search_ends_at_its_limit_and_says_so() {
    for (method, args, lines) in [
        ("tuples", &["-n", "9", "--lines"][..], 2),
        (
            "bitmap",
            &["-n", "20", "--boards", "--style", "recursive"],
            43,
        ),
        ("symmetry-parallel", &["-n", "20", "--boards"], 43),
    ] {
        let start = Instant::now();
        let out = output(&ladder(method, &[args, &["--limit", "2"]].concat()));
        assert!(start.elapsed() < Duration::from_secs(10), "{method}");
        let (printed, stderr) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(0), "{stderr}");
        assert_eq!(numbered(&printed).len(), 2, "{printed}");
        assert_eq!(printed.trim_end().lines().count(), lines);
        assert!(stderr.contains("stopped at --limit 2 on n = "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn a_method_over_its_time_limit_is_stopped_and_said_to_be() {
    let start = Instant::now();
    let args = ladder("bitmap", &["-n", "6..=32", "--time-limit", "0.3"]);
    let out = output(&args);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(out.status.code(), Some(0));
    let (table, stderr) = (text(&out.stdout), text(&out.stderr));
    assert!(table.lines().count() > 3, "{table}");
    assert_eq!(
        stderr.matches("stopped at its time limit on n = ").count(),
        2,
        "{stderr}"
    );
    assert!(stderr.contains("bitmap, recursive: ") && stderr.contains("bitmap, iterative: "));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    for args in [
        ladder("tuples", &["-n", "9", "--lines"]),
        ladder("bitmap", &["-n", "12", "--boards", "--limit", "100000000"]),
        ladder("backtrack", &["-n", "9", "--step"]),
        ladder("all", &["-n", "4..=9"]),
    ] {
        let mut child = Process::new(env!("CARGO_BIN_EXE_queenfold"))
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {stderr}");
        assert!(
            !stderr.contains("error") && !stderr.contains("panic"),
            "{stderr}"
        );
    }
}

#[test]
fn the_settings_of_one_method_go_with_all() {
    let out = output(&ladder("all", &["-n", "4", "--layer", "3", "--steps", "5"]));
    assert_eq!(out.status.code(), Some(0), "{out:?}");
}

#[cfg(unix)]
#[test]
fn signals_end_it_between_rows() {
    for signal in ["-INT", "-TERM", "-USR1"] {
        ends_between_rows(signal);
    }
}

#[cfg(unix)]
fn ends_between_rows(signal: &str) {
    let mut child = Process::new(env!("CARGO_BIN_EXE_queenfold"))
        .args(ladder("bitmap", &["-n", "8..=32", "--style", "recursive"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut out = String::new();
    for _ in 0..4 {
        reader.read_line(&mut out).unwrap();
    }
    let kill = Process::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let start = Instant::now();
    reader.read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{signal}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(out.ends_with("bitmap, recursive\n"), "{out}");
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(stderr.starts_with("interrupted on n = "), "{stderr}");
}

#[test]
fn a_picture_is_drawn_of_the_rows_of_a_run_and_of_their_json_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name).to_str().unwrap().to_owned();
    let (direct, rows, later) = (path("direct.svg"), path("rows.json"), path("later.svg"));
    let json = stdout(&ladder(
        "symmetry",
        &["-n", "4..=8", "--json", "--plot", &direct],
    ));
    std::fs::write(&rows, json).unwrap();
    assert_eq!(stdout(&["ladder", "--plot", &later, "--from", &rows]), "");
    let picture = std::fs::read_to_string(&direct).unwrap();
    assert_eq!(picture, std::fs::read_to_string(&later).unwrap());
    assert_eq!(picture.matches("<polyline").count(), 2);
    std::fs::write(&rows, "{\"n\":8}\n").unwrap();
    let line = refusal(&["ladder", "--plot", &later, "--from", &rows], 2);
    assert!(line.contains("line 1"), "{line}");
}

#[test]
fn a_picture_goes_to_stdout_and_a_wrong_total_does_not_go_unsaid() {
    let row = include_str!("../../docs/ladder.jsonl")
        .lines()
        .next()
        .unwrap();
    let draw = |rows: String| {
        let mut command = Command::cargo_bin("queenfold").unwrap();
        let args = ["ladder", "--from", "-", "--plot", "-"];
        let out = command.args(args).write_stdin(rows).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        assert!(text(&out.stdout).starts_with("<svg"), "{out:?}");
        text(&out.stderr)
    };
    assert_eq!(draw(row.to_owned()), "");
    assert_eq!(
        draw(format!("\n{}\n", row.replace("\"92\"", "\"93\""))),
        "-, line 2: tuples, recursive, n = 8: total 93, but 92 is known\n"
    );
}

#[cfg(unix)]
#[test]
fn a_run_that_is_cut_short_draws_the_rows_it_finished() {
    let folder = tempfile::tempdir().unwrap();
    for closes in [false, true] {
        let path = folder.path().join(format!("{closes}.svg"));
        let plot = ["--style", "recursive", "--plot", path.to_str().unwrap()];
        // Closing the pipe is noticed at the next row: these come quickly up to the last.
        let sizes = if closes { "8..=14" } else { "8..=32" };
        let mut child = Process::new(env!("CARGO_BIN_EXE_queenfold"))
            .args(ladder("bitmap", &[&["-n", sizes], &plot[..]].concat()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..3 {
            reader.read_line(&mut line).unwrap();
        }
        if closes {
            drop(reader);
        } else {
            let id = child.id().to_string();
            assert!(
                Process::new("kill")
                    .args(["-INT", &id])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        assert_eq!(
            child.wait().unwrap().code(),
            Some(if closes { 0 } else { 4 })
        );
        let picture = std::fs::read_to_string(&path).unwrap();
        assert!(picture.matches("<circle").count() >= 2, "{picture}");
    }
}

#[test]
fn a_picture_of_nothing_or_of_nonsense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.svg");
    let args = ["ladder", "--from", "-", "--plot", path.to_str().unwrap()];
    let row = include_str!("../../docs/ladder.jsonl")
        .lines()
        .next()
        .unwrap();
    for (stdin, says) in [
        (String::new(), "there are no rows"),
        ("\n\n".into(), "there are no rows"),
        (
            format!("{row}\n\n{}", row.replace("0.13617", "-1")),
            "line 3: -1 seconds",
        ),
        (row.replace("0.13617", "1e300"), "line 1: 1"),
        (row.replace("0.13617", "1e999"), "line 1: number out of"),
        (
            row.replace("tuples", "<b>"),
            "line 1: no method is called `<b>`",
        ),
    ] {
        let mut command = Command::cargo_bin("queenfold").unwrap();
        let out = command.args(args).write_stdin(stdin).output().unwrap();
        let line = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{line}");
        assert!(line.contains(says) && line.lines().count() == 1, "{line}");
        assert!(!path.exists(), "{says}");
    }
    let plot = ["-n", "32", "--time-limit", "0.01", "--plot", args[4]];
    let out = output(&ladder("bitmap", &plot));
    let lines = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{lines}");
    assert!(lines.contains("there are no rows to draw"), "{lines}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_place_where_no_picture_can_be_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let nowhere = format!("{there}/nowhere/p.svg");
    for path in [there, &nowhere, "/"] {
        // Nothing is on stdout, so that no row was counted.
        let line = refusal(&ladder("bitmap", &["-n", "4", "--plot", path]), 1);
        assert!(line.contains(&format!("cannot write {path}: ")), "{line}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_picture_stays_until_the_next_one_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.svg");
    std::fs::write(&path, "good").unwrap();
    let plot = |n| {
        let rest = ["-n", n, "--time-limit", "1", "--plot"];
        output(&ladder(
            "bitmap",
            &[&rest[..], &[path.to_str().unwrap()]].concat(),
        ))
    };
    assert_eq!(plot("32").status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "good");
    assert_eq!(plot("4").status.code(), Some(0));
    let picture = std::fs::read_to_string(&path).unwrap();
    assert!(picture.ends_with("</svg>\n"), "{picture}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no draft");
}

#[test]
fn every_method_is_explained() {
    for method in METHODS {
        let about = method.about();
        let out = stdout(&["explain", about.name]);
        assert_eq!(out.trim_end(), about.text.trim_end());
        assert!(
            out.lines().all(|line| line.chars().count() <= 84),
            "{}",
            about.name
        );
    }
}

/// The rows that the course was written with.
fn measured() -> Vec<TableRow> {
    include_str!("../../docs/ladder.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_picture_of_the_course_is_the_one_of_its_rows() {
    assert_eq!(
        queenfold::ladder::plot(&measured()),
        include_str!("../../docs/ladder.svg"),
        "draw it again: queenfold ladder --plot docs/ladder.svg --from docs/ladder.jsonl"
    );
}

#[test]
fn the_table_of_the_course_says_what_its_rows_say() {
    let course = include_str!("../../docs/LADDER.md");
    for method in METHODS {
        let name = method.about().name;
        assert!(
            course.contains(&format!("`{name}`")),
            "the course leaves out {name}"
        );
    }
    for row in measured() {
        assert_eq!(row.contradiction(), None);
        let line = course
            .lines()
            .find(|line| line.starts_with(&format!("| `{}` |", row.method)))
            .unwrap();
        // Column 0 is before the first bar, 1 the method, 2 the board of eight.
        let cell = line
            .split('|')
            .nth(2 + row.n.get() as usize - 8)
            .unwrap()
            .trim();
        assert_eq!(cell, figure(row.seconds), "{} n = {}", row.method, row.n);
    }
}

/// Seconds to three digits.
fn figure(seconds: f64) -> String {
    let digits = (2 - seconds.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{seconds:.digits$}")
}
