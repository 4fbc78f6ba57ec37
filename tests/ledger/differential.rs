//! The program against a plain search row by row, on random boards and in random ways: engine, kernel, workers,
//! audits, shards, kills, a second count.
//!
//! The long test: `TEST_SEED=1 TEST_CASES=1000 cargo test --release --test it -- --ignored --nocapture ledger::differential::`

use std::time::Duration;

use fastrand::Rng;
use queenfold::board::{GivenBoard, Square, Symmetry};
use serde_json::Value as Json;

use super::*;
use crate::common::cases::random_cases;
use crate::common::completions::{Counts, completions, counts};
use crate::common::program::{Running, of, queenfold, said, text};
use crate::common::random_board::random_board;

/// Something given on a board of up to 12 queens, or nothing; or a larger board of which a solution is given but for a
/// few rows.
fn random_case(random: &mut Rng) -> GivenBoard {
    match random.u32(..8) {
        0 => GivenBoard::free(size(random.u32(1..=11))),
        1 | 2 => nearly_full(random),
        at => random_board(size(random.u32(1..=12)), random, at > 5),
    }
}

/// Most queens of an image of a solution, and some holes.
fn nearly_full(random: &mut Rng) -> GivenBoard {
    // On boards of these sizes, queens a knight's move apart are a solution.
    let n = [12_u8, 16, 18, 22, 24][random.usize(..5)];
    let column = |row: u8| (2 * row + 1) % (n + 1);
    let image = Symmetry::ALL[random.usize(..8)];
    let queens = (0..n).map(|row| image.apply(size(n.into()), Square::new(row, column(row))));
    let mut queens: Vec<Square> = queens.collect();
    random.shuffle(&mut queens);
    queens.truncate((n - random.u8(4..=9)).into());
    let holes = (0..random.u8(..4)).map(|_| Square::new(random.u8(..n), random.u8(..n)));
    let holes = holes.filter(|hole| !queens.contains(hole)).collect();
    let with = |holes: Vec<Square>| GivenBoard::new(size(n.into()), queens.iter().copied(), holes);
    with(holes).or_else(|_| with(Vec::new())).unwrap()
}

/// One way to count, in words of the command line.
struct How {
    /// What is counted.
    what: Vec<String>,
    audit: &'static str,
}

impl How {
    fn random(board: &GivenBoard, unique: bool, random: &mut Rng) -> Self {
        let [queens, holes] = board.names();
        let n = board.size().to_string();
        let mut what: Vec<String> = ["-n", &n].map(str::to_owned).to_vec();
        for (flag, squares) in [("--queens", queens), ("--holes", holes)] {
            if !squares.is_empty() {
                what.extend([flag.to_owned(), squares]);
            }
        }
        if !unique {
            what.push("--no-unique".to_owned());
        }
        let engine = ["chain", "colour", "auto"][random.usize(..3)];
        what.extend(["--engine", engine].map(str::to_owned));
        let audit = ["0", "0.001", "0.001", "1"][random.usize(..4)];
        Self { what, audit }
    }

