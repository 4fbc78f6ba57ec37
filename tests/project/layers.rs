//! The rooms of the library know only those below them: the order is the one in the crate
//! documentation of `src/lib.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The rooms in the order that the crate documentation lists them, the ground floor first.
fn rooms() -> Vec<String> {
    let text = fs::read_to_string(root().join("lib.rs")).expect("src/lib.rs");
    text.lines()
        .filter_map(|line| line.strip_prefix("//! * [`"))
        .filter_map(|line| Some(line.split_once('`')?.0.to_owned()))
        .collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The rooms that a source text names: `crate::room` outside comments and its test module.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let production = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    production
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .flat_map(|line| {
            line.split("crate::")
                .skip(1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .filter(|room| !room.is_empty())
        .collect()
}

#[test]
fn every_room_is_in_the_list_and_every_listed_room_exists() {
    let listed: BTreeSet<_> = rooms().into_iter().collect();
    let there: BTreeSet<_> = fs::read_dir(root())
        .expect("src")
        .map(|entry| entry.expect("an entry").path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|room| room != "lib" && room != "main")
        .collect();
    assert_eq!(listed, there);
}

#[test]
fn rooms_know_only_those_below_them() {
    let rooms = rooms();
    let floor = |room: &str| rooms.iter().position(|other| other == room);
    let mut files = Vec::new();
    rust_files(&root(), &mut files);
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(root()).expect("below src");
        let room = inside
            .iter()
            .next()
            .and_then(|part| Path::new(part).file_stem()?.to_str());
        let Some(own) = room.and_then(floor) else {
            continue;
        };
        for used in rooms_used(&fs::read_to_string(&file).expect("a source file")) {
            if floor(&used).is_none_or(|used| used > own) {
                wrong.push(format!("{} uses crate::{used}", inside.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that point upward:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_reader_of_this_test_sees_what_it_should() {
    let text = "use crate::board::Size;\n/// [`x`](crate::cli)\nfn f() { crate::chain::g() }\n#[cfg(test)]\nmod tests { use crate::actors::A; }";
    let used: Vec<_> = rooms_used(text).into_iter().collect();
    assert_eq!(used, ["board", "chain"]);
}
