//! Given queens and holes, from the command line: what is refused, what is printed, runs in directories, and
//! the boards that `solve` prints.

use serde_json::Value as Json;

use crate::common::program::{
    json, output, printed, queenfold, refusal, refuses, stdout, tells, words,
};

#[test]
fn what_cannot_be_given_is_named_and_exits_2() {
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("board.txt");
    std::fs::write(&picture, "....\n..Q.\n....\n.#..\n").unwrap();
    let picture = picture.to_str().unwrap();
    for command in ["run", "estimate", "solve", "run --census"] {
        refuses(
            2,
            &format!(
                r#"
                {command} -n 8 --queens c3,c7 => the given queens on c7 and c3 attack each other
                {command} -n 8 --queens c3,C3 => c3 is given twice: give each queen once
                {command} -n 8 --queens c9 => `c9` names no square of n = 8
                {command} -n 8 --queens c3 --holes c3 => the hole c3
                {command} -n 8 --queens 8 => `8` names no square of n = 8: write a column from a to h
                {command} --board {picture} -n 4 => '--board <FILE|->' cannot be used with '-n <N|A..=B>'
                {command} --board {picture} --queens a1 => cannot be used with '--queens
                {command} --board no-such-picture => no-such-picture:
                {command} --queens c3 => no board: give -n N
                "#
            ),
        );
    }
    refuses(
        2,
        r#"
        run -n 4..=9 --queens e5 => `e5` names no square of n = 4
        estimate -n 4..=9 --queens e5 => `e5` names no square of n = 4
        "#,
    );
}

#[test]
fn a_run_says_what_is_given_and_which_symmetries_fix_it() {
    let table = stdout(&["run", "-n", "8", "--queens", "b4,d5"]);
    let row = table.lines().nth(1).unwrap();
    assert!(row.starts_with(" 8:     2       2 "), "{row}");
    assert!(
        row.ends_with("  checked: twice  given queens d5,b4; symmetries none"),
        "{row}"
    );
    for engine in ["chain", "colour"] {
        let found = json(&["8", "--holes", "a1,a8,h1,h8", "--engine", engine, "--json"]);
        // Of 92 solutions, 16 have a queen in a corner.
        assert_eq!(found["total"], "76");
        assert_eq!(
            found["given"]["holes"],
            serde_json::json!(["a8", "h8", "a1", "h1"])
        );
        assert_eq!(found["given"]["symmetries"].as_array().unwrap().len(), 8);
        assert_eq!(found["checked"], "twice");
    }
    assert_eq!(json(&["8", "--json"])["given"], Json::Null);
    let none = json(&["6", "--queens", "a1", "--json"]);
    assert_eq!(
        (none["total"].as_str(), none["unique"].as_str()),
        (Some("0"), Some("0"))
    );
}

#[test]
fn a_picture_and_names_give_the_same_board() {
    let dir = tempfile::tempdir().unwrap();
    let picture = dir.path().join("board.txt");
    let rows = ["........"; 8].map(str::to_owned);
    let mut rows = rows.to_vec();
    rows[3].replace_range(3..4, "Q");
    rows[4].replace_range(1..2, "Q");
    rows[0].replace_range(4..5, "#");
    std::fs::write(&picture, rows.join("\n")).unwrap();
    let picture = picture.to_str().unwrap();
    let of_picture = json(&["run", "--board", picture, "--json"]);
    let of_names = json(&words!("run -n 8 --queens b4,d5 --holes e8 --json"));
    assert_eq!(of_picture["given"], of_names["given"]);
    // One of the solutions with these queens has a queen on e8, and so has the other.
    assert_eq!(of_picture["total"], "0");
    let none = refusal(&mut queenfold(&["solve", "--board", picture]), 1);
    assert_eq!(
        none,
        "error: there is no solution, given queens d5,b4 and holes e8\n"
    );
}

