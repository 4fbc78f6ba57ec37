//! What somebody types who has not read the help: it works, or one line says what would.

use crate::program::{output, queenfold, refusal, stdout, text};

#[test]
fn a_board_alone_is_counted() {
    assert!(stdout(&["8"]).contains("\n 8:    92      12  "));
    assert_eq!(stdout(&["4..=6", "--json"]).lines().count(), 3);
}

#[test]
fn what_is_refused_comes_with_the_hint_that_helps() {
    for (args, hint) in [
        (&["run", "16"][..], "tip: give the board as `-n 16`"),
        (&["run", "4-8"], "tip: give the board as `-n 4..=8`"),
        (&["run", "n=8"], "tip: give the board as `-n 8`"),
        (&["bench", "foo"], "tip: `queenfold bench --help` lists"),
        (
            &["array", "-n", "16", "--memory", "9x"],
            "K, M, G, T or KiB",
        ),
        (&["census", "8"], "tip: give the board as `-n 8`"),
        (&["census", "4-8"], "tip: `census` takes one board: `-n 8`"),
        (&["run", "-n", "8", "--format", "json"], "tip: `--json`"),
        (&["run", "-n", "8", "--silent"], "tip: `--quiet`"),
        (&["status", "d", "--follow"], "tip: `--watch`"),
        (&["run", "-n", "8", "9"], "a range such as `-n 4..=8`"),
        (&["8", "9"], "a range such as `-n 4..=8`"),
        (&["run", "-n", "4-8"], "; write 4..=8"),
        (&["run", "-n", "4..8"], "; write 4..=8"),
        (&["run", "-n", "8..=7"], "; write 7..=8"),
        (&["8..=7"], "; write 7..=8"),
        (&["run", "--n", "8"], "tip: give the board as `-n 8`"),
        (&["run", "-N", "8"], "tip: give the board as `-n 8`"),
        (&["--n", "8"], "tip: give a command first"),
        (&["-n", "8"], "tip: give a command first"),
        (
            &["--json", "8"],
            "options follow the board: `queenfold 8 --json`",
        ),
        (&["-q", "8"], "options follow the board: `queenfold 8 -q`"),
        (&["--workers", "2", "8"], "`queenfold 8 --workers 2`"),
        (&["--workers", "2"], "tip: give a command first"),
        (&["-5"], "tip: boards are 1 to 32"),
        (&["-12"], "tip: boards are 1 to 32"),
        (&["rnu", "-n", "8"], "similar subcommand exists: 'run'"),
        (&["foo"], "tip: `queenfold --help` lists the commands"),
        (&["config", "shwo"], "similar subcommand exists: 'show'"),
        (&["version"], "tip: `queenfold --version`"),
        (&["-v"], "tip: `queenfold --version`"),
        (&["resume", "d", "-n", "8"], "leave the board out"),
        (&["status", "d", "8"], "leave the board out"),
        (&["run", "-n", "8", "--threads", "2"], "tip: `--workers`"),
        (
            &["run", "-n", "8", "-o", "x"],
            "tip: results go to standard",
        ),
        (&["count", "8"], "tip: `queenfold run -n 8`"),
        (&["Run", "-n", "8"], "similar subcommand exists: 'run'"),
        (&["explain", "bitmpa"], "similar value exists: 'bitmap'"),
    ] {
        let line = refusal(&mut queenfold(args), 2);
        assert!(line.contains(hint), "{args:?}: {line}");
        assert!(!line.contains("-- -n"), "{args:?}: {line}");
    }
}

#[test]
fn a_hint_that_would_mislead_is_not_given() {
    for args in [
        &["run", "-n", "8", "--shape", "x"][..],
        &["frobnicate"],
        &["--verbose"],
        &["test-it"],
        &["bench", "--calibrate", "-n", "8"],
        &["selftest", "8"],
    ] {
        let line = refusal(&mut queenfold(args), 2);
        let misleading = ["similar", "-- ", "board"]
            .iter()
            .any(|word| line.contains(word));
        assert!(!misleading, "{args:?}: {line}");
    }
}

#[test]
fn units_are_understood_by_every_flag() {
    for limit in ["90", "90s", "1.5m", "1h 30m", "none"] {
        stdout(&["run", "-n", "4", "--time-limit", limit]);
    }
    for limit in ["90", "90s", "1.5m"] {
        stdout(&[
            "ladder",
            "--method",
            "flags",
            "-n",
            "4",
            "--time-limit",
            limit,
        ]);
    }
}

#[test]
fn flags_undo_what_a_file_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "[run]\nn = 8\nunique = false\ntime_limit = \"1h\"\n\
                [output]\njson = true\nquiet = true\nprofile = true\n\
                [trace]\nfile = \"t.json\"\n";
    std::fs::write(folder.path().join("queenfold.toml"), file).expect("written");
    let flags = [
        "--no-json",
        "--no-quiet",
        "--no-profile",
        "--unique",
        "--time-limit",
        "none",
        "--trace",
        "none",
    ];
    let in_folder = |args: &[&str]| {
        let output = queenfold(&[args, &flags].concat())
            .current_dir(folder.path())
            .output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout)
    };
    let shown = in_folder(&["config", "show"]);
    for line in [
        "json = false ",
        "quiet = false ",
        "profile = false ",
        "unique = true ",
        "time_limit = \"none\" ",
        "file = \"none\" ",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(in_folder(&["run"]).contains("\n 8:    92      12  "));
    assert!(!folder.path().join("t.json").exists());
    // The last of two opposite flags decides.
    assert!(stdout(&["run", "-n", "4", "--no-json", "--json"]).starts_with('{'));
    assert!(
        output(&["run", "-n", "4", "--json", "--no-json"])
            .stdout
            .starts_with(b" N:")
    );
}
