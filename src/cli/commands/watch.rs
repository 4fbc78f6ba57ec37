use std::path::PathBuf;

#[cfg(feature = "tui")]
use crate::cli::dashboard::watch;
use crate::cli::exit::Failure;

/// Flags of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold watch n24

The run may have been started on another machine that shares the directory. The keys p (pause) and d (stop) \
work there, too: they leave a request in the directory, and the run takes it within a second. The key q \
leaves the dashboard, and the run goes on. When the run has ended, its status is printed.")]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,
}

/// Shows a dashboard of a run that another process counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    #[cfg(feature = "tui")]
    return watch(&args.dir);
    #[cfg(not(feature = "tui"))]
    Err(Failure::usage(format!(
        "watch: this build has no dashboard, because the Cargo feature `tui` is off; `queenfold status --watch \
         {}` prints the state of the run",
        args.dir.display()
    )))
}
