//! Shards that travel as signed files, from owners who lie and from those who do not.

use std::fs;
use std::path::PathBuf;

use ed25519_dalek::{Signer, SigningKey};
use queenfold_ledger::ledger::Confirmation;

use super::certificates::{python, sealed};
use super::*;
use crate::common::program::{of, tasks_done, tells, text};

/// The board of the files: three tasks of the chain's plans in two shards, and one more of the other shard.
const FLAGS: [&str; 7] = ["run", "-n", "12", "--engine", "chain", "--workers", "1"];

/// A folder of the owners' files. Each owner has one key.
struct Owners(tempfile::TempDir);

fn secret(owner: &str) -> [u8; 32] {
    [owner.as_bytes()[0]; 32]
}

fn public(key: &SigningKey) -> String {
    let key = key.verifying_key();
    key.as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn key_of(owner: &str) -> String {
    public(&SigningKey::from_bytes(&secret(owner)))
}

impl Owners {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The file of an owner who counts a shard, and signs it.
    fn file(&self, owner: &str, shard: &str) -> PathBuf {
        self.file_of(owner, shard, &[])
    }

    /// The same of a board on which something is given.
    fn file_of(&self, owner: &str, shard: &str, given: &[&str]) -> PathBuf {
        let name = format!("{owner}-{}", shard.replace('/', "-"));
        let run = self.path(&name);
        let args = ["--shard", shard, "--dir", text(&run)];
        assert_eq!(of(&[&FLAGS[..], given, &args].concat()).0, 0);
        self.certified(owner, &run)
    }

    /// What an owner signs of a run.
    fn certified(&self, owner: &str, run: &Path) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let (key, file) = (self.path("key"), run.with_extension("cert"));
        let digits = secret(owner).map(|byte| format!("{byte:02x}"));
        fs::write(&key, digits.concat()).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        let args = ["-o", text(&file), "--key", text(&key)];
        let (code, _, error) = of(&[&["certify", text(run)][..], &args].concat());
        assert_eq!(code, 0, "{error}");
        file
    }

    fn merge(&self, files: &[&Path], into: &str) -> (i32, String, String) {
        let mut args = vec!["gather"];
        args.extend(files.iter().map(|file| text(file)));
        let into = self.path(into);
        args.extend(["--into", text(&into)]);
        of(&args)
    }

    fn counted(&self, run: &str) -> Confirmation {
        let sums = Store::open_to_read(&self.path(run)).unwrap().sums();
        sums.unwrap().who.confirmation
    }
}

fn lie(file: &Path, owner: &str, change: impl FnOnce(String) -> String) {
    lie_with(file, &secret(owner), change);
}

/// What is in the file, changed by a liar who signs it again with this key: root and signature are right.
pub fn lie_with(file: &Path, secret: &[u8; 32], change: impl FnOnce(String) -> String) {
    let whole = fs::read_to_string(file).unwrap();
    let above = change(whole.split("{\"root\"").next().unwrap().to_owned());
    let lines: Vec<String> = above.lines().map(str::to_owned).collect();
    let sealed = sealed(&lines);
    let root = &sealed[sealed.len() - 67..sealed.len() - 3];
    let message = format!("queenfold certificate 1\n{root}\nliar\n");
    let key = SigningKey::from_bytes(secret);
    let signature = key.sign(message.as_bytes());
    let signature: String = signature
        .to_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let key = public(&key);
    let line = format!("{{\"host\":\"liar\",\"key\":\"{key}\",\"signature\":\"{signature}\"}}\n");
    fs::write(file, sealed + &line).unwrap();
}

/// One solution more in the first task whose tally has this key: a weight, or a turn.
pub fn more(key: &'static str) -> impl FnOnce(String) -> String {
    move |above| {
        let key = format!("\"{key}\":\"");
        let tallies = above.match_indices("\"tally\":{").map(|(at, _)| at);
        let mut counts = tallies.filter_map(|at| {
            let tally = &above[at..at + above[at..].find('}')?];
            Some(at + tally.find(&key)? + key.len())
        });
        let (before, rest) = above.split_at(counts.next().unwrap());
        let (count, after) = rest.split_once('"').unwrap();
        let count = count.parse::<u64>().unwrap() + 1;
        format!("{before}{count}\"{after}")
    }
}

