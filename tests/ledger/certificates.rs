//! Certificates: whole ones pass both checkers, this program and the one in Python; changed ones pass
//! neither, even if their root was computed again.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::arbitrary::tree;
use super::*;
use crate::common::program::{of, said, tells, text};

/// Runs the checker in Python. `None` if there is no Python.
pub fn python(arguments: &[&str]) -> Option<(i32, String, String)> {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/check_certificate.py"
    );
    match Command::new("python3")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script)
        .args(arguments)
        .output()
    {
        Ok(output) => Some(said(&output)),
        Err(_) => {
            crate::common::skip::skipped("the checker of certificates in Python needs python3");
            None
        }
    }
}

fn write_key(file: &Path, key: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, key).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

fn certify(run: &Path, file: &Path, more: &[&str]) -> (i32, String, String) {
    of(&[&["certify", text(run), "-o", text(file)], more].concat())
}

/// Counts a board and writes its certificate, signed.
pub fn certificate(dir: &Path, n: u32, engine: &str) -> PathBuf {
    certificate_of(dir, n, engine, &[])
}

/// The same of a board on which something is given by these flags.
pub fn certificate_of(dir: &Path, n: u32, engine: &str, given: &[&str]) -> PathBuf {
    let (run, key, file) = (dir.join("run"), dir.join("key"), dir.join("a.cert"));
    write_key(&key, &format!("{}\n", "5a".repeat(32)), 0o600);
    let n = n.to_string();
    let board = ["run", "-n", &n, "--engine", engine, "--dir", text(&run)];
    let (code, _, error) = of(&[&board[..], given].concat());
    assert_eq!(code, 0, "{error}");
    let (code, out, error) = certify(&run, &file, &["--key", text(&key)]);
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("1 signature"), "{out}");
    file
}

