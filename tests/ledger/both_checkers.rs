//! Both checkers of certificates, this program and the one in Python, accept and refuse the same: one form only.
//!
//! Each value, field and line of some certificates is changed in every way of a list, as it is and with the Merkle
//! root computed again. The order of the partitions in a task is left out: the Python checker knows none
//! (docs/TRUST.md).

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::process::{Command, Stdio};

use queenfold::certificate::check;

use super::certificates::{certificate, certificate_of, leaves, python, sealed};
use super::second::{again, run, wrong};
use super::*;
use crate::common::program::{of, text};

/// Reads the names of files, and tells of each whether the checker accepts it.
const EACH: &str = "\
import contextlib, io, sys
sys.path.insert(0, sys.argv[1])
from check_certificate import check
for path in sys.stdin.read().split('\\n'):
    try:
        with contextlib.redirect_stdout(io.StringIO()): check(path, [0])
        print('accepted')
    except Exception as error: print('refused', repr(error)[:200])
";

/// A value or a field in the text of a line.
struct Token {
    /// The field, from its name to the end of its value; only of fields.
    field: Option<Range<usize>>,
    value: Range<usize>,
}

/// The fields and values of a line of canonical JSON: objects, lists and what is in them.
fn tokens(line: &str) -> Vec<Token> {
    let (mut found, mut at) = (Vec::new(), 0);
    value(line.as_bytes(), &mut at, None, &mut found);
    assert_eq!(at, line.len(), "{line}");
    found
}

fn value(line: &[u8], at: &mut usize, field: Option<usize>, found: &mut Vec<Token>) {
    let begin = *at;
    match line[begin] {
        open @ (b'{' | b'[') => {
            *at += 1;
            while !matches!(line[*at], b'}' | b']') {
                *at += usize::from(line[*at] == b',');
                let name = (open == b'{').then_some(*at);
                if name.is_some() {
                    end_of_string(line, at);
                    *at += 1;
                }
                value(line, at, name, found);
            }
            *at += 1;
        }
        b'"' => end_of_string(line, at),
        _ => {
            while !matches!(line[*at], b',' | b'}' | b']') {
                *at += 1;
            }
        }
    }
    found.push(Token {
        field: field.map(|name| name..*at),
        value: begin..*at,
    });
}

/// Moves behind the string that begins at `at`.
fn end_of_string(line: &[u8], at: &mut usize) {
    *at += 1;
    while line[*at] != b'"' {
        *at += 1 + usize::from(line[*at] == b'\\');
    }
    *at += 1;
}

/// What may stand in the place of a value.
fn other_values(value: &str) -> Vec<String> {
    let bare = value.trim_matches('"');
    let listed = r#"-3 0 1 1.0 18446744073709551616 1208925819614629174706176 null true "" "1" [] {} NaN
        "\u001b[2J" "\ud800" "\u0041" "é""#;
    let mut others: Vec<_> = listed.split_whitespace().map(str::to_owned).collect();
    others.push("\"\u{1b}\"".to_owned());
    others.extend([
        format!("[{value}]"),
        format!("{value} "),
        format!("0{value}"),
        format!("{value}.0"),
    ]);
    others.push(if value == bare {
        format!("\"{bare}\"")
    } else {
        bare.to_owned()
    });
    if value != bare {
        others.extend(
            [
                bare.to_uppercase(),
                format!(" {bare}"),
                format!("{bare} "),
                format!("0{bare}"),
                format!("+{bare}"),
                format!("-{bare}"),
                format!("{bare}0"),
                format!("{bare}\\n"),
                bare.chars().skip(1).collect(),
                "9".repeat(40),
            ]
            .map(|text| format!("\"{text}\"")),
        );
    }
    if let Ok(number) = bare.parse::<i128>() {
        let quote = if value == bare { "" } else { "\"" };
        others.extend(
            [number + 1, number - 1, -number].map(|number| format!("{quote}{number}{quote}")),
        );
    }
    others.retain(|other| other != value);
    others
}

/// What may stand in the place of a line.
fn other_lines(line: &str) -> Vec<String> {
    let mut others = vec![
        line.replace(',', ", "),
        format!("{line} "),
        format!("{line}\r"),
        format!("\u{feff}{line}"),
        line[..line.len() - 1].to_owned(),
        "{}".to_owned(),
        String::new(),
    ];
    for Token { field, value } in tokens(line) {
        let with = |span: &Range<usize>, new: &str| {
            format!("{}{new}{}", &line[..span.start], &line[span.end..])
        };
        let own = &line[value.clone()];
        let is_container = own.starts_with(['{', '[']);
        if !is_container || field.is_some() {
            others.extend(other_values(own).iter().map(|new| with(&value, new)));
        }
        let Some(field) = field else { continue };
        let text = &line[field.clone()];
        let (name, _) = text.split_once(':').unwrap();
        let bare = name.trim_matches('"');
        others.extend([
            with(&field, &format!("{text},{text}")),
            with(&field, &format!("{text},\"zz\":1")),
            with(&field, &format!("\"a\":\"1\",{text}")),
            with(&field, &text.replacen(bare, &bare.to_uppercase(), 1)),
            with(&field, &text.replacen(bare, &format!("{bare} "), 1)),
        ]);
        // Left out, and in the place of the field behind it.
        if line[field.end..].starts_with(',') {
            others.push(with(&(field.start..field.end + 1), ""));
            let rest = tokens(line).into_iter().filter_map(|token| token.field);
            if let Some(next) = rest
                .filter(|next| next.start == field.end + 1)
                .min_by_key(|next| next.end)
            {
                let swapped = format!("{},{text}", &line[next.clone()]);
                others.push(with(&(field.start..next.end), &swapped));
            }
        } else if line[..field.start].ends_with(',') {
            others.push(with(&(field.start - 1..field.end), ""));
        }
    }
    others.retain(|other| other != line);
    others
}

