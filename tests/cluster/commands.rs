//! What `array`, `gather` and `status` say to somebody who errs.

use std::path::Path;

use queenfold::engine::{Correction, Decision, Method};
use queenfold_ledger::ledger::Store;
use serde_json::Value as Json;

use super::array::Array;
use crate::common::program::{PROGRAM, output, printed, queenfold, refusal, stdout, tells, words};
use crate::ledger::entries;

fn refused(args: &[&str], code: i32) -> String {
    refusal(&mut queenfold(args), code)
}

#[test]
fn each_mistake_gets_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let array = |n: &str, tasks: &str, dir: &str| {
        let dir = path(dir);
        let args = words!(
            "array -n {} --shards {} --for slurm --engine colour --dir {}",
            n,
            tasks,
            &dir
        );
        refused(&args, 2)
    };
    let said = array("16", "33", "new");
    tells(
        &said,
        &["has 32 tasks, so an array of it has 1 to 32 shards, not 33"],
    );
    assert!(array("16", "0", "new").contains("not 0"));
    assert!(!folder.path().join("new").exists());
    let said = array("16", "4", "it's");
    assert!(said.contains("schedulers take no path"), "{said}");

    let gpus = words!("array -n 31 --shards 4 --for slurm --gpus 1");
    let said = refused(&gpus, 2);
    tells(&said, &["GPUs count boards of 5 to 30 queens, not of 31"]);
    let short = words!("array -n 16 --shards 4 --for slurm --time 59s");
    assert!(refused(&short, 2).contains("a minute at least"));
    // For Slurm these would be hours.
    assert!(refused(&[&short[..7], &["--time", "90.5"]].concat(), 2).contains("90.5min"));
    let said = refused(&[&short[..7], &["--time", "120"]].concat(), 2);
    tells(&said, &["seconds or minutes? write 120s or 120min"]);

    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/notes"), "").unwrap();
    assert!(array("16", "4", "mine").contains("not empty, and no job array"));

    stdout(&[
        "array",
        "-n",
        "16",
        "--shards",
        "4",
        "--for",
        "slurm",
        "--engine",
        "colour",
        "--dir",
        &path("mine16"),
    ]);
    let said = array("18", "4", "mine16");
    tells(&said, &["holds the array of n = 16 by colour-1"]);
    assert!(said.contains("not of n = 18"), "{said}");

    for dir in ["run", "nowhere", "mine"] {
        let said = refused(&["gather", &path(dir)], 2);
        tells(&said, &["no job array; `queenfold array` makes one"]);
    }
    std::fs::write(folder.path().join("mine/array.json"), "{}").unwrap();
    for command in ["gather", "status"] {
        let said = refused(&[command, &path("mine")], 2);
        assert!(said.contains("array.json: it describes no array"), "{said}");
    }
}

#[test]
fn a_shard_of_another_run_is_named() {
    let array = Array::make(14, 3, "slurm");
    let shard = array.shard(1);
    let shard = shard.to_str().unwrap();
    stdout(&words!(
        "run -n 14 --shard 2/3 --engine chain --dir {}",
        shard
    ));
    for command in ["gather", "status"] {
        let said = refused(&[command, array.name()], 2);
        tells(&said, &["shards/1 holds shard 2/3 of n = 14"]);
        assert!(said.contains("should hold shard 1/4"), "{said}");
    }
    std::fs::remove_dir_all(shard).unwrap();
    std::fs::create_dir(shard).unwrap();
    // A task that was killed before it wrote anything.
    assert_eq!(array.status()["not_begun"].to_string(), "[0,1,2]");
    std::fs::write(array.shard(1).join("ledger.db"), "no database").unwrap();
    let said = refused(&["gather", array.name()], 1);
    assert!(said.contains("shards/1/ledger.db"), "{said}");
    assert!(!array.path().join("whole").exists());
}

