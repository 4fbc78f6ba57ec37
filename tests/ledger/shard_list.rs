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
                          queenfold certify six -o me.cert --key my.key";
            people.does(person, signed);
        }
        people.does(
            "anna",
            "queenfold run -n 14 --shard 0/4 --dir any && queenfold certify any -o any.cert",
        );
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/shards.py");
        fs::copy(script, people.path("shards.py")).unwrap();
        let begin = "cd list && python3 ../../shards.py begin ../any.cert && git add . && git commit -qm begin && git push -q";
        people.does("anna", begin);
        people.is_refused("anna", "begin ../any.cert", &["there is a list already"]);
        for person in PEOPLE {
            people.list(person, &format!("join {person} ../me.cert"));
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
        let list = list.replace("../shards.py", "../../shards.py");
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
        assert_eq!(
            self.list(person, &format!("take {person}")),
            command,
            "the same until it is given"
        );
        let (_, number) = command.trim().rsplit_once(" --dir s").unwrap();
        self.does(
            person,
            &format!("queenfold certify s{number} -o s{number}.cert --key my.key"),
        );
        number.to_owned()
    }

    /// Gives all that the person counted. Returns what is to be given again.
    fn gives(&self, person: &str) -> String {
        self.list(person, &format!("give {person} ../s*.cert"))
    }
}

fn secret(person: &str) -> [u8; 32] {
    [person.as_bytes()[0]; 32]
}

#[test]
fn three_people_count_all_shards_twice() {
    let Some(people) = People::meet() else { return };
    let (code, out, _) = people.bash(
        "cleo",
        "cd list && git pull -q && python3 ../../shards.py check",
    );
    assert_eq!(
        (code, out.as_str()),
        (4, "0 of 8 counts are here, 8 nobody took; missing: none\n")
    );
    people.is_refused("anna", "join dora ../me.cert", &["somebody joined by this"]);

    // Bert takes the shard that Anna took, before she could tell.
    let hook = people.path("anna/list/.git/hooks/pre-push");
    let bert = "#!/bin/sh\nrm \"$0\"\nunset GIT_DIR\ncd ../../bert/list && git pull -q && python3 ../../shards.py take bert > /dev/null \
                && git commit -qam bert && git push -q\n";
    fs::write(&hook, bert).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, command, error) = people.bash("anna", "cd list && list take anna");
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(!hook.exists() && command.ends_with(" --shard 0/4 --dir s0\n"));
    assert_eq!(people.takes("anna"), "0");
    people.gives("anna");
    assert!(
        !people.path("anna/list/certs").exists(),
        "before Bert's root"
    );

    // What is not Bert's count of this shard, or not the count.
    let refused = |file: &str, says: &[&str]| {
        people.is_refused("bert", &format!("give bert ../{file}"), says)
    };
    people.does(
        "bert",
        "cp ../anna/s0.cert . && sed 's/\"8\":\"1/\"8\":\"2/' s0.cert > changed.cert",
    );
    refused("s0.cert", &["is signed by ", "not by bert"]);
    refused("me.cert", &["is of another board"]);
    refused("changed.cert", &["no certificate, or a wrong one"]);
    let cleo = "give cleo ../../bert/s0.cert";
    people.is_refused("cleo", cleo, &["of shard 0, which cleo did not take"]);
    people.does(
        "bert",
        "queenfold certify ../anna/s0 -o other.cert --key my.key",
    );
    refused("other.cert", &["bert and anna gave one count of shard 0"]);
    let copy = people.path("bert/s0.cert");
    lie_with(&copy, &secret("bert"), |above| {
        above.replace("\"host\":\"", "\"host\":\"b")
    });
    people.list("bert", "give bert ../s0.cert");
    let one = ["anna and bert gave one count of shard 0"];
    people.is_refused("anna", "give anna ../s0.cert", &one);
    people.list("cleo", "drop bert 0");

    people.does("bert", "rm s0.cert");
    assert_eq!(people.takes("bert"), "0");
    people.does("bert", "cp s0.cert forged.cert");
    lie_with(&people.path("bert/forged.cert"), &secret("bert"), more("8"));
    people.list("bert", "give bert ../forged.cert");
    people.gives("anna");
    let check = |says: &[&str]| {
        let (code, out, error) = people.bash(
            "cleo",
            "cd list && git pull -q && python3 ../../shards.py check",
        );
        assert_eq!((code, out.as_str()), (1, ""), "{error}");
        tells(&error, says);
    };
    check(&[
        "certs/0.bert.cert and certs/0.anna.cert differ",
        "check FILE --challenge",
    ]);
    people.list("cleo", "drop bert 0");
    people.list("bert", "take bert");
    people.gives("bert");

    for _ in 0..2 {
        for person in PEOPLE {
            people.takes(person);
            people.gives(person);
        }
    }
    for person in PEOPLE {
        assert_eq!(people.gives(person), "");
        assert_eq!(people.gives(person), "");
        people.is_refused(person, &format!("take {person}"), &["no shard is left"]);
    }
    let out = people.does(
        "cleo",
        "cd list && git pull -q && python3 ../../shards.py check",
    );
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
    people.does("cleo", "cd list && cp certs/0.anna.cert certs/1.anna.cert");
    check(&["certs/1.anna.cert is not what the list says"]);
    people.does("cleo", "cd list && git reset -q --hard && sed -i '/\"3\"/,$s/: \"[0-9a-f]*\"/: \"0\"/' shards.json");
    check(&["is not what the list says"]);
    people.does("cleo", r#"cd list && sed -i 's/"n": 14/"n": "14 --on-event=reboot"/; s/"anna": "[0-9a-f]*"/"anna": ""/' shards.json && git commit -qam x && git push -q"#);
    people.is_refused("anna", "take anna", &["asks for more than a count"]);
}

#[test]
fn what_is_missing_is_said_in_a_line() {
    let Some(people) = People::meet() else { return };
    for (script, says) in [
        (
            "python3 ../shards.py check",
            "No such file or directory: 'shards.json'",
        ),
        (
            "cd list && env -i $(command -v python3) ../../shards.py join dora ../me.cert",
            "No such file or directory: 'queenfold'",
        ),
    ] {
        let (code, _, error) = people.bash("anna", script);
        assert!(code == 1 && error.lines().count() == 1, "{error}");
        tells(&error, &["refused: ", says]);
    }
    let help = people.does("anna", "python3 ../shards.py --help");
    tells(&help, &["take NAME"]);
    let whole = "queenfold certify six -o whole.cert && rm list/shards.json && cd list && python3 ../../shards.py begin ../whole.cert";
    let (code, _, error) = people.bash("anna", whole);
    assert_eq!(code, 1);
    tells(&error, &["whole.cert is of no shard"]);
}
