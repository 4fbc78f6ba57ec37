//! The rooms of a crate know only the rooms above them in the tables of ARCHITECTURE.md, and every file says first what it
//! answers. Which crates know which, Cargo says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::common::{ROOT, text_of};

/// Every Rust file below `folder`.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.append(&mut rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The rooms of each crate that has any, in the order of its table.
fn crates_of_rooms() -> Vec<(PathBuf, Vec<String>)> {
    let page = text_of("ARCHITECTURE.md");
    let tables = page.split("\nRooms of `").skip(1).map(|part| {
        let (name, table) = part.split_once('`').expect("the name of a crate");
        let root = match name {
            "queenfold" => Path::new(ROOT).join("src"),
            _ => Path::new(ROOT).join("crates").join(name).join("src"),
        };
        let rows = table.lines().skip_while(|line| !line.starts_with('|'));
        let rooms = rows
            .take_while(|line| line.starts_with('|'))
            .filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0.to_owned()));
        (root, rooms.collect())
    });
    tables.collect()
}

/// The room of a file or folder directly in the sources.
fn room(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// The rooms that a source text names: `crate::room` outside comments and its test module, which is the last item.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let named = Regex::new("crate::([a-z_]+)").expect("a pattern");
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    let found = lines.flat_map(|line| named.captures_iter(line).map(|of| of[1].to_owned()));
    found.collect()
}

#[test]
fn rooms_know_only_those_above_them_in_the_tables() {
    assert_eq!(crates_of_rooms().len(), 4);
    // `queenfold` passes the rooms of the engines on.
    let mut below = BTreeSet::new();
    for (root, rooms) in crates_of_rooms() {
        let there = fs::read_dir(&root).expect("the sources");
        let there: Vec<_> = there.map(|entry| entry.expect("an entry").path()).collect();
        let folders = there
            .iter()
            .filter(|path| !["lib", "main"].contains(&&*room(path)));
        let listed: BTreeSet<_> = rooms.iter().cloned().collect();
        assert_eq!(
            folders.map(|path| room(path)).collect::<BTreeSet<_>>(),
            listed
        );
        for path in there {
            let Some(own) = rooms.iter().position(|other| *other == room(&path)) else {
                continue;
            };
            let files = if path.is_dir() {
                rust_files(&path)
            } else {
                vec![path]
            };
            for file in files {
                for used in rooms_used(&fs::read_to_string(&file).expect("a source file")) {
                    let place = rooms.iter().position(|other| *other == used);
                    let is_above = place.map_or(below.contains(&used), |place| place <= own);
                    assert!(is_above, "{} uses crate::{used}", file.display());
                }
            }
        }
        below.extend(rooms);
    }
}

/// Whether a source text says first what it is about. Attributes of the file may stand before that.
fn begins_with_its_question(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("#!["));
    first.is_some_and(|line| line.starts_with("//! "))
}

#[test]
fn every_source_file_says_first_what_it_answers() {
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).expect("the crates");
    let crates = crates.map(|entry| entry.expect("an entry").path().join("src"));
    let sources = crates.chain([Path::new(ROOT).join("src")]);
    let files: Vec<_> = sources.flat_map(|folder| rust_files(&folder)).collect();
    let silent = files.iter().filter(|file| {
        !begins_with_its_question(&fs::read_to_string(file).expect("a source file"))
    });
    let silent: Vec<_> = silent.collect();
    assert!(files.len() > 300, "{} files", files.len());
    assert!(silent.is_empty(), "no `//!` at the top of {silent:?}");
}

#[test]
fn the_reader_of_this_test_sees_what_it_should() {
    let text = "use crate::board::Size;\n/// [`x`](crate::cli)\nfn f() { crate::chain::g() }\n#[cfg(test)]\nmod tests { use crate::actors::A; }";
    let used: Vec<_> = rooms_used(text).into_iter().collect();
    assert_eq!(used, ["board", "chain"]);
    assert!(begins_with_its_question("#![no_std]\n\n//! What it is."));
    assert!(!begins_with_its_question(text));
}