#[test]
fn what_is_gathered_is_done() {
    let array = Array::make(12, 2, "hyperqueue");
    for index in 0..2 {
        array.count(index);
    }
    let before = stdout(&["status", array.name()]);
    assert!(before.contains("finished    2 of 2 shards\n"), "{before}");
    assert!(before.contains("go on       `queenfold gather"), "{before}");
    array.assert_total("14200");
    array.assert_total("14200");
    let after = stdout(&["status", array.name()]);
    assert!(after.contains("gathered    all"), "{after}");
    let args = words!(
        "array -n 12 --shards 2 --for slurm --engine chain --dir {}",
        array.name()
    );
    let said = refused(&args, 2);
    assert!(said.contains("nothing of it is left to count"), "{said}");
    // The ledger of all outlives the shards.
    std::fs::remove_dir_all(array.path().join("shards")).unwrap();
    array.assert_total("14200");
}

#[test]
fn a_script_with_lines_of_the_user_is_kept() {
    let array = Array::make(16, 4, "slurm");
    let path = array.script("slurm.sh");
    let made = std::fs::read_to_string(&path).unwrap();
    assert!(made.contains("#SBATCH --cpus-per-task=1\n"), "{made}");
    let own = made.replace("#SBATCH --array", "#SBATCH --account=me\n#SBATCH --array");
    let engine = ["--engine", "chain", "--dir", array.name()];
    let again = ["array", "-n", "16", "--shards", "4", "--for", "slurm"];
    let again = [&again[..], &engine].concat();
    stdout(&again);
    for (there, more) in [(own, &[][..]), (made, &["--cpus", "4"])] {
        std::fs::write(&path, &there).unwrap();
        let again = [&again, more].concat();
        let said = refused(&again, 2);
        tells(&said, &["slurm.sh is there and differs: --replace"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), there);
        stdout(&[&again[..], &["--replace"]].concat());
        assert_ne!(std::fs::read_to_string(&path).unwrap(), there);
    }
    {
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let said = refused(&[&again[..], &["--replace"]].concat(), 1);
        assert!(said.contains("slurm.sh is no regular file"), "{said}");
    }
}

#[test]
fn a_board_that_needs_no_array_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let made = |n| {
        let dir = folder.path().join(n);
        let dir = dir.to_str().unwrap();
        stdout(&words!(
            "array -n {} --shards 4 --for shell --dir {}",
            n,
            dir
        ))
    };
    let said = made("16");
    tells(&said, &["no array is needed: `queenfold run` takes about "]);
    let said = made("22");
    assert!(said.contains("first shards about "), "{said}");
}

#[test]
fn what_comes_home_is_a_shard() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("array");
    let array = |more: &[&str]| {
        let usual = words!("array -n 12 --dir {}", dir.to_str().unwrap());
        let more = match more.contains(&"--for") {
            true => more.to_vec(),
            false => [more, &["--for", "shell"]].concat(),
        };
        refused(&[&usual[..], &more].concat(), 2)
    };
    let said = array(&["--shards", "1", "--put", "cp {} /"]);
    assert!(said.contains("give --shards 2 or more"), "{said}");
    for (put, why) in [
        ("cp", "write {} where the file stands"),
        ("cp '{}' /", "without quotes"),
        ("cp {} 'a", "is none of bash"),
    ] {
        let said = array(&["--shards", "2", "--put", put]);
        assert!(said.contains(why), "{said}");
    }
    let said = array(&["--shards", "2", "--put", "cp {} /", "--for", "slurm"]);
    assert!(
        said.contains("hosts of Slurm share a file system"),
        "{said}"
    );
}

#[test]
fn what_is_given_is_part_of_the_array() {
    let folder = tempfile::tempdir().unwrap();
    let args = words!("array --shards 1 --for slurm -n 12");
    let given = words!("--queens a1 --holes b4");
    let made = queenfold(&[&args[..], &given].concat())
        .current_dir(&folder)
        .output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
    let said = printed(&made.stdout);
    tells(
        &said,
        &["array-n12-given: n = 12 with queens a1 and holes b4 by"],
    );
    assert!(folder.path().join("array-n12-given/array.json").exists());
    // The free board is another array.
    let free = words!("--dir array-n12-given");
    let said = refusal(
        queenfold(&[&args[..], &free].concat()).current_dir(&folder),
        2,
    );
    tells(
        &said,
        &[
            "holds the array of n = 12 with queens a1 and holes b4",
            "not of n = 12 by",
        ],
    );
}

