//! The dashboard of a run that another process counts, perhaps on another machine.

use std::path::Path;
use std::time::Duration;

use super::{Shown, show};
use crate::control::live_run::old;
use crate::control::signals;
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::print::run_status::directory_report;
use crate::telemetry::{Snapshot, printable};
use queenfold::words::duration;
use queenfold_ledger::ledger::{Asked, Asker, Store, is_held, put_request, read_live};

/// Shows the run in `dir` while another process counts it, and its status at the end.
///
/// # Errors
/// There is no run, or the terminal is gone.
pub fn watch(dir: &Path) -> Result<(), Failure> {
    // Whether it is a run directory at all.
    Store::open_to_glance(dir)?;
    if is_held(dir) {
        // A signal gives the screen back and ends the program.
        signals::listen(|| signals::end_at_once(Exit::Interrupted), None)?;
        // A run writes its state once it is planned.
        let is_told = (0..40).any(|tries| {
            std::thread::sleep(Duration::from_millis(50) * tries.min(1));
            look(dir).is_some()
        });
        if !is_told {
            return Err(Failure::new(
                Exit::Error,
                format!(
                    "{}: the process that works on it has not written what it does; `queenfold status` shows \
                     what is recorded",
                    dir.display()
                ),
            ));
        }
        let by = Asker::Watch;
        let ask = |request| put_request(dir, Asked { request, by });
        let end = show(|| look(dir), ask, None);
        if end.map_err(|error| Failure::new(Exit::Error, error))? {
            return Ok(());
        }
    } else {
        say("no process works on this run");
    }
    print(&directory_report(dir, false, &mut None)?.text())
}

fn look(dir: &Path) -> Shown {
    let text = read_live(dir).ok().flatten().filter(|_| is_held(dir))?;
    match Snapshot::read(&text) {
        Ok(mut snapshot) => {
            // It may have been moved, and another machine may know it by another name.
            snapshot.directory = Some(dir.to_owned());
            let note = old(&snapshot).map(|old| {
                format!(
                    "this is how it was {} ago, by the clocks of both machines",
                    duration(old)
                )
            });
            Some((snapshot, note))
        }
        Err(why) => {
            say(&printable(&format!(
                "{}: {why}",
                dir.join("live.json").display()
            )));
            None
        }
    }
}
