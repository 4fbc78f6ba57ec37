//! Shards that come home as files, from hosts that share nothing. No scheduler is needed: a home of its own makes a host.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::array::Array;
use crate::common::program::{PROGRAM, isolated, json, of, said, stdout, tells, text, words};
use crate::ledger::shard_files::{lie_with, more};

/// The board of the arrays, and its solutions.
const N: u32 = 14;
const TOTAL: &str = "365596";

/// Their shards.
const SHARDS: u64 = 4;

/// An array whose hosts put their files by a program.
struct Put {
    array: Array,
    folder: tempfile::TempDir,
}

impl Put {
    /// The program gets the file, and copies it in these lines of a shell.
    fn make(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("bin")).unwrap();
        // Nobody waits for the next try.
        for (name, lines) in [("put", lines), ("sleep", "echo $1 >>\"$HOME/waited\"")] {
            let program = path("bin").join(name);
            fs::write(&program, format!("#!/bin/sh\n{lines}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let array = Array::given(N, SHARDS, "shell", &["--put", "put {}"]);
        Self { array, folder }
    }

    fn home(&self, host: &str) -> PathBuf {
        let home = self.folder.path().join(host);
        fs::create_dir_all(&home).unwrap();
        home
    }

    /// Runs the array task of a shard on a host. Returns its exit code.
    fn count(&self, host: &str, index: u64) -> i32 {
        let programs = Path::new(PROGRAM).parent().unwrap().display();
        let bin = self.folder.path().join("bin");
        let path = std::env::var("PATH").unwrap();
        let mut script = isolated(self.array.script("shell.sh"));
        script
            .arg(index.to_string())
            .env("HOME", self.home(host))
            .env_remove("XDG_STATE_HOME")
            .env("PATH", format!("{}:{programs}:{path}", bin.display()));
        let (code, out, error) = said(&script.output().unwrap());
        assert_eq!((&*out, &*error), ("", ""));
        code
    }

    /// The file of a shard that came home from a host.
    fn file(&self, host: &str, index: u64) -> PathBuf {
        assert_eq!(self.count(host, index), 0);
        let files = fs::read_dir(self.home(host)).unwrap();
        let mut files = files.map(|file| file.unwrap().path());
        let is_it = |file: &PathBuf| text(file).contains(&format!("-{index}-"));
        files.find(is_it).expect("a file")
    }

    /// The copy of the array that a host keeps.
    fn kept(&self, host: &str) -> PathBuf {
        let kept = fs::read_dir(self.home(host).join(".local/state/queenfold"));
        kept.unwrap().next().unwrap().unwrap().path()
    }

    fn key(&self) -> [u8; 32] {
        let digits = fs::read_to_string(self.array.path().join("array.key")).unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
        std::array::from_fn(byte)
    }

    /// Gathers these files, from nothing: exit code, stdout, stderr.
    fn gather(&self, files: &[&Path]) -> (i32, String, String) {
        let _ = fs::remove_dir_all(self.array.path().join("whole"));
        let inbox = self.home("inbox");
        fs::remove_dir_all(&inbox).unwrap();
        fs::create_dir(&inbox).unwrap();
        for file in files {
            fs::copy(file, inbox.join(file.file_name().unwrap())).unwrap();
        }
        of(&["gather", self.array.name(), text(&inbox)])
    }
}

#[test]
fn what_does_not_come_home_is_sent_again_and_counted_once() {
    // It fails as often as there are lines in `fails`.
    let fails = "if [ -s \"$HOME/fails\" ]; then sed -i 1d \"$HOME/fails\"; exit 1; fi; cp \"$1\" \"$HOME\"";
    let put = Put::make(fails);
    let home = put.home("anna");
    fs::write(home.join("fails"), "1\n2\n3\n").unwrap();
    put.file("anna", 0);
    let waited = || fs::read_to_string(home.join("waited")).unwrap();
    assert_eq!(waited(), "1\n10\n60\n");
    fs::write(home.join("fails"), "1\n".repeat(4)).unwrap();
    assert_eq!(put.count("anna", 1), 4);
    let kept = put.kept("anna");
    let log = fs::read_to_string(kept.join("logs/1.log")).unwrap();
    tells(&log, &["shard 1 did not come home: submit it again"]);
    let sessions = || json(&["status", text(&kept.join("shards/1")), "--json"])["sessions"].clone();
    let before = sessions();
    let one = put.file("anna", 1);
    assert_eq!(sessions(), before);
    // From stdin, too, and the others from a folder.
    let command = format!("{PROGRAM} gather {} - <{}", put.array.name(), text(&one));
    let output = isolated("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    for index in [2, 3] {
        put.file("anna", index);
    }
    let out = stdout(&["gather", put.array.name(), text(&home)]);
    tells(&out, &[TOTAL]);
    // Nobody else on a host reads the key.
    let key = kept.join("array.key").metadata().unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn hostile_files_are_left_out_and_named() {
    let put = Put::make("cp \"$1\" \"$HOME\"");
    let honest: Vec<_> = (0..SHARDS).map(|index| put.file("anna", index)).collect();
    let honest: Vec<_> = honest.iter().map(PathBuf::as_path).collect();
    let own = fs::read_to_string(honest[0]).unwrap();
    let other = Put::make("cp \"$1\" \"$HOME\"");
    let key = text(&put.array.path().join("array.key")).to_owned();
    let certified = |name: &str, board: &str| {
        let run = put.home("hostile").join(name);
        stdout(&[&words!(board)[..], &["--dir", text(&run)]].concat());
        let file = run.with_extension("cert");
        stdout(&["certify", text(&run), "-o", text(&file), "--key", &key]);
        file
    };
    let written = |name: &str, what: &str| {
        let file = put.home("hostile").join(name).with_extension("cert");
        fs::write(&file, what).unwrap();
        file
    };
    let lied = |name: &str, key: &[u8; 32], change: &dyn Fn(String) -> String| {
        let file = written(name, &own);
        lie_with(&file, key, change);
        file
    };
    let second = |above: String| {
        let shard = &above[above.find("\"shard\":\"").unwrap()..];
        let shard = &shard[..shard.find(" by").unwrap()];
        above.replacen(shard, "\"shard\":\"63/64", 1)
    };
    let correction = |above: String| {
        let line = r#"{"correction":0,"task":0,"plan":"chain-1","counts":[],"decision":null,"method":null}"#;
        above.replacen("\"corrections\":0", "\"corrections\":1", 1) + line + "\n"
    };
    let hostile = [
        (
            lied("correction", &put.key(), &correction),
            "a correction must follow its task",
        ),
        (
            lied("forged", &[7; 32], &|above| more("8")(above)),
            "not by the key of this array",
        ),
        (lied("other-tasks", &put.key(), &second), "must come here"),
        (
            certified("other-board", "run -n 13 --engine chain --shard 0/2"),
            "n = 13",
        ),
        (
            certified("other-plan", "run -n 14 --engine colour --shard 0/2"),
            "by colour",
        ),
        (
            certified("whole", "run -n 14 --engine chain"),
            "of a whole run",
        ),
        (written("cut", &own[..own.len() / 2]), "line "),
        (
            written(
                "edited",
                &own.replacen("\"tally\":{\"", "\"tally\":{\"9", 1),
            ),
            "line ",
        ),
        (other.file("bert", 0), "not by the key of this array"),
        (written("garbage", "\u{7}\u{0}\nnothing\n"), "line 1"),
        (written("empty", ""), "line 1"),
    ];
    let all: Vec<_> = hostile.iter().map(|(file, _)| file.as_path()).collect();
    for (honest, code) in [(&honest[1..], 4), (&honest[..], 0)] {
        let (found, out, error) = put.gather(&[&all, honest].concat());
        assert_eq!(found, code, "{error}");
        assert_eq!(out.contains(TOTAL), code == 0, "{out}");
        let left_out = error.lines().filter(|line| line.starts_with("left out: "));
        assert_eq!(left_out.count(), hostile.len(), "{error}");
        for (file, why) in &hostile {
            let name = text(file).rsplit('/').next().unwrap();
            let line = error.lines().find(|line| line.contains(name));
            tells(line.expect(name), &["left out: ", why]);
        }
    }
}

#[test]
fn a_host_that_contradicts_another_gives_no_total() {
    let put = Put::make("cp \"$1\" \"$HOME\"");
    let honest: Vec<_> = (0..SHARDS).map(|index| put.file("anna", index)).collect();
    let honest: Vec<_> = honest.iter().map(PathBuf::as_path).collect();
    // Another session, and the same.
    for (host, from) in [
        ("bert", put.file("bert", 1)),
        ("cleo", honest[1].to_owned()),
    ] {
        let wrong = put.home(host).join("wrong.cert");
        fs::copy(&from, &wrong).unwrap();
        lie_with(&wrong, &put.key(), more("8"));
        let (code, out, error) = put.gather(&[&honest[..], &[&wrong]].concat());
        assert_eq!((code, &*out), (3, ""), "{error}");
        let name = text(honest[1]).rsplit('/').next().unwrap();
        tells(&error, &["wrong.cert", name, "check FILE --challenge"]);
        // What is said helps.
        let (code, _, error) = of(&["check", text(&wrong), "--challenge", "x", "--sample", "100"]);
        assert_eq!(code, 3, "{error}");
        let (code, out, error) = put.gather(&honest);
        assert_eq!(code, 0, "{error}");
        tells(&out, &[TOTAL]);
    }
}