#[test]
fn a_foreign_run_in_place_of_the_whole_is_named() {
    let array = Array::make(12, 2, "slurm");
    let whole = array.path().join("whole");
    stdout(&["run", "-n", "10", "--dir", whole.to_str().unwrap()]);
    let again = words!(
        "array -n 12 --shards 2 --for slurm --engine chain --dir {}",
        array.name()
    );
    for args in [
        &["status", array.name()][..],
        &["gather", array.name()],
        &again,
    ] {
        let said = refused(args, 2);
        assert!(said.contains("whole holds a run of n = 10"), "{said}");
        tells(
            &said,
            &["should hold what was gathered from the array of n = 12"],
        );
    }
}

#[test]
fn a_directory_that_looks_like_an_option_is_named_so_that_it_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let args = words!("array -n 12 --shards 2 --for slurm --engine chain --dir=-dash");
    let output = queenfold(&args).current_dir(folder.path()).output();
    let said = printed(&output.unwrap().stdout);
    assert!(said.contains("submit it  ./-dash/slurm.sh\n"), "{said}");
}

#[test]
fn an_array_is_watched_until_all_shards_are_finished() {
    let array = Array::make(12, 2, "slurm");
    let mut watching = std::process::Command::new(PROGRAM)
        .args(["status", "--watch", "--json", array.name()])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for index in 0..2 {
        // Longer than it takes to look once.
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert!(watching.try_wait().unwrap().is_none(), "{index}");
        array.count(index);
    }
    assert!(watching.wait().unwrap().success());
}

#[test]
fn a_shard_has_no_say_in_the_tasks_of_another() {
    let array = Array::given(13, 2, "slurm", &["--queens", "c3"]);
    for index in 0..2 {
        array.count(index);
    }
    array.assert_total("5984");
    let [zero, one] = [0, 1].map(|index| array.shard(index));
    let zero = Store::open_to_read(&zero).unwrap();
    let all = entries(&zero).unwrap().into_iter();
    let first = { all }
        .find(|entry| entry.result.key.engine.counts_all())
        .unwrap();
    let one = Store::open_to_write(&one).unwrap();
    let own = one.sessions().unwrap().remove(0);
    let mut wrong = first.clone();
    wrong.session.clone_from(&own.id);
    wrong.result.tally.completions.add(2, 40);
    let correction = Correction {
        recorded: first.clone(),
        others: vec![wrong.clone()],
        decision: Some(Decision {
            result: wrong,
            method: Method::Oracle,
        }),
    };
    one.begin().unwrap();
    let mut longer = zero.sessions().unwrap().remove(0);
    longer.elapsed *= 1000;
    one.put_session(&longer).unwrap();
    one.insert(&first).unwrap();
    one.correct(&correction, &own.id, 1).unwrap();
    one.commit().unwrap();
    drop((zero, one));

    let gathered = array.gather();
    let said = printed(&gathered.stderr);
    assert_eq!(gathered.status.code(), Some(0), "{said}");
    assert!(printed(&gathered.stdout).contains("5984"), "{gathered:?}");
    let task = first.result.key.to_string();
    for says in ["1 task left out", "not of shard 0/2", &task] {
        assert!(said.contains(says), "{said}");
    }
    // Nor in the time of its sessions.
    let whole = Store::open_to_read(&array.path().join("whole")).unwrap();
    let sessions = whole.sessions().unwrap();
    let there = sessions.iter().find(|session| session.id == longer.id);
    assert!(there.unwrap().elapsed < longer.elapsed);
}

