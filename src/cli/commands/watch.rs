use std::path::PathBuf;

#[cfg(feature = "tui")]
use crate::cli::dashboard::{watch, watch_array};
use crate::cli::exit::Failure;
#[cfg(not(feature = "tui"))]
use crate::cli::shell::command_on;
#[cfg(feature = "tui")]
use crate::cluster::ArrayDirectory;
#[cfg(not(feature = "tui"))]
use crate::device::needs_feature;

/// Flags of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold watch n24
  queenfold watch array-n24            the shards of a job array, and its hosts

The run may have been started on another machine that shares the directory. The keys p (pause) and d (stop) \
work there, too: they leave a request in the directory, and the run takes it within a second. The key q \
leaves the dashboard, and the run goes on. When the run has ended, its status is printed. In a job array, the keys \
p and d are for all shards that are counted at the moment.")]
pub struct Args {
    /// The directory of the run, or of a job array
    dir: PathBuf,
}

/// Shows a dashboard of a run, or of a job array, that other processes count.
pub fn run(args: &Args) -> Result<(), Failure> {
    #[cfg(feature = "tui")]
    return match ArrayDirectory::is_there(&args.dir) {
        true => watch_array(&args.dir),
        false => watch(&args.dir),
    };
    #[cfg(not(feature = "tui"))]
    Err(Failure::usage(format!(
        "{}; `{} --watch` prints the state of the run",
        needs_feature("`watch`", "tui"),
        command_on("status", &args.dir)
    )))
}
