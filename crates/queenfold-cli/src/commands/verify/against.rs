//! Compares the records of two runs.

use std::path::Path;

use serde_json::json;

use crate::exit::Failure;
use crate::output::{print, print_json};
use queenfold::engine::TaskKey;
use queenfold::words::several;
use queenfold_ledger::certificate::open_source;
use queenfold_ledger::ledger::{CountedWhere, differences};

/// Lists the tasks that both runs have and whose counts differ.
pub fn against(runs: [&Path; 2], to_json: bool) -> Result<(), Failure> {
    let found = differences(runs.into_iter().map(open_source))?;
    let differing = found.differing.len() as u64;
    if to_json {
        let count = |of: &CountedWhere| {
            json!({
                "dir": of.dir.display().to_string(),
                "tally": of.tally,
                "counted_by": of.counted_by,
                "worker": of.worker,
                "host": of.host,
            })
        };
        let task = |(task, counts): &(TaskKey, Vec<CountedWhere>)| {
            json!({
                "plan": format!("{}-{}", task.engine, task.version),
                "task": task.index,
                "counts": counts.iter().map(count).collect::<Vec<_>>(),
            })
        };
        let differing: Vec<_> = found.differing.iter().map(task).collect();
        print_json(&json!({"common": found.common, "differing": differing}))?;
    } else {
        let common = several(found.common, "task");
        let mut lines = format!("compared  {common} of both runs, {differing} different");
        for (task, counts) in &found.differing {
            lines += &format!("\ntask {task}");
            for CountedWhere {
                dir,
                tally,
                counted_by,
                worker,
                host,
            } in counts
            {
                let (dir, tally) = (dir.display(), tally.exact());
                lines += &format!("\n  {dir}: {tally} by {counted_by} ({host}/{worker})");
            }
        }
        print(&lines)?;
    }
    match differing {
        0 => Ok(()),
        tasks => {
            let tasks = several(tasks, "task");
            Err(Failure::counts_differ([format!(
                "counts of {tasks} differ"
            )]))
        }
    }
}