#[test]
fn files_of_shards_are_merged_as_directories_are() {
    let owners = Owners::new();
    let [zero, one] = ["0/2", "1/2"].map(|shard| owners.file("a", shard));
    let (code, out, error) = of(&["check", text(&zero), "--challenge", "x", "--sample", "9"]);
    assert_eq!(code, 0, "{error}");
    for says in [
        "part      shard 0/2 of n = 12, 2 of 2 tasks",
        "total     none: this proves nothing about it",
        &key_of("a"),
    ] {
        assert!(out.contains(says), "{out}");
    }
    if let Some((code, out, error)) = python(&[text(&zero)]) {
        assert_eq!((code, out.as_str()), (1, ""), "{error}");
        assert!(error.contains("a shard has no total"), "{error}");
    }
    // Without a shard there is no total, and the rest is counted as after any merge.
    let (code, out, error) = owners.merge(&[&zero], "part");
    assert_eq!((code, out.as_str()), (4, ""), "{error}");
    let part = owners.path("part");
    let unfinished = owners.certified("b", &part);
    let (code, out, error) = of(&["check", text(&unfinished)]);
    assert_eq!(code, 0, "{error}");
    let says = "a run that is not finished of n = 12, 2 of 3 tasks";
    assert!(out.contains(says), "{out}");
    let (code, out, error) = of(&["resume", text(&part)]);
    assert!(code == 0 && out.contains("14200"), "{out}{error}");
    let (code, out, error) = owners.merge(&[&zero, &one, &zero], "whole");
    assert!(code == 0 && out.contains("14200"), "{out}{error}");
    assert_eq!(owners.counted("whole").twice, 0);
    let (code, _, error) = of(&["verify", text(&owners.path("whole")), "--sample", "1"]);
    assert_eq!(code, 0, "{error}");
    // What was merged is taken out again.
    let args = ["--take-out", text(&one), "--into"];
    let (code, out, error) = of(&[&["gather"], &args[..], &[text(&owners.path("whole"))]].concat());
    assert!(
        code == 0 && out.contains("1 task of 1 session"),
        "{out}{error}"
    );
}

#[test]
fn a_shard_certifies_its_own_tasks_alone() {
    let owners = Owners::new();
    let [third, other] = ["0/3", "1/3"].map(|shard| {
        let run = owners.path(&shard.replace('/', "-"));
        let args = ["--shard", shard, "--dir", text(&run)];
        let board = ["run", "-n", "14", "--engine", "chain"];
        assert_eq!(of(&[&board[..], &args].concat()).0, 0);
        run
    });
    let own = tasks_done(&third);
    let (code, _, error) = of(&["gather", text(&other), "--into", text(&third)]);
    assert_eq!(code, 4, "{error}");
    let (_, out, error) = of(&["check", text(&owners.certified("a", &third))]);
    let says = format!("n = 14, {own} of {own} tasks\n");
    assert!(out.contains(&says), "{out}{error}");
}

#[test]
fn a_file_that_is_no_shard_of_one_owner_is_refused() {
    let owners = Owners::new();
    let zero = owners.file("a", "0/2");
    let whole = owners.path("whole");
    assert_eq!(of(&[&FLAGS[..], &["--dir", text(&whole)]].concat()).0, 0);
    let whole = owners.certified("a", &whole);
    let good = fs::read_to_string(&zero).unwrap();
    let (above, signature) = good.trim_end().rsplit_once('\n').unwrap();
    let other = owners.path("other.cert");
    let refused = |content: &str, says: &str| {
        fs::write(&other, content).unwrap();
        let (code, out, error) = owners.merge(&[&zero, &other], "into");
        assert_eq!((code, out.as_str()), (1, ""), "{says}: {error}");
        let names = error.contains("other.cert");
        assert!(
            names && error.contains(says) && error.lines().count() == 1,
            "{error}"
        );
        assert!(!owners.path("into").exists());
    };
    refused(&fs::read_to_string(&whole).unwrap(), "of a whole run");
    refused(&format!("{above}\n"), "0 signatures");
    refused(&format!("{good}{signature}\n"), "2 signatures");
    refused("nothing\n", "line 1: ");
    for (from, to, says) in [
        ("\"recorded\":2", "\"recorded\":3", "there are 2 tasks"),
        ("\"0/2 by", "\"1/2 by", "a task of shard 1/2 must come here"),
        ("\"0/2 by", "\"2/2 by", "is not a shard"),
        (
            "\"total\":null",
            "\"total\":\"14200\"",
            "add up to total none",
        ),
        ("\"partitions\":\"29\",", "", "keys of the partitions"),
        ("\"worker-0\"", "\"nobody\"", "nothing counts there"),
        (
            "\"session\":\"",
            "\"session\":\"shard ",
            "hexadecimal digits",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&other, &good).unwrap();
        lie(&other, "b", |above| above.replacen(from, to, 1));
        let changed = fs::read_to_string(&other).unwrap();
        // Counts that contradict each other have another exit code.
        match from {
            "\"total\":null" => {
                let (code, _, error) = owners.merge(&[&other], "into");
                assert!(code == 3 && error.contains(says), "{error}");
            }
            _ => refused(&changed, says),
        }
    }
}