#[test]
fn whole_certificates_pass_both_checkers() {
    for (n, engine, total) in [
        (1, "colour", "1"),
        (3, "chain", "0"),
        (12, "colour", "14200"),
        (12, "chain", "14200"),
        (13, "colour", "73712"),
        (16, "colour", "14772512"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = certificate(dir.path(), n, engine);
        let (code, out, error) = of(&[
            "check",
            text(&file),
            "--challenge",
            "a seed",
            "--sample",
            "8",
        ]);
        assert_eq!(code, 0, "n = {n}, {engine}: {error}");
        tells(
            &out,
            &[&format!("total     {total} solutions of n = {n}, equal")],
        );
        tells(&out, &["signed    by ", "all equal"]);
        let mut arguments = vec![text(&file)];
        if n < 13 {
            arguments.extend(["--challenge", "a seed", "--sample", "8"]);
        }
        if let Some((code, out, error)) = python(&arguments) {
            assert_eq!(code, 0, "n = {n}, {engine}: {error}");
            assert!(
                out.starts_with(&format!("n = {n}: {total} solutions")),
                "{out}"
            );
        }
    }
}

/// Boards that all eight symmetries fix, four, two of each kind and one; those without a completion; and large enough ones for pieces
/// of borders.
#[test]
fn certificates_of_given_boards_pass_both_checkers() {
    let boards = [
        (1, ["--holes", "a1"]),
        (4, ["--holes", "a1,a2,a3,a4"]),
        (5, ["--queens", "c3"]),
        (3, ["--holes", "a1"]),
        (8, ["--queens", "b4,d5"]),
        (9, ["--holes", "a1,i9"]),
        (9, ["--holes", "a2,i2"]),
        (9, ["--holes", "d2,b6,f8,h4"]),
        (10, ["--holes", "b3,i8"]),
        (10, ["--holes", "a1,a2,b1,j10"]),
        (12, ["--holes", "a1,a12,l1,l12"]),
        (13, ["--queens", "c2,h9"]),
        (14, ["--queens", "c2,h9,a6"]),
    ];
    for (at, (n, given)) in boards.into_iter().enumerate() {
        // Large ones by one engine: the other one does not make a certificate otherwise.
        let engines = ["chain", "colour"]
            .into_iter()
            .skip(usize::from(n > 8) * (at % 2));
        for engine in engines.take(if n > 8 { 1 } else { 2 }) {
            let dir = tempfile::tempdir().unwrap();
            let file = certificate_of(dir.path(), n, engine, &given);
            let challenged = [text(&file), "--challenge", "a seed", "--sample", "200"];
            let (code, out, error) = of(&[&["check"], &challenged[..]].concat());
            assert_eq!(code, 0, "n = {n} {given:?}, {engine}: {error}");
            assert!(out.contains("board     n = "), "{out}");
            let total = out.lines().find_map(|line| line.strip_prefix("total     "));
            let total = total.and_then(|line| line.split(' ').next()).unwrap();
            if let Some((code, out, error)) = python(&challenged) {
                assert_eq!(code, 0, "n = {n} {given:?}, {engine}: {error}");
                let what = given[0].trim_start_matches("--");
                assert!(
                    out.starts_with(&format!("n = {n}, {what} "))
                        && out.contains(&format!(": {total} solutions")),
                    "{out}"
                );
            }
        }
    }
}

/// A certificate that names another board, or none, is one of other tasks.
#[test]
fn certificates_of_another_given_board_are_refused() {
    for engine in ["chain", "colour"] {
        let dir = tempfile::tempdir().unwrap();
        let file = certificate_of(dir.path(), 8, engine, &["--holes", "a1,h8,c4"]);
        let lines = leaves(&fs::read_to_string(&file).unwrap());
        let own = r#""certificate":2,"#;
        let given = r#""queens":"","holes":"h8,c4,a1","#;
        assert!(
            lines[0].contains(own) && lines[0].contains(given),
            "{}",
            lines[0]
        );
        for (what, change) in [
            ("another hole", given.replace("c4", "d4")),
            ("a hole less", given.replace("c4,", "")),
            ("a queen", given.replace(":\"\"", ":\"b6\"")),
            ("a queen on a hole", given.replace(":\"\"", ":\"a1\"")),
            ("no square", given.replace("c4", "j4")),
            ("nothing", String::new()),
            ("nothing, in words", given.replace("h8,c4,a1", "")),
        ] {
            let mut changed = lines.clone();
            changed[0] = changed[0].replace(given, &change);
            refused(dir.path(), what, sealed(&changed).as_bytes(), None);
        }
        let mut changed = lines.clone();
        changed[0] = changed[0].replace(own, r#""certificate":1,"#);
        refused(dir.path(), "format 1", sealed(&changed).as_bytes(), None);
    }
}

/// The certificate in the documentation, with the counts of its run.
#[test]
fn the_certificate_of_20_queens_passes_both_checkers() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/n20.cert");
    let (code, out, error) = of(&["check", file]);
    assert_eq!(code, 0, "{error}");
    tells(
        &out,
        &[
            "total     39029188884 solutions of n = 20",
            "unique    4878666808",
        ],
    );
    if let Some((code, out, error)) = python(&[file]) {
        assert_eq!(code, 0, "{error}");
        assert!(
            out.starts_with("n = 20: 39029188884 solutions, 4878666808 unique"),
            "{out}"
        );
    }
}

/// The lines above the root.
pub fn leaves(certificate: &str) -> Vec<String> {
    let lines = certificate.lines();
    let leaves = lines.take_while(|line| !line.starts_with("{\"root\""));
    leaves.map(str::to_owned).collect()
}

/// These lines with the right root and no signature.
pub fn sealed(lines: &[String]) -> String {
    let leaves: Vec<&str> = lines.iter().map(String::as_str).collect();
    let root: String = tree(&leaves)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}\n{{\"root\":\"{root}\"}}\n", leaves.join("\n"))
}

/// Both checkers must refuse `certificate`, each with one line, without control characters.
fn refused(dir: &Path, what: &str, certificate: &[u8], code: Option<i32>) {
    let file = dir.join("changed.cert");
    fs::write(&file, certificate).unwrap();
    let own = of(&["check", text(&file)]);
    for (exit, out, error) in std::iter::once(own).chain(python(&[text(&file)])) {
        let one_line = error.lines().count() == 1 && !error.trim_end().contains(char::is_control);
        assert!(
            exit == 1 || exit == 3,
            "{what}: exit code {exit}, {out}{error}"
        );
        assert!(
            code.is_none_or(|code| code == exit),
            "{what}: exit code {exit}, {error}"
        );
        assert!(out.is_empty() && one_line, "{what}: {out}{error}");
        assert!(error.contains("line "), "{what}: {error}");
    }
}

#[test]
fn what_is_false_is_refused_even_with_the_right_root() {
    let dir = tempfile::tempdir().unwrap();
    let lines = &leaves(&fs::read_to_string(certificate(dir.path(), 14, "colour")).unwrap());
    let counted = |index: usize| {
        lines
            .iter()
            .position(|line| line.starts_with(&format!("{{\"task\":{index},\"plan\":\"colour-1\"")))
            .unwrap()
    };
    let (third, fourth) = (counted(3), counted(4));
    let check = |what: &str, code, change: &dyn Fn(&mut Vec<String>)| {
        let mut changed = lines.clone();
        change(&mut changed);
        assert!(&changed != lines, "{what}");
        refused(dir.path(), what, sealed(&changed).as_bytes(), Some(code));
    };
    // A whole certificate with the root of these tests is good.
    let good = dir.path().join("good.cert");
    fs::write(&good, sealed(lines)).unwrap();
    assert_eq!(of(&["check", text(&good)]).0, 0);
    let broken = |what, change: &dyn Fn(&mut Vec<String>)| check(what, 1, change);
    broken("a task left out", &|lines| drop(lines.remove(third)));
    broken("the last task left out", &|lines| drop(lines.pop()));
    broken("a task doubled", &|l| l.insert(third, l[third].clone()));
    broken("tasks exchanged", &|lines| lines.swap(third, fourth));
    broken("an unknown line", &|l| l.insert(1, "{\"note\":1}".into()));
    broken("the first line twice", &|l| l.insert(1, l[0].clone()));
    broken("no first line", &|lines| drop(lines.remove(0)));
    let long = format!("\"host\":\"{}", "x".repeat(1 << 20));
    let nested = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    // The exit code, the line, what it says and what it says instead.
    for case in [
        r#"1 0 "certificate":1 => "certificate":2"#,
        r#"1 0 "n":14 => "n":15"#,
        r#"1 0 "n":14 => "n":4000000000"#,
        r#"1 0 "colour-1":8 => "colour-1":18446744073709551615"#,
        r#"1 0 "colour-1":8 => "colour-1":99999999999999999999999"#,
        r#"1 0 "colour-1":8 => "own-1":8"#,
        r#"1 0 "program":"queenfold 0.1.0","n":14 => "n":14,"program":"queenfold 0.1.0""#,
        r#"3 0 "total":"365596" => "total":"365600""#,
        r#"3 0 "unique":"45752" => "unique":"45753""#,
        r#"3 0 "unique":"45752" => "unique":null"#,
        r#"1 task "task":3, => "task":3,"task":3,"#,
        r#"1 task "task":3, => "task":3, "#,
        r#"1 task "plan": => "pl\u0061n":"#,
        r#"3 task "again":null => "again":{"tally":{"4":"1"},"origin":0}"#,
        "1 1 \"worker\":\"w => \"worker\":\"\u{1b}[2Jw",
        "1 1 \"worker\":\"w => \"worker\":\"éw",
        &format!("1 1 \"host\":\" => {long}"),
        &format!("1 1 {{ => {{\"origin\":{nested},"),
    ] {
        let (place, change) = case.split_at(case.match_indices(' ').nth(1).unwrap().0);
        let (code, line) = place.split_once(' ').unwrap();
        let (from, to) = change[1..].split_once(" => ").unwrap();
        check(case, code.parse().unwrap(), &|lines| {
            let line = &mut lines[line.parse().unwrap_or(third)];
            *line = line.replacen(from, to, 1);
        });
    }
    let changed = |change: &dyn Fn(&mut Json)| {
        let mut value: Json = serde_json::from_str(&lines[third]).unwrap();
        let old = value.clone();
        change(&mut value);
        let mut text = lines[third].clone();
        for field in ["parts", "tally", "again"] {
            let [old, new] =
                [&old, &value].map(|value| format!("{}:{}", json!(field), value[field]));
            text = text.replacen(&old, &new, 1);
        }
        move |lines: &mut Vec<String>| lines[third] = text.clone()
    };
    let first = |value: &Json| {
        value["parts"]["4"]
            .as_str()
            .unwrap()
            .split_once(' ')
            .map(|(first, rest)| (first.to_owned(), rest.to_owned()))
            .unwrap()
    };
    let task = |what: &str, code, change: &dyn Fn(&mut Json)| check(what, code, &changed(change));
    task("a partition left out", 1, &|value| {
        value["parts"]["4"] = first(value).1.into();
    });
    task("a partition twice", 1, &|value| {
        let (first, rest) = first(value);
        value["parts"]["4"] = format!("{first} {first} {rest}").into();
    });
    task("a partition of another name", 1, &|value| {
        value["parts"]["4"] = format!("1ffff {}", first(value).1).into();
    });
    task("a partition with a wrong weight", 1, &|value| {
        let (first, rest) = first(value);
        (value["parts"]["2"], value["parts"]["4"]) = (first.into(), rest.into());
        value["tally"] = json!({"2": "0", "4": value["tally"]["4"]});
    });
    task("a wrong count", 3, &|value| {
        let count: u64 = value["tally"]["4"].as_str().unwrap().parse().unwrap();
        value["tally"]["4"] = (count + 2).to_string().into();
    });
    let long = "9".repeat(10_000);
    for count in "-1 +1 01 1e3  0x10 99999999999999999999999999"
        .split(' ')
        .chain([&*long])
    {
        task(count, 1, &|value| value["tally"]["4"] = count.into());
    }
    task("a number", 1, &|value| value["tally"]["4"] = 5.into());
    task("a tally of nothing", 1, &|value| value["tally"] = json!({}));
}

#[test]
fn cut_off_and_wrongly_signed_certificates_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read(certificate(dir.path(), 12, "chain")).unwrap();
    let whole_text = String::from_utf8(whole.clone()).unwrap();
    let lines: Vec<&str> = whole_text.lines().collect();
    let (last, above) = lines.split_last().unwrap();
    let unsigned = whole.len() - last.len() - 1;
    for length in [
        0,
        1,
        100,
        whole.len() / 2,
        unsigned - 1,
        unsigned - 70,
        whole.len() - 1,
    ] {
        refused(
            dir.path(),
            &format!("cut to {length} bytes"),
            &whole[..length],
            Some(1),
        );
    }
    let rootless = above[..above.len() - 1].join("\n") + "\n";
    refused(dir.path(), "no root", rootless.as_bytes(), Some(1));
    let other_key = "ee875ef0f3e3c3ab5e4f4e3d4b8bd9a3a3d4a05f2dc5a17b7bdb2e8f3bb0a8d4";
    let key = last
        .split("\"key\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for (what, changed) in [
        (
            "another signature",
            last.replacen("\"signature\":\"", "\"signature\":\"00", 1),
        ),
        (
            "no hexadecimal digits",
            last.replacen("\"key\":\"", "\"key\":\"zz", 1),
        ),
        (
            "another host",
            last.replacen("\"host\":\"", "\"host\":\"x", 1),
        ),
        ("another key", last.replace(key, other_key)),
        (
            "a key that signs everything",
            last.replace(key, &format!("01{}", "0".repeat(62))),
        ),
        ("something after the root", lines[0].to_owned()),
    ] {
        let text = format!("{}\n{changed}\n", above.join("\n"));
        refused(dir.path(), what, text.as_bytes(), Some(1));
    }
}

