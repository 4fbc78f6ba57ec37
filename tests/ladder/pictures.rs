//! `queenfold ladder --plot`, and the picture and table of the course in docs/.

#[cfg(unix)]
use std::io::{BufRead, BufReader};

use queenfold::ladder::{METHODS, PROGRAM, TableRow};

#[cfg(unix)]
use crate::child::{send, spawn};
use crate::ladder;
use crate::program::{output, queenfold, refusal, stdout, text};

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
    for curve in ["symmetry, recursive", "symmetry, iterative"] {
        assert_eq!(picture.matches(curve).count(), 1, "{curve}: {picture}");
    }
    std::fs::write(&rows, "{\"n\":8}\n").unwrap();
    let line = refusal(
        &mut queenfold(&["ladder", "--plot", &later, "--from", &rows]),
        2,
    );
    assert!(line.contains("line 1"), "{line}");
}

#[test]
fn a_picture_goes_to_stdout_and_a_wrong_total_does_not_go_unsaid() {
    let row = include_str!("../../docs/ladder.jsonl")
        .lines()
        .next()
        .unwrap();
    let draw = |rows: String| {
        let args = ["ladder", "--from", "-", "--plot", "-"];
        let out = queenfold(&args).write_stdin(rows).output().unwrap();
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
        // The program notices a closed pipe at the next row, so all rows of that case come quickly.
        let sizes = if closes { "8..=14" } else { "8..=32" };
        let args = [&["-n", sizes], &plot[..]].concat();
        let mut child = spawn(&ladder("bitmap", &args));
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..3 {
            reader.read_line(&mut line).unwrap();
        }
        if closes {
            drop(reader);
        } else {
            send("-INT", &child);
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
        let line = refusal(queenfold(&args).write_stdin(stdin), 2);
        assert!(line.contains(says), "{line}");
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
        // `refusal` checks that stdout is empty: no row was counted.
        let line = refusal(
            &mut queenfold(&ladder("bitmap", &["-n", "4", "--plot", path])),
            1,
        );
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

/// The measured rows that the table and the picture of the course show.
fn measured() -> Vec<TableRow> {
    include_str!("../../docs/ladder.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_picture_of_the_course_is_the_one_of_its_rows() {
    assert_eq!(
        queenfold::report::ladder_picture(&measured()).unwrap(),
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
    let tables = course.split_once("| engine |").unwrap();
    for row in measured() {
        assert_eq!(row.contradiction(), None);
        // The rows of the program itself are named by their engine.
        let name = match (&*row.method, &row.style) {
            (PROGRAM, Some(engine)) => engine,
            (method, _) => method,
        };
        // Their table follows that of the methods.
        let table = if row.method == PROGRAM {
            tables.1
        } else {
            tables.0
        };
        let line = table
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")))
            .unwrap();
        // Part 0 is before the first bar, part 1 is the method, part 2 is n = 8.
        let cell = line
            .split('|')
            .nth(2 + row.n.get() as usize - 8)
            .unwrap()
            .trim();
        assert_eq!(cell, figure(row.seconds), "{} n = {}", row.method, row.n);
    }
}

/// Seconds with three significant digits.
fn figure(seconds: f64) -> String {
    let digits = (2 - seconds.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{seconds:.digits$}")
}