#[test]
fn a_run_in_a_directory_keeps_what_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let [whole, half, rest, other, merged] = ["whole", "half", "rest", "other", "merged"].map(path);
    let board = words!("run -n 14 --queens c3 --holes d4,e5 -q");
    let run = |more: &[&str]| output(&[&board, more].concat());
    assert!(run(&["--dir", &whole]).status.success());
    assert!(run(&["--dir", &half, "--shard", "0/2"]).status.success());
    assert!(run(&["--dir", &rest, "--shard", "1/2"]).status.success());
    assert!(
        output(&["run", "-n", "14", "--queens", "c4", "--dir", &other, "-q"])
            .status
            .success()
    );
    // Parts of different boards are refused by name.
    for command in [
        &["gather", &half, &other, "--into", &merged][..],
        &["verify", &whole, "--against", &other],
    ] {
        let line = refusal(&mut queenfold(command), 2);
        tells(&line, &["queens c3 and holes e5,d4", "queens c4"]);
    }
    assert!(
        output(&["gather", &half, &rest, "--into", &merged])
            .status
            .success()
    );
    let signature = |dir: &str| json(&["report", dir, "--json"])["signature"].clone();
    assert_eq!(signature(&merged), signature(&whole));
    let free = path("free");
    assert!(
        output(&["run", "-n", "14", "--dir", &free, "-q"])
            .status
            .success()
    );
    assert_ne!(signature(&free), signature(&whole));
    let total = json(&words!(
        "run -n 14 --queens c3 --holes d4,e5 --engine colour --json"
    ));
    let total = total["total"].as_str().unwrap();
    let verified = stdout(&["verify", &whole, "--sample", "1"]);
    tells(&verified, &[&format!("total     {total} ")]);
    tells(&verified, &["given queens c3 and holes e5,d4"]);
    assert!(stdout(&["status", &merged]).contains("n = 14 with queens c3 and holes e5,d4"));
    assert_eq!(
        json(&["status", &merged, "--json"])["given"]["queens"][0],
        "c3"
    );
    assert!(stdout(&["verify", "--again", &whole]).contains(total));
    assert!(stdout(&["resume", &whole]).contains(total));
    let certificate = path("certificate");
    stdout(&["certify", &whole, "-o", &certificate]);
    let checked = stdout(&["check", &certificate]);
    tells(
        &checked,
        &[
            "board     n = 14, given queens c3 and holes e5,d4; symmetries",
            &format!("total     {total} "),
        ],
    );
    let page = path("page.html");
    assert!(output(&["report", &whole, "-o", &page]).status.success());
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("All completions"));
    let record = json(&["report", &whole, "--json"]);
    let of_run = json(&words!("run -n 14 --queens c3 --holes d4,e5 --json"));
    assert_eq!(record["given"], of_run["given"]);
    assert_eq!(record["result"]["classes"], of_run["classes"]);
    assert!(
        page.contains("queens c3 and holes e5,d4"),
        "the page does not say what is given"
    );
    assert!(page.contains("run -n 14 --queens c3 --holes e5,d4 --engine"));
}

