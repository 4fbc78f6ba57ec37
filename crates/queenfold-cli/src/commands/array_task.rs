//! What an array task does: it counts a shard that nobody else does.

use std::cell::Cell;
use std::path::Path;

use crate::commands::config::kept;
use crate::config::Layers;
use crate::control::live_run::last_said;
use crate::exit::Failure;
use crate::output::say;
use crate::print::board_result::BoardResult;
use crate::print::result_table::Printer;
use crate::session::job_runner::JobRunner;
use crate::telemetry::printable;
use queenfold::actors::RunState;
use queenfold::job::Job;
use queenfold_ledger::cluster::{ArrayDirectory, ArrayShard, ShardState};
use queenfold_ledger::ledger::{LedgerError, host_name, is_held};
use queenfold_ledger::run_directory::{RunDirectory, RunDirectoryError};

/// Counts the shard that has the number `task`, or if that is counted, or not for this host, the next one that is free. Where
/// hosts share nothing, none knows what is free, so it is that shard or none. Prints `json` or a table.
///
/// # Errors
/// There is no such array, nothing is left that this host may count, the run was stopped, or it failed.
pub fn array_task(dir: &Path, task: u64, settings: &Layers, json: bool) -> Result<(), Failure> {
    let directory = ArrayDirectory::open(dir)?;
    let array = directory.array();
    if array.shard(task).is_none() {
        let (dir, last) = (dir.display(), array.shards() - 1);
        return Err(Failure::usage(format!(
            "--task {task}: {dir} has the shards 0 to {last}"
        )));
    }
    let runner = JobRunner::new(settings.config(), json)?;
    let mut tried = Vec::new();
    loop {
        let Some((index, shard)) = next(&directory, dir, task, &tried)? else {
            let dir = dir.display();
            say(&printable(&format!("{dir}: nothing is left to count")));
            return Ok(());
        };
        let path = dir.join("shards").join(index.to_string());
        if index != task {
            let what = "is counted, being counted, or not for this host";
            let dir = dir.display();
            say(&printable(&format!(
                "shard {task} of {dir} {what}: shard {index} takes its place"
            )));
        }
        let plan = array.plans().swap_remove(0);
        let job = Job::of(plan).unique(array.is_unique());
        let is_taken = Cell::new(false);
        let counted = runner.run(&job, Some(&path), |how, hardware| {
            let is_again = shard.again.is_some();
            let run = match RunDirectory::resume(&path) {
                Err(LedgerError::NoRun(_)) => RunDirectory::create(&path, &job).shard(shard.shard),
                begun => begun?,
            };
            let run = run.settings(how).configuration(kept(settings));
            let run = run.other_way(is_again).run_on(hardware);
            // Somebody else was faster.
            let is_other = |error: &LedgerError| {
                matches!(error, LedgerError::Locked { .. } | LedgerError::Exists(_))
                    || is_held(&path)
            };
            is_taken.set(matches!(&run, Err(RunDirectoryError::Ledger(error)) if is_other(error)));
            run.map(BoardResult::from)
        });
        if is_taken.get() && !directory.shares_nothing() {
            tried.push(index);
            continue;
        }
        let counted = counted.map_err(|failure| failure.what_helps(&path))?;
        if let Some(counted) = &counted {
            Printer::new(job.size(), json).print(counted)?;
        }
        return Ok(());
    }
}

/// The first shard of the array in `dir` from `task` on that is free. Those that were `tried` are not. `None` if all shards are
/// counted, or are being counted.
///
/// # Errors
/// What is left is for other hosts.
fn next<'a>(
    directory: &'a ArrayDirectory,
    dir: &Path,
    task: u64,
    tried: &[u64],
) -> Result<Option<(u64, &'a ArrayShard)>, Failure> {
    let host = host_name();
    let array = directory.array();
    let is_alone = directory.shares_nothing();
    let mut is_for_others = false;
    let order = match is_alone {
        true => (task..task + 1).chain(0..0),
        false => (task..array.shards()).chain(0..task),
    };
    for index in order.filter(|index| array.is_to_count(*index) && !tried.contains(index)) {
        let Some(shard) = array.shard(index) else {
            continue;
        };
        let path = directory.shard(index);
        // The ledger tells of the shard that was asked for; of the others, what their runs said last, because there may be
        // thousands.
        let own = || directory.state_of(index, &directory.division(&array.plans()));
        let is_finished = || match index == task {
            true => matches!(own(), Ok((ShardState::Finished, _))),
            false => last_said(&path).is_some_and(|of| of.progress.state == RunState::Finished),
        };
        if !is_alone && (is_held(&path) || is_finished()) {
            continue;
        }
        if shard.again.as_ref() != Some(&host) {
            return Ok(Some((index, shard)));
        }
        is_for_others = true;
    }
    match is_for_others {
        true => Err(Failure::counted_here(dir)),
        false => Ok(None),
    }
}