#[test]
fn a_directory_does_not_pass_for_a_shard() {
    let array = Array::given(12, 2, "slurm", &["--queens", "c3"]);
    for index in 0..2 {
        array.count(index);
    }
    array.assert_total("1228");
    let whole = array.path().join("whole");
    let folder = tempfile::tempdir().unwrap();
    for (name, id) in [("copied", "f00d"), ("named", "shard 1/2")] {
        // What was gathered, counted a second time by a session that nobody knows.
        let strangers = folder.path().join(name);
        std::fs::create_dir(&strangers).unwrap();
        std::fs::copy(whole.join("ledger.db"), strangers.join("ledger.db")).unwrap();
        let store = Store::open_to_write(&strangers).unwrap();
        let mut session = store.sessions().unwrap().remove(0);
        session.id = id.to_owned();
        let mut entries = entries(&store).unwrap();
        store.begin().unwrap();
        store.put_session(&session).unwrap();
        for entry in &mut entries {
            entry.session.clone_from(&session.id);
            store.confirm(entry, id, 1).unwrap();
        }
        if name == "named" {
            for other in store.sessions().unwrap() {
                let _ = (other.id != id).then(|| store.remove_session(&other.id).unwrap());
            }
        }
        store.commit().unwrap();
        drop(store);
        let into = folder.path().join(format!("into-{name}"));
        std::fs::create_dir(&into).unwrap();
        std::fs::copy(whole.join("ledger.db"), into.join("ledger.db")).unwrap();
        let [strangers, into] = [&strangers, &into].map(|dir| dir.to_str().unwrap());
        let merged = stdout(&["gather", strangers, "--into", into, "--json"]);
        let merged: Json = serde_json::from_str(&merged).unwrap();
        let [twice, claimed] = ["twice", "claimed"].map(|key| merged["counted"][key].as_u64());
        assert_eq!((twice, claimed), (Some(3), Some(0)), "{merged}");
        let store = Store::open_to_read(Path::new(into)).unwrap();
        let sessions = store.sessions().unwrap();
        let there = sessions.iter().find(|session| session.id == id);
        assert!(!there.unwrap().is_here(), "{there:?}");
    }
}

#[test]
fn files_of_shards_are_gathered_beside_directories() {
    use std::os::unix::fs::PermissionsExt;
    let array = Array::given(12, 2, "slurm", &["--queens", "c3"]);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let key = path("key");
    std::fs::write(&key, "5a".repeat(32)).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let count = |queens: &str, shard: &str, dir: &str, file: &Path| {
        let board = ["run", "-n", "12", "--queens", queens, "--engine", "chain"];
        stdout(&[&board[..], &["--shard", shard, "--dir", dir]].concat());
        let file = file.to_str().unwrap();
        stdout(&["certify", dir, "-o", file, "--key", &key]);
    };
    let file = |name: &str| array.path().join("shards").join(name);
    // Shards begin with the last part.
    count("c3", "0/2", &path("elsewhere"), &file("anna.cert"));
    assert_eq!(array.missing(), "0");
    // A shard that is there as a directory and as its file is counted once.
    let zero = array.shard(0);
    count("c3", "1/2", zero.to_str().unwrap(), &file("0.cert"));
    let gathered = array.gather();
    let said = printed(&gathered.stderr);
    assert!(gathered.status.success(), "{said}");
    assert!(!said.contains("left out"), "{said}");
    assert!(printed(&gathered.stdout).contains("1228"), "{gathered:?}");
    let counted = stdout(&["gather", array.name(), "--json"]);
    let counted: Json = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["counted"]["twice"], 0);
    // What is no certificate, and no folder of them, is refused.
    for other in [zero.to_str().unwrap(), array.name()] {
        let refused = output(&["gather", array.name(), other]);
        assert_eq!(refused.status.code(), Some(2));
        let says = [other, "a run directory or job array, and not a folder"];
        tells(&printed(&refused.stderr), &says);
    }
    // The file of another board is left out.
    count("d3", "1/2", &path("other"), &file("other.cert"));
    let gathered = array.gather();
    let said = printed(&gathered.stderr);
    assert!(
        said.starts_with("left out: ") && said.contains("other.cert holds shard 1/2"),
        "{said}"
    );
    assert!(printed(&gathered.stdout).contains("1228"), "{gathered:?}");
    std::fs::remove_file(file("other.cert")).unwrap();
    std::os::unix::fs::symlink(file("0.cert"), file("link.cert")).unwrap();
    let gathered = array.gather();
    let said = printed(&gathered.stderr);
    tells(&said, &["left out: ", "link.cert is no regular file"]);
    assert!(printed(&gathered.stdout).contains("1228"), "{gathered:?}");
}

