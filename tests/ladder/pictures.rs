//! `queenfold ladder --plot`: pictures, refusals, and what stands there already.

use std::io::{BufRead, BufReader};

use super::course::PICTURE;
use super::ladder;
use crate::common::program::{
    Running, fed, output, printed, queenfold, refusal, refused, stdout, words,
};

/// A row of `--json`.
const ROW: &str = r#"{"n":8,"method":"tuples","style":"recursive","total":"92","unique":null,"classes":null,"nodes":"16777216","seconds":0.25,"cpu_seconds":0.2}"#;

/// A row of another board.
fn smaller() -> String {
    ROW.replace("\"n\":8", "\"n\":4").replace("\"92\"", "\"2\"")
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
    for curve in ["symmetry, recursive, ×", "symmetry, iterative, ×"] {
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
    let draw = |row: &str| {
        let rows = format!("\n{row}\n{}\n", smaller());
        let args = ["ladder", "--from", "-", "--plot", "-"];
        let out = fed(&mut queenfold(&args), rows);
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        assert!(printed(&out.stdout).starts_with("<svg"), "{out:?}");
        printed(&out.stderr)
    };
    assert_eq!(draw(ROW), "");
    assert_eq!(
        draw(&ROW.replace("\"92\"", "\"93\"")),
        "-, line 2: tuples, recursive, n = 8: total 93, but 92 is known\n"
    );
}

#[test]
fn a_run_that_is_cut_short_draws_the_rows_it_finished() {
    let folder = tempfile::tempdir().unwrap();
    for closes in [false, true] {
        let path = folder.path().join(format!("{closes}.svg"));
        let path = path.to_str().unwrap();
        let plot = words!("--style recursive --time-limit none --plot {}", path);
        // The program notices a closed pipe at the next row, so all rows of that case come quickly.
        let sizes = if closes { "8..=14" } else { "8..=32" };
        let args = [&["-n", sizes], &plot[..]].concat();
        let mut child = Running::start(&ladder("bitmap", &args));
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        for _ in 0..3 {
            reader.read_line(&mut line).unwrap();
        }
        if closes {
            drop(reader);
        } else {
            child.send("-INT");
        }
        assert_eq!(
            child.wait().unwrap().code(),
            Some(if closes { 0 } else { 4 })
        );
        let picture = std::fs::read_to_string(path).unwrap();
        assert!(picture.matches("m0-6l6 6").count() >= 3, "{picture}");
    }
}

#[test]
fn a_picture_of_nothing_or_of_nonsense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.svg");
    let args = ["ladder", "--from", "-", "--plot", path.to_str().unwrap()];
    let row = ROW;
    for (stdin, says) in [
        (String::new(), "no rows of several board sizes"),
        (format!("\n{row}\n"), "such as those of -n 4..=8"),
        (
            format!("{row}\n\n{}", row.replace("0.25", "-1")),
            "line 3: -1 seconds",
        ),
        (row.replace("0.25", "1e300"), "line 1: 1"),
        (row.replace("0.25", "1e999"), "line 1: number out of"),
        (
            row.replace("tuples", "<b>"),
            "line 1: no method is called `<b>`",
        ),
    ] {
        let line = refused(&fed(&mut queenfold(&args), stdin), 2);
        assert!(line.contains(says), "{line}");
        assert!(!path.exists(), "{says}");
    }
    let plot = ["-n", "31..=32", "--time-limit", "0.01", "--plot", args[4]];
    let out = output(&ladder("bitmap", &plot));
    let lines = printed(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{lines}");
    assert!(lines.contains("there are no rows of several"), "{lines}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_place_where_no_picture_can_be_is_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let nowhere = format!("{there}/nowhere/p.svg");
    for (path, code) in [(there, 2), (&nowhere, 1), ("/", 2)] {
        // `refusal` checks that stdout is empty: no row was counted.
        let line = refusal(
            &mut queenfold(&ladder("bitmap", &["-n", "4..=5", "--plot", path])),
            code,
        );
        assert!(line.contains(&format!("picture {path}: ")), "{line}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_picture_stays_until_the_next_one_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.svg");
    let good = std::fs::read_to_string(PICTURE).unwrap();
    std::fs::write(&path, &good).unwrap();
    let plot = |n| {
        let rest = ["-n", n, "--time-limit", "1", "--plot"];
        output(&ladder(
            "bitmap",
            &[&rest[..], &[path.to_str().unwrap()]].concat(),
        ))
    };
    assert_eq!(plot("31..=32").status.code(), Some(1));
    let line = refused(&plot("8"), 2);
    assert!(line.contains("such as -n 4..=8"), "{line}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), good);
    assert_eq!(plot("4..=5").status.code(), Some(0));
    let picture = std::fs::read_to_string(&path).unwrap();
    assert!(
        picture.ends_with("</svg>\n") && picture != good,
        "{picture}"
    );
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no draft");
}
