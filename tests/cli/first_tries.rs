//! What somebody types who has not read the help: it works, or one line says what would.

use crate::common::program::{
    fed, json, output, printed, queenfold, refusal, refuses, stdout, tells, words,
};

#[test]
fn boards_are_taken_as_people_write_them() {
    let sizes = |args: &[&str]| {
        let lines = stdout(&[&args[..1], &["-q", "--json"], &args[1..]].concat());
        let size = |line: &str| -> u64 {
            let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
            json["n"].as_u64().expect("a number")
        };
        lines.lines().map(size).collect::<Vec<_>>()
    };
    for (args, meant) in [
        (&["run", "6"][..], &[6][..]),
        (&["run", "4-6"], &[4, 5, 6]),
        (&["run", "-n", "4..6"], &[4, 5, 6]),
        (&["run", "-n", "8,4,5"], &[4, 5, 8]),
        (&["run", "--workers", "6", "5"], &[5]),
        (&["run", "5", "--workers", "5"], &[5]),
        // The last of a flag that is given twice decides.
        (&["run", "-n", "8", "-n", "5"], &[5]),
    ] {
        assert_eq!(sizes(args), meant, "{args:?}");
    }
    assert!(stdout(&["--workers", "2", "8"]).contains("\n 8:    92 "));
    let census = stdout(&["run", "--census", "4..6", "--json"]);
    assert_eq!(census.lines().count(), 3);
    assert_eq!(stdout(&["solve", "4,6"]).lines().count(), 4 + 1 + 6);
    let more = output(&["solve", "-n", "14", "--queens", "a1"]);
    assert_eq!(
        printed(&more.stderr),
        "1 solution, given queens a1; there may be more: --count 2\n"
    );
    let drawn = stdout(&["solve", "8", "--seed", "3"]);
    assert_eq!(stdout(&["solve", "-n", "8", "--seed", "3"]), drawn);
    let random = output(&["solve", "-n", "8", "--seed", "random"]);
    tells(
        &printed(&random.stderr),
        &["1 of 92 solutions, chosen uniformly, seed "],
    );
    let by_its_other_name = stdout(&["8", "--engine", "join", "--json"]);
    tells(&by_its_other_name, &["\"engine\":\"colour\""]);
}

#[test]
fn a_picture_is_read_from_standard_input() {
    let mut command = queenfold(&["run", "--board", "-", "--json", "-q"]);
    let counted = fed(&mut command, ".#..\n....\n....\n....\n");
    assert!(printed(&counted.stdout).contains("\"total\":\"1\""));
}

#[test]
fn a_run_of_days_that_keeps_nothing_is_refused() {
    let line = refusal(&mut queenfold(&["run", "-n", "4,28"]), 2);
    for part in ["n = 28 takes about", "--dir DIR", "--yes"] {
        assert!(line.contains(part), "{line}");
    }
    // It ends by itself.
    let limited = output(&["run", "-n", "28", "--time-limit", "100ms"]);
    assert_eq!(limited.status.code(), Some(4));
    let insisted = output(&["run", "-n", "28", "--yes", "--time-limit", "100ms"]);
    assert_eq!(insisted.status.code(), Some(4));
}

#[test]
fn a_shard_that_is_complete_is_told_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("part");
    let dir = dir.to_str().unwrap();
    for args in [
        &["run", "-n", "12", "--shard", "0/2", "--dir"][..],
        &["resume"],
    ] {
        let told = stdout(&[args, &[dir, "--json", "-q"]].concat());
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["n"], &told["shard"]), (&12.into(), &"0/2".into()));
        assert!(
            told["total"].is_null() && told["missing_tasks"].as_u64() > Some(0),
            "{told}"
        );
    }
}

#[test]
fn a_log_shows_now_and_then_that_a_run_lives() {
    let run = ["run", "-n", "18", "--workers", "1", "--time-limit", "2s"];
    let said = |every: &[&str]| printed(&output(&[&run[..], every].concat()).stderr);
    assert!(said(&["--progress-every", "300ms"]).contains("n = 18: "));
    assert!(!said(&[]).contains(" %"));
}

#[test]
fn what_is_refused_comes_with_the_hint_that_helps() {
    refuses(
        2,
        r#"
        run n=8 => tip: give the board as `-n 8`
        run -n 8 --format json => tip: `--json`
        run -n 8 --silent => tip: `--quiet`
        status d --follow => tip: `--watch`
        gather a b --dir c => tip: `--into`
        run -n 8 9 => several as `-n 8,10` or `-n 4..=8`
        run -n 8..=7 => ; write 7..=8
        8..=7 => ; write 7..=8
        run --n 8 => tip: give the board as `-n 8`
        run -N 8 => tip: give the board as `-n 8`
        --n 8 => tip: give a command first
        -n 8 => tip: give a command first
        --workers 2 => tip: give a command first
        rum -n 8 => similar subcommand exists: 'run'
        foo => tip: `queenfold --help` lists the commands
        version => tip: `queenfold --version`
        -v => tip: `queenfold --version`
        resume d -n 8 => leave the board out
        status d 8 => leave the board out
        run -n 8 --threads 2 => tip: `--workers`
        run -n 8 -o x => tip: results go to standard
        count 8 => tip: `queenfold run -n 8`
        Run -n 8 => similar subcommand exists: 'run'
        explain bitmpa => similar value exists: 'bitmap'
        solve -n 8 --all => tip: `--count all`
        8 --all => `queenfold solve -n 8` prints solutions
        8 --boards => `queenfold solve -n 8` prints solutions
        8 --svg => `queenfold solve -n 8` prints solutions
        solutions 8 => `queenfold solve -n 8` prints solutions
        run -n 8 --audit 1/2 => QUEENFOLD_RUN_AUDIT
        array -n 16 --partition general => `-- --partition`
        run -n 8 --csv => tip: `--json`
        show n18 => tip: `queenfold status DIR`
        ls => tip: `queenfold status DIR`
        dashboard n18 => tip: `queenfold status --watch DIR`
        run --census 33 => tip: boards are 1 to 32
        solve -n 8 --queens c4, h5 => tip: a list has no blank
        bench --runs 5 => tip: `bench` counts the same boards
        bench -n 20 => tip: `bench` counts the same boards
        ladder --queens b4 => tip: the ladder has empty boards
        bench --gpu cuda => a whole number from 0 to 63
        ladder -n 4..=5 --plot x.png => pictures are .svg files
        "#,
    );
}

#[test]
fn a_hint_that_would_mislead_is_not_given() {
    for args in [
        &["run", "-n", "8", "--shape", "x"][..],
        &["frobnicate"],
        &["--verbose"],
        &["test-it"],
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
fn flags_undo_what_a_file_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "[run]\nunique = false\ntime_limit = \"1h\"\n[output]\nquiet = true\n";
    std::fs::write(folder.path().join("queenfold.toml"), file).expect("written");
    let flags = words!("--no-quiet --unique --time-limit none");
    let in_folder = |args: &[&str]| {
        let output = queenfold(&[args, &flags].concat())
            .current_dir(folder.path())
            .output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(printed(&output.stderr), "");
        printed(&output.stdout)
    };
    let shown = in_folder(&["config"]);
    for line in ["quiet = false ", "unique = true ", "time_limit = \"none\" "] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(in_folder(&["8"]).contains("\n 8:    92      12  "));
    // The last of two opposite flags decides.
    let unique = |flags: &[&str]| json(&[&["4", "--json"], flags].concat())["unique"].clone();
    assert_eq!(unique(&["--no-unique", "--unique"]), "1");
    assert!(unique(&["--unique", "--no-unique"]).is_null());
}