#[test]
fn a_shard_whose_ledger_is_lost_is_counted_again() {
    let array = Array::make(14, 4, "slurm");
    (0..4).for_each(|index| array.count(index));
    std::fs::remove_file(array.shard(1).join("ledger.db")).unwrap();
    assert_eq!(array.missing(), "1");
    array.count(1);
    array.assert_total("365596");
}

#[test]
fn hosts_of_an_array_share_a_file_system_or_nothing() {
    let array = Array::make(12, 2, "shell");
    let again = words!(
        "array -n 12 --shards 2 --engine chain --dir {} --for",
        array.name()
    );
    let said = refused(
        &[&again[..], &["hyperqueue", "--put", "cp {} /"]].concat(),
        2,
    );
    assert!(said.contains("was made without --put"), "{said}");
    assert!(!array.script("array.key").exists());

    let array = Array::given(12, 2, "shell", &["--put", "cp {} /"]);
    let key = std::fs::read_to_string(array.script("array.key")).unwrap();
    std::fs::remove_file(array.script("array.key")).unwrap();
    // A script has the key, too.
    array.missing();
    assert_eq!(
        std::fs::read_to_string(array.script("array.key")).unwrap(),
        key
    );
    let again = words!(
        "array -n 12 --shards 2 --engine chain --dir {} --for",
        array.name()
    );
    let said = refused(&[&again[..], &["hyperqueue"]].concat(), 2);
    assert!(said.contains("was made with --put"), "{said}");
}

#[test]
fn nothing_is_gathered_through_a_link() {
    let array = Array::given(12, 2, "slurm", &["--queens", "c3"]);
    let dir = array.shard(0);
    let board = ["run", "-n", "12", "--queens", "c3", "--engine", "chain"];
    let shard = ["--shard", "1/2", "--dir", dir.to_str().unwrap()];
    stdout(&[&board[..], &shard].concat());
    let elsewhere = tempfile::tempdir().unwrap();
    let whole = array.path().join("whole");
    std::os::unix::fs::symlink(elsewhere.path(), &whole).unwrap();
    let said = refused(&["gather", array.name()], 2);
    assert!(said.contains("a link leads elsewhere"), "{said}");
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_came_into_a_shard_by_a_merge_stays_a_claim_in_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let array = Array::given(12, 2, "slurm", &["--queens", "c3"]);
    let strangers = folder.path().join("strangers");
    let strangers = strangers.to_str().unwrap();
    let count = |shard: &str, dir: &str| {
        let board = ["run", "-n", "12", "--queens", "c3", "--engine", "chain"];
        stdout(&[&board[..], &["--shard", shard, "--dir", dir]].concat());
        stdout(&["verify", "--again", dir]);
    };
    let [zero, one] = [0, 1].map(|index| array.shard(index));
    count("1/2", zero.to_str().unwrap());
    count("0/2", strangers);
    // The directory of the shard is begun, and another one is merged into it.
    let info = Store::open_to_read(Path::new(strangers)).unwrap();
    std::fs::create_dir_all(&one).unwrap();
    drop(Store::create(&one, info.info()).unwrap());
    drop(info);
    output(&["gather", strangers, "--into", one.to_str().unwrap()]);
    let gathered = stdout(&["gather", array.name(), "--json"]);
    let gathered: Json = serde_json::from_str(&gathered).unwrap();
    assert_eq!(gathered["checked"], "claimed");
    let [tasks, claimed] = ["tasks", "claimed"].map(|key| gathered["counted"][key].as_u64());
    assert!(claimed > Some(0) && claimed < tasks, "{gathered}");

    // What a shard counted is taken out of the whole, and may be gathered again.
    let whole = array.path().join("whole");
    let whole = whole.to_str().unwrap();
    output(&words!(
        "gather --take-out {} --into {}",
        zero.to_str().unwrap(),
        whole
    ));
    let again = stdout(&["gather", array.name(), "--json"]);
    let again: Json = serde_json::from_str(&again).unwrap();
    for key in ["tasks", "twice", "claimed"] {
        assert_eq!(again["counted"][key], gathered["counted"][key]);
    }
}