#[test]
fn a_liar_beside_an_honest_owner_is_named() {
    let owners = Owners::new();
    let [honest, liar] = ["a", "b"].map(|owner| owners.file(owner, "0/2"));
    lie(&liar, "b", more("r180"));
    assert_eq!(of(&["check", text(&liar)]).0, 0);
    for files in [[&*honest, &*liar], [&*liar, &*honest]] {
        let (code, out, error) = owners.merge(&files, "into");
        assert_eq!((code, out.as_str()), (3, ""), "{error}");
        let [one, other] = ["a", "b"].map(key_of);
        for says in [
            "task census-1:0",
            "half turn 80",
            "half turn 81",
            &one,
            &other,
        ] {
            assert!(error.contains(says), "{error}");
        }
        assert!(error.contains(text(&honest)) && error.contains(text(&liar)));
        assert!(!owners.path("into").exists());
    }
}

#[test]
fn a_liar_in_the_name_of_an_honest_session_is_named() {
    let owners = Owners::new();
    let honest = owners.file("a", "0/2");
    let (directory, liar) = (owners.path("a-0-2"), owners.path("eve.cert"));
    fs::copy(&honest, &liar).unwrap();
    lie(&liar, "e", more("r180"));
    for (files, signs) in [
        ([&*honest, &*liar], true),
        ([&*liar, &*honest], true),
        ([&*directory, &*liar], false),
        ([&*liar, &*directory], false),
    ] {
        let (code, _, error) = owners.merge(&files, "into");
        assert_eq!(code, 3, "{error}");
        let of = |count: &str| {
            let mut counts = error.split(", and as ");
            counts.find(|said| said.contains(count)).unwrap()
        };
        let place = if signs { &honest } else { &directory };
        tells(
            of("half turn 81"),
            &[&format!(", {}, signed by {})", liar.display(), key_of("e"))],
        );
        tells(of("half turn 80"), &[&format!(", {}", place.display())]);
        assert_eq!(of("half turn 80").contains(&key_of("a")), signs, "{error}");
    }
}

#[test]
fn a_certificate_tells_less_of_a_session_than_its_directory() {
    let owners = Owners::new();
    let files = ["0/2", "1/2"].map(|shard| owners.file("a", shard));
    let [zero, one] = ["a-0-2", "a-1-2"].map(|run| owners.path(run));
    let kept = owners.path("kept");
    assert_eq!(owners.merge(&[&files[1]], "kept").0, 4);
    for (number, from) in [[&zero, &one, &kept], [&kept, &one, &zero]]
        .iter()
        .enumerate()
    {
        let into = format!("all{number}");
        let (code, _, error) = owners.merge(&from.map(|path| &**path), &into);
        assert_eq!((code, owners.counted(&into).twice), (0, 0), "{error}");
    }
    // Of another host, it is another session.
    let host = format!("\"host\":\"{}\"", queenfold_ledger::ledger::host_name());
    lie(&files[1], "a", |above| {
        above.replace(&host, "\"host\":\"x\"")
    });
    assert_eq!(owners.merge(&[&files[1]], "other").0, 4);
    let other = owners.path("other");
    let (code, _, error) = owners.merge(&[&one, &other], "none");
    assert_eq!(code, 1, "{error}");
    let forged = "one of the two is forged";
    tells(&error, &[text(&one), text(&other), forged]);
}