#[test]
fn there_is_no_certificate_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (run, file) = (dir.path().join("run"), dir.path().join("a.cert"));
    fs::create_dir(&run).unwrap();
    drop(Store::create(&run, &info(N, Shard::WHOLE)).unwrap());
    let (code, out, error) = certify(&run, &file, &[]);
    assert_eq!((code, out.as_str()), (1, ""), "{error}");
    assert!(error.contains("no task is recorded"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_there_and_a_key_that_is_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = certificate(dir.path(), 8, "colour");
    let before = fs::read(&file).unwrap();
    let run = dir.path().join("run");
    let (code, _, error) = certify(&run, &file, &[]);
    assert_eq!(code, 2, "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let (key, other) = (dir.path().join("key"), dir.path().join("b.cert"));
    for bad in ["", "5a", "no key\n", &"5A".repeat(32), &"5a".repeat(33)] {
        write_key(&key, bad, 0o600);
        let (code, _, error) = certify(&run, &other, &["--key", text(&key)]);
        assert_eq!((code, error.lines().count()), (2, 1), "{error}");
        assert!(
            error.contains("64 hexadecimal digits") && !other.exists(),
            "{error}"
        );
    }
    for mode in [0o640, 0o604, 0o602] {
        write_key(&key, &"5a".repeat(32), mode);
        let (code, _, error) = certify(&run, &other, &["--key", text(&key)]);
        assert_eq!((code, error.lines().count()), (2, 1), "{error}");
        assert!(
            error.contains("`chmod 600` keeps it secret") && !other.exists(),
            "{error}"
        );
    }
    write_key(&key, &"5a".repeat(32), 0o600);
    let twice = ["--key", text(&key), "--key", text(&key)];
    let (code, _, error) = certify(&run, &other, &twice);
    assert_eq!((code, error.lines().count()), (2, 1), "{error}");
    assert!(error.contains("signs already"), "{error}");
    for (what, says) in [
        (dir.path(), "is a directory"),
        (&dir.path().join("none"), "cannot be read"),
        (Path::new("/dev/null"), "no regular file"),
    ] {
        let (code, _, error) = of(&["check", text(what)]);
        assert_eq!((code, error.lines().count()), (1, 1), "{error}");
        tells(&error, &[text(what), says]);
    }
    // Nowhere to write it.
    let (code, _, error) = certify(&run, Path::new("/nowhere/a.cert"), &[]);
    assert_eq!((code, error.lines().count()), (1, 1), "{error}");
    assert!(error.contains("certificate /nowhere/a.cert: "), "{error}");
    for draws in ["0", "-3", "1000001", "99999999999999999999", "few"] {
        let (code, _, error) = of(&["check", text(&file), "--challenge", "x", "--sample", draws]);
        assert_eq!((code, error.lines().count()), (2, 1), "{error}");
        assert!(error.contains("from 1 to 1000000"), "{error}");
    }
}

/// A second count stands beside the first.
#[test]
fn a_certificate_has_the_second_counts() {
    let dir = tempfile::tempdir().unwrap();
    certificate(dir.path(), 12, "chain");
    let (run, file) = (dir.path().join("run"), dir.path().join("twice.cert"));
    let (code, _, error) = of(&["verify", "--again", text(&run)]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(certify(&run, &file, &[]).0, 0);
    let (code, out, error) = of(&["check", text(&file)]);
    assert_eq!(code, 0, "{error}");
    tells(&out, &["counted   3 twice (", "kernel), 0 corrections"]);
    if let Some((code, _, error)) = python(&[text(&file)]) {
        assert_eq!(code, 0, "{error}");
    }
}

/// The same ledger gives the same certificate, and the root says nothing of who signs.
#[test]
fn a_certificate_follows_from_the_ledger_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = certificate(dir.path(), 12, "colour");
    let again = dir.path().join("b.cert");
    assert_eq!(
        of(&["certify", text(&dir.path().join("run")), "-o", text(&again)]).0,
        0
    );
    let [signed, unsigned] = [file, again].map(|file| fs::read_to_string(file).unwrap());
    let lines: Vec<&str> = signed.lines().collect();
    assert_eq!(unsigned, lines[..lines.len() - 1].join("\n") + "\n");
}

/// Sums that agree with each other, of a board whose counts are known.
#[test]
fn both_checkers_refuse_wrong_counts_that_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(certificate(dir.path(), 8, "colour")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let task = lines
        .iter()
        .find(|line| line.contains("\"plan\":\"colour-1\""))
        .unwrap();
    let tally = task.split("\"tally\":").nth(1).unwrap();
    let count = tally
        .split("\"4\":\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let more = count.parse::<u64>().unwrap() + 2;
    let changed = whole
        .replace(
            "\"total\":\"92\",\"unique\":\"12\"",
            "\"total\":\"100\",\"unique\":\"13\"",
        )
        .replace(
            &format!("\"4\":\"{count}\"}},\"origin\""),
            &format!("\"4\":\"{more}\"}},\"origin\""),
        );
    let changed = leaves(&changed);
    assert!(
        changed[0].contains("\"100\"")
            && changed
                .iter()
                .any(|line| line.contains(&format!("\"{more}\"")))
    );
    let file = dir.path().join("changed.cert");
    fs::write(&file, sealed(&changed)).unwrap();
    for (code, _, error) in
        std::iter::once(of(&["check", text(&file)])).chain(python(&[text(&file)]))
    {
        assert_eq!(code, 3, "{error}");
        assert!(error.contains("known") && error.contains("92"), "{error}");
    }
}
