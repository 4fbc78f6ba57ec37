use std::path::PathBuf;

#[cfg(feature = "tui")]
use crate::cli::dashboard::watch;
use crate::cli::exit::Failure;
use crate::cli::shell::command_on;
use crate::cluster::ArrayDirectory;
#[cfg(not(feature = "tui"))]
use crate::device::needs_feature;

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
    let status = command_on("status", &args.dir);
    if ArrayDirectory::is_there(&args.dir) {
        let dir = args.dir.display();
        let what = format!("{dir} holds a job array: `{status} --watch` shows its shards");
        return Err(Failure::usage(what));
    }
    #[cfg(feature = "tui")]
    return watch(&args.dir);
    #[cfg(not(feature = "tui"))]
    Err(Failure::usage(format!(
        "{}; `{status} --watch` prints the state of the run",
        needs_feature("`watch`", "tui")
    )))
}
