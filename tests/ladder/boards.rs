//! `queenfold ladder --boards` and `--step`: what a method finds, and how it goes on.

use queenfold_cli::ladder::METHODS;

use super::ladder;
use crate::common::program::{stdout, words};

/// The lines of the output that are numbered boards or lines, without the rows of the table.
fn numbered(out: &str) -> Vec<&str> {
    out.lines()
        .filter(|line| {
            line.split_once(": ")
                .is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        })
        .filter(|line| !line.contains("00:00:"))
        .collect()
}

/// The boards that a method prints, without their numbers, sorted.
fn boards(method: &str, rest: &[&str]) -> Vec<String> {
    let out = stdout(&ladder(method, rest));
    let mut boards: Vec<_> = numbered(&out)
        .into_iter()
        .map(|line| line.split_once(": ").unwrap().1.to_owned())
        .collect();
    boards.sort();
    boards
}

#[test]
fn boards_are_all_solutions_whatever_the_method_finds() {
    let expected = boards("tuples", &["-n", "6", "--boards"]);
    assert_eq!(expected.len(), 4);
    for method in METHODS.iter().map(|method| method.name) {
        // Those list borders; this one only counts.
        if !method.starts_with("carry-chain") && method != "bit-board" {
            let boards = boards(method, &["-n", "6", "--boards"]);
            assert_eq!(boards, expected, "{method}");
        }
    }
}

#[test]
fn unique_boards_are_one_of_each_orbit_with_its_size() {
    let orbits = |method| boards(method, &["-n", "8", "--boards", "unique"]);
    let expected = orbits("bitmap");
    assert_eq!(expected.len(), 12);
    let of = |orbit: &str| expected.iter().filter(|b| b.ends_with(orbit)).count();
    assert_eq!((of("orbit of 4"), of("orbit of 8")), (1, 11));
    for method in words!("mirror orbits bound1 symmetry symmetry-parallel node-layer colour") {
        assert_eq!(orbits(method), expected, "{method}");
    }
}

/// A frame of `--step`: its words, and the marks on the squares.
type Frame = (String, Vec<Vec<char>>);

fn frames(out: &str, n: usize) -> Vec<Frame> {
    let end = out.find("\n N:").expect("a table follows");
    let mut frames = Vec::new();
    for (index, frame) in out[..end].split_terminator("\n\n").enumerate() {
        let mut lines = frame.lines();
        let (number, words) = lines.next().unwrap().split_once(". ").unwrap();
        assert_eq!(number, (index + 1).to_string());
        let squares = |line: &str| line.split(' ').map(|s| s.parse().unwrap()).collect();
        let board: Vec<Vec<char>> = lines.map(squares).collect();
        assert!(board.len() == n && board.iter().all(|row| row.len() == n));
        frames.push((words.to_owned(), board));
    }
    frames
}

/// Whether the board of a frame agrees with its words.
fn is_true((words, board): &Frame) -> bool {
    let last = board.len() - 1;
    let queen = |row: usize| board[row].contains(&'Q');
    let queen_below = |column: usize| board.iter().any(|row| row[column] == 'Q');
    let square = |prefix, separator, suffix| -> Option<(usize, usize)> {
        let words = words.strip_prefix(prefix)?.strip_suffix(suffix)?;
        let (row, column) = words.split_once(separator)?;
        Some((row.parse().ok()?, column.parse().ok()?))
    };
    let sides = [
        ("top", queen(0) && queen(1)),
        ("right", queen_below(last) && queen_below(last - 1)),
        ("bottom", queen(last) && queen(last - 1)),
        ("left", queen_below(0) && queen_below(1)),
    ];
    if let Some((row, column)) = square("row ", ", a queen in column ", "") {
        board[row][column] == 'Q'
    } else if let Some((row, column)) = square("row ", ", column ", " is attacked") {
        board[row][column] == 'x' && !queen(row)
    } else if let Some(side) = words.strip_prefix("the queens along the ") {
        sides.iter().any(|(name, there)| *name == side && *there)
    } else if words.starts_with("a border, orbit of ") {
        sides.iter().all(|(_, there)| *there)
    } else {
        words.starts_with("solution ") && (0..=last).all(queen)
    }
}

#[test]
fn every_frame_is_true_and_differs_from_the_one_before() {
    for method in METHODS {
        let styles = method.styles.iter().filter(|style| !style.needs_device());
        for style in styles.filter(|_| !method.is_parallel) {
            for n in [4, 5, 6_usize] {
                if method.name == "tuples" && n > 5 {
                    continue;
                }
                let (name, size) = (style.name().unwrap(), n.to_string());
                let rest = ["-n", &size, "--step", "--style", name];
                let out = stdout(&ladder(method.name, &rest));
                let frames = frames(&out, n);
                assert!(frames.len() > 5, "{}", method.name);
                for frame in &frames {
                    assert!(is_true(frame), "{}, {name}: {frame:?}", method.name);
                    let rows = frame.1.iter();
                    let crowded = |row: &Vec<char>| row.iter().filter(|c| **c != '.').count() > 1;
                    assert!(!rows.clone().any(crowded), "{frame:?}");
                }
                for pair in frames.windows(2) {
                    assert_ne!(pair[0], pair[1], "{}, {name}", method.name);
                }
            }
        }
    }
}
