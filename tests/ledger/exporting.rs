//! An exported log is read back as the results it was made of, or refused.

use std::io::{self, Write};

use queenfold::ledger::{ExportError, export, read_export};

use super::*;

fn exported(dir: &Path, n: u32) -> String {
    let mut out = Vec::new();
    let store = Store::open_to_read(dir).unwrap();
    let records = export(&store, &plans(n), &mut out).unwrap().unwrap();
    let lines = out.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(records, lines as u64 - 1);
    String::from_utf8(out).unwrap()
}

fn read(log: &str, n: u32) -> Result<(Vec<Entry>, String), ExportError> {
    let mut entries = Vec::new();
    let read = read_export(log.as_bytes(), &plans(n), |task| entries.push(task.record))?;
    Ok((entries, read.signature.to_string()))
}

#[test]
fn an_exported_log_gives_the_results_again() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    let (entries, digest) = read(&exported(dir.path(), N), N).unwrap();
    assert_eq!(entries, records(dir.path()).unwrap());
    assert_eq!(digest, signature(dir.path()));
    let sum = |engine| -> Tally {
        let results = entries.iter().map(|entry| &entry.result);
        let of_engine = results.filter(|result| result.key.engine == engine);
        of_engine.map(|result| result.tally).sum()
    };
    let [all, census] = [Engine::Chain, Engine::Census].map(sum);
    let outcome = Outcome::new(size(N), &all, Some(&census)).unwrap();
    assert_eq!(outcome.total, known(size(N)).unwrap().total);
}

#[test]
fn a_changed_log_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 13);
    let log = exported(dir.path(), 13);
    let lines: Vec<_> = log.lines().collect();
    let refusal = |lines: &[&str], n| read(&lines.join("\n"), n).unwrap_err().to_string();
    // Every digit of the first line counts.
    for (at, digit) in lines[0].char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        let other = if digit == '3' { "4" } else { "3" };
        let mut changed = lines[0].to_owned();
        changed.replace_range(at..=at, other);
        let refused = refusal(&[&[changed.as_str()], &lines[1..]].concat(), 13);
        assert!(refused.starts_with("line 1 "), "{changed}: {refused}");
    }
    let last = lines.len();
    let swapped = [&[lines[1], lines[0]], &lines[2..]].concat();
    for (lines, n, says) in [
        (&lines[..last - 1], 13, "the signature is missing"),
        (&lines[..0], 13, "the signature is missing"),
        (&lines[1..], 13, "not that of the lines before it"),
        (&swapped, 13, "not that of the lines before it"),
        (&[&lines[..], &lines[..1]].concat(), 13, "ends above"),
        (
            &lines,
            14,
            "line 1 of the exported log: the run has no plan",
        ),
    ] {
        let refused = refusal(lines, n);
        assert!(refused.contains(says), "{refused}");
    }
}

/// The digest of a line covers the numbers, not their text.
#[test]
fn a_count_of_a_log_has_one_form() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 13);
    let log = exported(dir.path(), 13);
    for form in ["\"00", "\"+"] {
        let (before, after) = log.split_once("\"8\":\"").unwrap();
        let changed = format!("{before}\"8\":{form}{after}");
        let refused = read(&changed, 13).unwrap_err().to_string();
        assert!(
            refused.contains("without a sign or leading zeros"),
            "{refused}"
        );
    }
}

/// An output that takes this many bytes and then fails.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_more_is_read_when_the_output_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    // Whoever reads to the end finds this.
    sqlite(dir.path())
        .execute(
            "UPDATE record SET nodes = nodes + 1 WHERE engine = 'chain' AND task = 9",
            [],
        )
        .unwrap();
    let store = Store::open_to_read(dir.path()).unwrap();
    let export = |bytes| export(&store, &plans(N), Full(bytes));
    let gone = export(1000).unwrap().unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::BrokenPipe);
    let damaged = export(usize::MAX);
    assert!(
        matches!(damaged, Err(LedgerError::Damaged { .. })),
        "{damaged:?}"
    );
}