    /// Calls the program with random workers and a random kernel.
    fn command(&self, words: &[&str], random: &mut Rng) -> std::process::Command {
        let mut command = queenfold(words);
        command.env("QUEENFOLD_RUN_AUDIT", self.audit);
        command.args([
            "--json",
            "--quiet",
            "--workers",
            &random.u32(1..=3).to_string(),
        ]);
        let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available());
        let isas: Vec<Isa> = isas.collect();
        command.args(["--isa", isas[random.usize(..isas.len())].name()]);
        command.args(["--gpu", "off"]);
        command
    }

    /// Calls it to its end.
    fn output(&self, words: &[&str], random: &mut Rng) -> Option<Json> {
        let output = self.command(words, random).output().unwrap();
        let (code, out, err) = said(&output);
        assert_eq!(code, 0, "{words:?} of {:?}: {err}", self.what);
        (!out.is_empty()).then(|| serde_json::from_str(&out).unwrap())
    }

    /// Begins a run, or a shard of it, in `dir`, and kills it a few times. Goes on until it is done.
    fn in_pieces(&self, dir: &Path, shard: Option<&str>, random: &mut Rng) -> (Option<Json>, u32) {
        let begin = |dir| {
            let mut words = vec!["run", "--dir", dir];
            words.extend(self.what.iter().map(String::as_str));
            words.extend(shard.into_iter().flat_map(|shard| ["--shard", shard]));
            words
        };
        let mut killed = 0;
        for last in (0..random.u32(1..5)).rev() {
            let words = match dir.join(FILE).exists() {
                true => vec!["resume", text(dir)],
                false => begin(text(dir)),
            };
            if last == 0 {
                return (self.output(&words, random), killed);
            }
            let mut child = Running::of(&mut self.command(&words, random));
            std::thread::sleep(Duration::from_millis(random.u64(..60)));
            killed += u32::from(child.try_wait().unwrap().is_none());
        }
        unreachable!("the last piece returns")
    }
}

/// Counts a random board in a random way. Says how.
fn differs_nowhere(random: &mut Rng) -> String {
    let board = random_case(random);
    let unique = random.u32(..4) > 0;
    let how = How::random(&board, unique, random);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let (mut killed, mut twice) = (0, how.audit != "0");
    let way = random.u32(..4);
    let result = match way {
        0 => {
            let mut words = vec!["run"];
            words.extend(how.what.iter().map(String::as_str));
            how.output(&words, random)
        }
        1 | 2 => {
            let (mut result, kills) = how.in_pieces(&dir, None, random);
            killed += kills;
            if way == 2 {
                twice = true;
                result = how.output(&["verify", "--again", text(&dir)], random);
            }
            result
        }
        _ => {
            let shards = random.u32(2..=5);
            let parts: Vec<_> = (0..shards)
                .map(|shard| {
                    let part = folder.path().join(format!("part{shard}"));
                    let shard = format!("{shard}/{shards}");
                    killed += how.in_pieces(&part, Some(&shard), random).1;
                    part
                })
                .collect();
            let mut words = vec!["gather", "--into", text(&dir)];
            words.extend(parts.iter().map(|part| text(part)));
            let (code, _, err) = of(&words);
            assert_eq!(code, 0, "{err}");
            how.output(&["resume", text(&dir)], random)
        }
    };
    let result = result.unwrap();
    let expected = counts(&board, &completions(board));
    let number = |key: &str| result[key].as_str().map(|text| text.parse().unwrap());
    let counted = Counts {
        total: number("total").unwrap(),
        unique: number("unique").unwrap_or(expected.unique),
        r180: number("r180").unwrap_or(expected.r180),
        r90: number("r90").unwrap_or(expected.r90),
    };
    assert_eq!(counted, expected, "{} {:?}", board.in_words(), how.what);
    assert_eq!(number("unique").is_some(), unique);
    let expected = match (board.is_free(), twice) {
        (true, _) => "known",
        // Audits of the shards.
        (_, true) if way == 3 => "claimed",
        (_, true) => "twice",
        _ => "once",
    };
    let checked = &result["checked"];
    // One worker alone counts one of the two tasks of the smallest board once.
    if checked != "sampled 1/2" || board.size().get() > 1 {
        assert_eq!(checked, expected, "{}", board.in_words());
    }
    let way = [
        "run",
        "killed run",
        "killed run, again",
        "killed shards, merged",
    ][way as usize];
    format!(
        "{} of {}, {way}, {killed} kills, audit {}: {}",
        how.what.last().unwrap(),
        board.in_words(),
        how.audit,
        counted.total
    )
}

#[test]
fn the_program_counts_as_a_plain_search_does() {
    random_cases(8, differs_nowhere);
}

#[test]
#[ignore = "long: see the head of this file"]
fn the_program_counts_as_a_plain_search_does_in_many_cases() {
    random_cases(1000, differs_nowhere);
}
