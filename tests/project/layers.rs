//! The rooms of a crate know only the rooms below them. The tables of ARCHITECTURE.md give the order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below `folder`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
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

/// The lines of a source text without its comments and without its test module, which is the last item.
fn production(text: &str) -> impl Iterator<Item = &str> {
    let before_tests = text.split("#[cfg(test)]\nmod tests {").next();
    let lines = before_tests.unwrap_or_default().lines();
    lines.map(|line| line.split("//").next().unwrap_or_default())
}

/// The rooms of each crate that has any, in the order of the tables of ARCHITECTURE.md, the lowest first. The ladder is
/// one room.
fn crates_of_rooms() -> Vec<(PathBuf, Vec<String>)> {
    let page = fs::read_to_string("ARCHITECTURE.md").expect("the page");
    let tables = page.split("\nRooms of `").skip(1).map(|part| {
        let (name, table) = part.split_once('`').expect("the name of a crate");
        let root = match name {
            "queenfold" => PathBuf::from("src"),
            _ => Path::new("crates").join(name).join("src"),
        };
        let rooms = table
            .lines()
            .skip_while(|line| !line.starts_with('|'))
            .take_while(|line| line.starts_with('|'))
            .filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0.to_owned()));
        (root, rooms.collect())
    });
    tables.collect()
}

/// The rooms that a source text names: `crate::room` outside comments and its test module.
fn rooms_used(text: &str) -> BTreeSet<String> {
    production(text)
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
fn every_room_is_in_the_tables_and_every_listed_room_exists() {
    assert_eq!(crates_of_rooms().len(), 2);
    for (root, rooms) in crates_of_rooms() {
        let there: BTreeSet<_> = fs::read_dir(&root)
            .expect("the sources")
            .map(|entry| entry.expect("an entry").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
            .filter(|room| room != "lib" && room != "main")
            .collect();
        assert_eq!(rooms.into_iter().collect::<BTreeSet<_>>(), there);
    }
}

#[test]
fn rooms_know_only_those_below_them() {
    // The rooms of the crates below are passed on by the crates above.
    let mut below: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    for (root, rooms) in crates_of_rooms() {
        let passed_on = below.len();
        below.extend(rooms);
        let floor = |room: &str| below.iter().position(|other| other == room);
        for file in rust_files(&root) {
            let inside = file.strip_prefix(&root).expect("below the root");
            let room = inside
                .iter()
                .next()
                .and_then(|part| Path::new(part).file_stem()?.to_str());
            let Some(own) = room.and_then(floor).filter(|own| *own >= passed_on) else {
                continue;
            };
            for used in rooms_used(&fs::read_to_string(&file).expect("a source file")) {
                if floor(&used).is_none_or(|used| used > own) {
                    wrong.push(format!("{} uses crate::{used}", inside.display()));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "arrows that point upward:\n{}",
        wrong.join("\n")
    );
}

/// The folders of the command line, in the order of the table in the documentation of its `mod.rs`.
#[test]
fn folders_of_the_command_line_know_only_those_above_them_in_the_table() {
    let root = Path::new("src/cli");
    let text = fs::read_to_string(root.join("mod.rs")).expect("its mod.rs");
    let folders: Vec<_> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("//! | `")?.split_once('`')?.0))
        .collect();
    let there = fs::read_dir(root).expect("the folder");
    let there = there.filter(|entry| entry.as_ref().expect("an entry").path().is_dir());
    assert_eq!(folders.len(), there.count());
    let mut wrong = Vec::new();
    for (place, folder) in folders.iter().enumerate() {
        for file in rust_files(&root.join(folder)) {
            let text = fs::read_to_string(&file).expect("a source file");
            for line in production(&text) {
                for later in &folders[place + 1..] {
                    if line.contains(&format!("cli::{later}")) {
                        wrong.push(format!("{} uses {later}", file.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_this_test_sees_what_it_should() {
    let text = "use crate::board::Size;\n/// [`x`](crate::cli)\nfn f() { crate::chain::g() }\n#[cfg(test)]\nmod tests { use crate::actors::A; }";
    let used: Vec<_> = rooms_used(text).into_iter().collect();
    assert_eq!(used, ["board", "chain"]);
}
