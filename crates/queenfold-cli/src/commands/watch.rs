//! `queenfold watch`: the dashboard of a run that another process counts.

use std::path::PathBuf;

use crate::dashboard::watch;
use crate::exit::Failure;
use crate::shell::command_on;
use queenfold_ledger::cluster::ArrayDirectory;

/// Flags of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold watch n24

The run may have been started on another machine that shares the directory. The keys p (pause) and d (stop) \
work there, too: they leave a request in the directory, and the run takes it within a second. The key q \
leaves the dashboard, and the run goes on. When the run has ended, its status is printed. `queenfold status --watch` \
shows a job array.")]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,
}

/// Shows a dashboard of a run that another process counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    if ArrayDirectory::is_there(&args.dir) {
        let (dir, status) = (args.dir.display(), command_on("status", &args.dir));
        let what = format!("{dir} holds a job array: `{status} --watch` shows its shards");
        return Err(Failure::usage(what));
    }
    watch(&args.dir)
}
