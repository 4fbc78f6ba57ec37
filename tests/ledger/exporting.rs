//! An exported log.

use std::io::{self, Write};

use queenfold::engine::TaskResult;
use queenfold::ledger::{Column, export};
use serde_json::{Value as Json, json};

use super::*;

fn exported(dir: &Path, n: u32) -> String {
    let mut out = Vec::new();
    let store = Store::open_to_read(dir).unwrap();
    let records = export(&store, &plans(n), |line| line.write_to(&mut out))
        .unwrap()
        .unwrap();
    let lines = out.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(records, lines as u64 - 1);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_line_of_a_log_says_what_its_record_holds_and_the_last_one_is_the_signature() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    let log = exported(dir.path(), N);
    let lines: Vec<Json> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, lines) = lines.split_last().unwrap();
    assert_eq!(*last, json!({ "signature": signature(dir.path()) }));
    let records = records(dir.path()).unwrap();
    let key = Store::open_to_read(dir.path()).unwrap().info().key();
    assert_eq!(lines.len(), records.len());
    for (line, entry) in lines.iter().zip(&records) {
        let TaskResult {
            key: task,
            tally,
            origin,
            audited_by,
            duration,
        } = &entry.result;
        let plan = plans(N)
            .into_iter()
            .find(|plan| plan.engine() == task.engine)
            .unwrap();
        let ranks = plan.ranks_of(task.index);
        let [one, two, four, eight] = tally.completions.by_weight().map(|count| count.to_string());
        assert_eq!(
            *line,
            json!({
                "n": N,
                "plan": plan.name().to_string(),
                "engine": task.engine.name(),
                "task": task.index,
                "ranks": [ranks.start, ranks.end],
                "completions": { "1": one, "2": two, "4": four, "8": eight },
                "r180": tally.r180.to_string(),
                "r90": tally.r90.to_string(),
                "partitions": tally.partitions.to_string(),
                "nodes": tally.nodes.to_string(),
                "backend": origin.counted_by.backend(),
                "device": "cpu",
                "worker": origin.worker.to_string(),
                "audited_by": audited_by.as_ref().map(|kernel| kernel.as_str()),
                "session": entry.session,
                "seconds": duration.as_secs_f64(),
                "recorded_at": entry.recorded_at,
                "blake3": entry.digest(Column::Record, &key).to_string(),
            })
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
    let export = |bytes| {
        let mut out = Full(bytes);
        export(&store, &plans(N), |line| line.write_to(&mut out))
    };
    let gone = export(1000).unwrap().unwrap_err();
    assert_eq!(gone.kind(), io::ErrorKind::BrokenPipe);
    let damaged = export(usize::MAX);
    assert!(
        matches!(damaged, Err(LedgerError::Damaged { .. })),
        "{damaged:?}"
    );
}
