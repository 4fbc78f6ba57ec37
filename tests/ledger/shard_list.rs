//! People who do not know each other count one board by the list of shards that docs/shards.py keeps in a repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::shard_files::{lie_with, more};
use crate::common::program::{PROGRAM, isolated, said, tells};
use crate::common::skip::skipped;

const PEOPLE: [&str; 3] = ["anna", "bert", "cleo"];

/// A folder that has the repository and, for each person, a folder with a key and a clone.
struct People(tempfile::TempDir);

impl People {
    /// Begins the list. `None` if a program is missing.
    fn meet() -> Option<Self> {
        for needed in ["python3", "git"] {
            if Command::new(needed).arg("--version").output().is_err() {
                skipped(&format!("the list of shards needs {needed}"));
                return None;
            }
        }
        let people = Self(tempfile::tempdir().unwrap());
        assert_eq!(people.bash("", "git init -q --bare list.git").0, 0);
        for person in PEOPLE {
            fs::create_dir(people.path(person)).unwrap();
            let key = people.path(person).join("my.key");
            fs::write(
                &key,
                secret(person).map(|byte| format!("{byte:02x}")).concat(),
            )
            .unwrap();
            fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
            let signed = "git clone -q ../list.git list && queenfold run -n 6 --dir six && \
                          queenfold certify six -o six.cert --key my.key";
            people.does(person, signed);
        }
        people.does(
            "anna",
            "queenfold run -n 14 --shard 0/4 --dir any && queenfold certify any -o any.cert",
        );
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/shards.py");
        fs::copy(script, people.path("anna/list/shards.py")).unwrap();
        let begin = "cd list && python3 shards.py begin ../any.cert && git add . && git commit -qm begin && git push -q";
        people.does("anna", begin);
        for person in PEOPLE {
            people.list(person, &format!("join {person} ../six.cert"));
        }
        Some(people)
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// The function `list` of the page, in front of a script in this folder.
    fn bash(&self, folder: &str, script: &str) -> (i32, String, String) {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/LONG_RUNS.md");
        let page = fs::read_to_string(page).unwrap();
        let (_, from) = page.split_once("```sh\nlist() {").unwrap();
        let list = from.split("```").next().unwrap();
        let bin = Path::new(PROGRAM).parent().unwrap().display();
        let mut bash = isolated("bash");
        bash.args(["-c", &format!("list() {{{list}\n{script}")])
            .current_dir(self.path(folder))
            .env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        for who in ["AUTHOR", "COMMITTER"] {
            bash.env(format!("GIT_{who}_NAME"), folder)
                .env(format!("GIT_{who}_EMAIL"), "nobody@localhost");
        }
        said(&bash.output().unwrap())
    }

    /// A script of a person that succeeds.
    fn does(&self, person: &str, script: &str) -> String {
        let (code, out, error) = self.bash(person, script);
        assert_eq!(code, 0, "{person}: {script}\n{out}{error}");
        out
    }

    fn list(&self, person: &str, step: &str) -> String {
        self.does(person, &format!("cd list && list {step}"))
    }

    fn is_refused(&self, person: &str, step: &str, says: &[&str]) {
        let (code, out, error) = self.bash(person, &format!("cd list && list {step}"));
        assert_eq!((code, out.as_str()), (1, ""), "{step}: {error}");
        tells(&error, says);
        assert_eq!(self.does(person, "cd list && git status --porcelain"), "");
    }

    /// Takes a shard, and counts it: its number.
    fn takes(&self, person: &str) -> String {
        let command = self.list(person, &format!("take {person}"));
        self.does(person, &command);
        let (_, number) = command.trim().rsplit_once(" --dir s").unwrap();
        self.does(
            person,
            &format!("queenfold certify s{number} -o s{number}.cert --key my.key"),
        );
        number.to_owned()
    }

    fn gives(&self, person: &str, number: &str) {
        self.list(person, &format!("give {person} {number} ../s{number}.cert"));
    }
}

fn secret(person: &str) -> [u8; 32] {
    [person.as_bytes()[0]; 32]
}

#[test]
fn three_people_count_all_shards_twice() {
    let Some(people) = People::meet() else { return };
    let (code, out, _) = people.bash("cleo", "cd list && git pull -q && python3 shards.py check");
    assert_eq!(
        (code, out.as_str()),
        (4, "0 of 8 counts are here, 8 nobody took; missing: none\n")
    );
    people.is_refused(
        "anna",
        "join dora ../six.cert",
        &["two people have one key"],
    );

    // Bert takes the shard that Anna took, before she could tell.
    let hook = people.path("anna/list/.git/hooks/pre-push");
    let bert = "#!/bin/sh\nrm \"$0\"\nunset GIT_DIR\ncd ../../bert/list && git pull -q && python3 shards.py take bert > /dev/null \
                && git commit -qam bert && git push -q\n";
    fs::write(&hook, bert).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(people.takes("anna"), "0");
    assert!(!hook.exists());
    people.does(
        "bert",
        "cd list && git pull -q && grep '^0 bert: anna:$' shards.txt",
    );
    people.gives("anna", "0");

    // What is not Bert's count of this shard, or not the count.
    people.does("bert", "cp ../anna/s0.cert .");
    people.is_refused(
        "bert",
        "give bert 0 ../s0.cert",
        &["is signed by ", "not by bert"],
    );
    people.is_refused(
        "bert",
        "give bert 0 ../six.cert",
        &["is of shard 0 of {'n': 6"],
    );
    people.is_refused(
        "cleo",
        "give cleo 0 ../six.cert",
        &["cleo did not take shard 0"],
    );
    people.does(
        "bert",
        "sed 's/\"8\":\"1/\"8\":\"2/' s0.cert > changed.cert",
    );
    people.is_refused(
        "bert",
        "give bert 0 ../changed.cert",
        &["no certificate, or a wrong one"],
    );
    let forged = people.path("bert/s0.cert");
    lie_with(&forged, &secret("bert"), more("8"));
    assert_eq!(people.bash("bert", "queenfold check s0.cert").0, 0);
    let differ = ["certs/0.anna.cert differ", "check FILE --challenge"];
    people.is_refused("bert", "give bert 0 ../s0.cert", &differ);
    people.does("bert", "rm s0.cert && queenfold run -n 14 --shard 0/4 --dir s0 && queenfold certify s0 -o s0.cert --key my.key");
    people.gives("bert", "0");

    for _ in 0..2 {
        for person in PEOPLE {
            let number = people.takes(person);
            people.gives(person, &number);
        }
    }
    for person in PEOPLE {
        people.is_refused(person, &format!("take {person}"), &["no shard is left"]);
    }
    let out = people.does("cleo", "cd list && git pull -q && python3 shards.py check");
    assert_eq!(
        out,
        "8 of 8 counts are here, 0 nobody took; missing: none\n"
    );
    let out = people.does("cleo", "queenfold gather list/certs/*.cert --into n14");
    assert!(out.contains("365596"), "{out}");
    let out = people.does(
        "cleo",
        "queenfold certify n14 -o n14.cert && queenfold check n14.cert",
    );
    tells(&out, &["total     365596", "counted   17 twice"]);
    let checker = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/check_certificate.py"
    );
    people.does("cleo", &format!("python3 {checker} n14.cert"));

    // Whoever changes the list or a file later is found.
    people.does(
        "cleo",
        "cd list && sed -i '/^3 /s/:[0-9a-f]*/:0/' shards.txt",
    );
    let (code, _, error) = people.bash("cleo", "cd list && python3 shards.py check");
    assert!(
        code == 1 && error.contains("is not what the list says"),
        "{error}"
    );
}