#[test]
fn no_time_is_known_of_what_certificates_tell() {
    let owners = Owners::new();
    let files = ["0/2", "1/2"].map(|shard| owners.file("a", shard));
    let (_, out, _) = owners.merge(&[&files[0], &files[1]], "whole");
    assert!(out.ends_with(" -\n"), "{out}");
    let whole = owners.path("whole");
    let (_, out, _) = of(&["status", text(&whole)]);
    assert!(!out.contains("tasks/s") && !out.contains("node/s"), "{out}");
    let args = ["gather", text(&files[0]), "--into", text(&whole), "--json"];
    for (args, key) in [
        (&args[..], "seconds"),
        (&["report", text(&whole), "--json"], "wall_seconds"),
    ] {
        let (code, out, error) = of(args);
        assert_eq!(code, 0, "{error}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(json[key].is_null(), "{out}");
    }
}

#[test]
fn two_liars_who_agree_are_found_by_a_challenge() {
    let owners = Owners::new();
    let files = ["a", "b"].map(|owner| {
        let file = owners.file(owner, "0/2");
        lie(&file, owner, more("8"));
        file
    });
    // Nothing is known of a shard alone: both say the same, and it is a claim.
    let (code, _, error) = owners.merge(&[&files[0], &files[1]], "into");
    assert_eq!(code, 4, "{error}");
    let counted = owners.counted("into");
    assert_eq!((counted.twice, counted.claimed), (2, 2));
    assert_eq!(counted.by_two_keys, 2);
    let (_, out, _) = of(&["status", text(&owners.path("into"))]);
    let says = "2 of them by two owners, whose keys signed";
    assert!(out.contains(says), "{out}");
    // A count here finds it, in the file and in the merged directory.
    let (code, out, error) = of(&[
        "check",
        text(&files[1]),
        "--challenge",
        "x",
        "--sample",
        "30",
    ]);
    assert_eq!(code, 3, "{out}{error}");
    for says in [text(&files[1]), "task chain-1:", &key_of("b")] {
        assert!(error.contains(says), "{error}");
    }
    let (code, _, error) = of(&["verify", text(&owners.path("into")), "--sample", "1"]);
    assert!(code == 3 && error.contains("task chain-1:"), "{error}");
    let from = format!("a certificate that the key {} signed", key_of("a"));
    tells(&error, &[&from, "`queenfold gather --take-out "]);
}

#[test]
fn one_liar_alone_gives_no_total() {
    let owners = Owners::new();
    let [zero, one] = ["0/2", "1/2"].map(|shard| owners.file("a", shard));
    lie(&zero, "a", more("8"));
    let (code, out, error) = owners.merge(&[&zero, &one], "into");
    assert_eq!((code, out.as_str()), (3, ""), "{error}");
    assert!(error.contains("known") && !owners.path("into").exists());
    // Of a given board no count is known, and the identities still hold.
    let given = ["--holes", "a1,l1,a12,l12"];
    let [zero, one] = ["0/2", "1/2"].map(|shard| owners.file_of("c", shard, &given));
    lie(&zero, "c", more("r180"));
    let (code, out, error) = owners.merge(&[&zero, &one], "into");
    assert_eq!((code, out.as_str()), (3, ""), "{error}");
    assert!(!owners.path("into").exists());
}

#[test]
fn two_files_of_one_key_are_one_count() {
    let owners = Owners::new();
    let first = owners.file("a", "0/2");
    let kept = owners.path("kept.cert");
    fs::rename(&first, &kept).unwrap();
    fs::remove_dir_all(owners.path("a-0-2")).unwrap();
    let again = owners.file("a", "0/2");
    let (code, _, error) = owners.merge(&[&kept, &again], "into");
    assert_eq!(code, 4, "{error}");
    assert!(error.contains("2 there already"), "{error}");
    assert_eq!(owners.counted("into").twice, 0);
    // Another owner's count is one.
    let other = owners.file("b", "0/2");
    let (code, _, error) = owners.merge(&[&other], "into");
    assert_eq!(code, 4, "{error}");
    assert_eq!(owners.counted("into").by_two_keys, 2);
    // The directory of a file is what the file tells.
    let (code, _, error) = owners.merge(&[&owners.path("a-0-2"), &again], "both");
    assert_eq!(code, 4, "{error}");
    assert_eq!(owners.counted("both").twice, 0);
}