/// The certificate with each change of a line that `is_meant`, as text, and whether it has the root of what it says.
fn changed(whole: &str, is_meant: impl Fn(&str) -> bool) -> Vec<(String, bool)> {
    let lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let root = lines
        .iter()
        .position(|line| line.starts_with("{\"root\""))
        .unwrap();
    let mut all = Vec::new();
    let mut add = |changed: Vec<String>, at: usize| {
        all.push((changed.join("\n") + "\n", at >= root));
        if at < root {
            all.push((sealed(&leaves(&changed.join("\n"))), true));
        }
    };
    for at in (0..lines.len()).filter(|&at| is_meant(&lines[at])) {
        for other in other_lines(&lines[at]) {
            let mut changed = lines.clone();
            changed[at] = other;
            // A line that begins like a root ends what is hashed.
            if at >= root || !changed[at].starts_with("{\"root\"") {
                add(changed, at);
            }
        }
        let (mut twice, mut swapped) = (lines.clone(), lines.clone());
        twice.insert(at, lines[at].clone());
        add(twice, at);
        if at + 1 < root {
            swapped.swap(at, at + 1);
            add(swapped, at);
        }
        let mut without = lines.clone();
        without.remove(at);
        if at != root {
            add(without, at);
        }
    }
    all
}

/// Has both checkers check each text. Returns how many they accept: none that has another root than that of what it says.
fn agree(dir: &Path, what: &str, texts: &[(String, bool)]) -> Option<usize> {
    let folder = dir.join("changed");
    fs::create_dir_all(&folder).unwrap();
    let mut names = Vec::new();
    for (number, (text, _)) in texts.iter().enumerate() {
        let file = folder.join(number.to_string());
        fs::write(&file, text).unwrap();
        names.push(file.to_str().unwrap().to_owned());
    }
    python(&["--help"])?;
    let mut checker = Command::new("python3")
        .args(["-c", EACH, concat!(env!("CARGO_MANIFEST_DIR"), "/docs")])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    checker
        .stdin
        .take()
        .unwrap()
        .write_all(names.join("\n").as_bytes())
        .unwrap();
    let said = checker.wait_with_output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let verdicts: Vec<&str> = said.lines().collect();
    assert_eq!(verdicts.len(), texts.len(), "{what}");
    let mut accepted = 0;
    let mut differ = Vec::new();
    for ((text, has_root), other) in texts.iter().zip(verdicts) {
        let own = check(text.as_bytes()).map_err(|error| error.to_string());
        accepted += usize::from(own.is_ok());
        assert!(*has_root || own.is_err(), "{what}: accepted:\n{text}");
        if own.is_ok() != (other == "accepted") {
            differ.push(format!(
                "{:?}, Python: {other}, of\n{text}",
                own.map(|_| "accepted")
            ));
        }
    }
    assert!(
        differ.is_empty(),
        "{what}: {} of {} differ\n{}",
        differ.len(),
        texts.len(),
        differ[..differ.len().min(5)].join("\n")
    );
    Some(accepted)
}

#[test]
fn both_checkers_have_the_same_verdict_on_a_tenth_of_the_changes() {
    same_verdict(10);
}

#[test]
#[ignore = "long: see CONTRIBUTING.md"]
fn both_checkers_have_the_same_verdict_on_every_change() {
    same_verdict(1);
}

/// Draws one change of so many, by `TEST_SEED`.
fn same_verdict(one_of: u64) {
    let seed = std::env::var("TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut random = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let mut certificates = Vec::new();
    for (what, n, engine, given) in [
        ("colour", 7, "colour", &[][..]),
        ("no-census", 6, "chain", &["--no-unique"]),
        (
            "given",
            6,
            "colour",
            &["--holes", "a1,b3", "--queens", "d5"],
        ),
        ("given-chain", 7, "chain", &["--holes", "a1,g7"]),
    ] {
        let folder = path(what);
        fs::create_dir(&folder).unwrap();
        let file = certificate_of(&folder, n, engine, given);
        certificates.push((what, fs::read_to_string(file).unwrap()));
    }
    run(&path("corrected"));
    wrong(3, &path("corrected"), 1);
    assert_eq!(again(&path("corrected"), &[]).0, 0);
    let file = path("corrected.cert");
    assert_eq!(
        of(&["certify", text(&path("corrected")), "-o", text(&file)]).0,
        0
    );
    certificates.push(("corrected", fs::read_to_string(file).unwrap()));
    for (number, (what, whole)) in certificates.iter().enumerate() {
        // The first has every change. Of the others, which are there for what it lacks, some will do.
        let one_of = if number == 0 { one_of } else { 5 * one_of };
        let is_new = |line: &str| *what != "corrected" || line.starts_with("{\"correction\"");
        let mut texts = changed(whole, is_new);
        texts.retain(|_| random.u64(..one_of) == 0);
        texts.push((whole.clone(), true));
        let Some(accepted) = agree(dir.path(), what, &texts) else {
            return;
        };
        // Names of workers and programs are claims, so some changes are accepted.
        println!("{what}: {accepted} of {} accepted", texts.len());
        assert!(
            accepted > 0 && accepted < texts.len() / 3,
            "{what}: {accepted} of {}",
            texts.len()
        );
    }
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