#[test]
fn solve_prints_boards_that_it_reads_again() {
    let board = ["solve", "-n", "8", "--queens", "b4,d5"];
    let both = output(&[&board[..], &["--count", "5"]].concat());
    let boards = printed(&both.stdout);
    assert_eq!(
        printed(&both.stderr),
        "all 2 solutions, given queens d5,b4\n"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("solved.txt");
    std::fs::write(&file, &boards).unwrap();
    let line = refusal(
        &mut queenfold(&["run", "--board", file.to_str().unwrap()]),
        2,
    );
    assert!(line.contains("solved.txt: several boards"), "{line}");
    let boards: Vec<_> = boards.split("\n\n").collect();
    assert_eq!(boards.len(), 2);
    for board in boards {
        std::fs::write(&file, board).unwrap();
        let again = stdout(&["solve", "--board", file.to_str().unwrap()]);
        assert_eq!(again.trim_end(), board.trim_end());
    }
    let found = json(&[&board[..], &["--json", "--count", "2", "--seed", "5"]].concat());
    assert_eq!(
        (found["chosen"].as_str(), found["all"].as_bool()),
        (Some("uniform"), Some(true))
    );
    let boards = found["boards"].as_array().unwrap();
    assert!(
        boards
            .iter()
            .all(|board| board.to_string().contains("\"b4\"")),
        "{boards:?}"
    );
    assert_eq!(
        found,
        json(&[&board[..], &["--json", "--count", "2", "--seed", "5"]].concat())
    );
    let svg = stdout(&[&board[..], &["--svg", "--count", "2"]].concat());
    assert!(
        svg.starts_with("<svg ") && svg.matches('♛').count() == 16,
        "{svg}"
    );
    let puzzle = words!("solve -n 4 --queens b4 --holes a1 --count 0");
    assert_eq!(stdout(&puzzle), ". Q . .\n. . . .\n. . . .\n# . . .\n");
    let svg = stdout(&[&puzzle[..], &["--svg"]].concat());
    assert_eq!(svg.matches('♛').count(), 1, "{svg}");
    let none = output(&["solve", "-n", "6", "--queens", "a1"]);
    assert_eq!(
        (none.status.code(), printed(&none.stdout)),
        (Some(1), String::new())
    );
    assert_eq!(
        printed(&none.stderr),
        "error: there is no solution, given queens a1\n"
    );
    let all = output(&["solve", "-n", "6", "--count", "all"]);
    assert_eq!(printed(&all.stderr), "all 4 solutions\n");
    let holes = stdout(&words!("solve -n 4 --holes c4,a1"));
    assert_eq!(holes, ". Q # .\n. . . Q\nQ . . .\n# . Q .\n");
    let unique = output(&["solve", "-n", "8", "--count", "all", "--unique"]);
    assert_eq!(printed(&unique.stderr), "all 12 unique solutions\n");
    assert_eq!(
        printed(&output(&["solve", "-n", "8"]).stderr),
        "1 of 92 solutions\n"
    );
    refusal(
        &mut queenfold(&["solve", "-n", "8", "--count", "all", "--seed", "random"]),
        2,
    );
    // There are 365,596.
    let line = refusal(
        &mut queenfold(&["solve", "-n", "14", "--count", "all", "--json"]),
        2,
    );
    assert!(line.contains("at most 100000 boards"), "{line}");
    let drawn = output(&["solve", "-n", "20", "--seed", "1"]);
    assert!(
        printed(&drawn.stderr).contains("not uniform, seed 1"),
        "{drawn:?}"
    );
}

#[test]
fn notices_events_and_metrics_say_what_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [notice, events, metrics] = ["notice", "events", "metrics"].map(path);
    stdout(&[
        "run",
        "-n",
        "12",
        "--queens",
        "b4",
        "--on-event",
        &format!("tee {notice}"),
        "--events",
        &events,
        "--metrics",
        &metrics,
    ]);
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let notice: Json = serde_json::from_str(&read(&notice)).unwrap();
    assert_eq!(notice["text"], "n = 12 with queens b4 has 1275 completions");
    assert_eq!(notice["given"]["queens"][0], "b4");
    let events = read(&events);
    let planned = events
        .lines()
        .find(|line| line.contains("\"planned\""))
        .unwrap();
    let planned: Json = serde_json::from_str(planned).unwrap();
    assert_eq!(
        planned["kind"]["planned"]["plans"][0]["given"],
        notice["given"]
    );
    assert!(read(&metrics).contains(",given=\"queens b4\"} 1"));
    let stopped = output(&words!(
        "run -n 22 --queens b4 --time-limit 1ms --workers 1"
    ));
    let said = printed(&stopped.stderr);
    tells(&said, &["tasks of n = 22 with queens b4 counted"]);
}

#[test]
fn many_given_squares_are_shortened_outside_of_json() {
    let names: Vec<_> = "abcdefghijkl"
        .chars()
        .map(|column| format!("{column}1"))
        .collect();
    let board = ["-n", "12", "--holes", &names.join(",")];
    let table = stdout(&[&["run"], &board[..]].concat());
    tells(&table, &["given holes a1,b1,c1 and 9 more; symmetries"]);
    let found = json(&[&["run"], &board[..], &["--json"]].concat());
    assert_eq!(found["given"]["holes"].as_array().unwrap().len(), 12);
    let census = stdout(&[&["run", "--census"], &board[..]].concat());
    tells(
        &census,
        &["\ngiven    holes a1,b1,c1 and 9 more; symmetries"],
    );
    let estimate = stdout(&words!("estimate -n 4 --holes a1,a2,a3,a4 --for 1s"));
    assert!(
        estimate.ends_with("sample      nothing to count: no task of this board has any work\n")
    );
}

#[test]
fn solve_draws_nothing_without_a_completion() {
    let none = output(&["solve", "-n", "3", "--svg"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(none.stdout.is_empty());
    let free = json(&["solve", "-n", "8", "--json"]);
    assert_eq!(
        (&free["given"], free["gave_up"].as_bool()),
        (&Json::Null, Some(false))
    );
}

/// On Unix, the name of a file is any bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_may_have_a_name_that_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join(OsStr::from_bytes(b"pict\xffre"));
    std::fs::write(&picture, "....\n....\n....\n#...\n").expect("a file");
    let mut run = queenfold(&["run", "--json", "-q"]);
    run.arg("--board").arg(&picture);
    let output = run.output().expect("it starts");
    let result: Json = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(result["given"]["holes"], serde_json::json!(["a1"]));
}
