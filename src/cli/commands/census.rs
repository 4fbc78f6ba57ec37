use serde_json::json;

use crate::board::Size;
use crate::cli::exit::Failure;
use crate::cli::job_runner::JobRunner;
use crate::cli::output::print;
use crate::config::Config;

/// Flags of `census`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold census -n 16
  queenfold census -n 20 --json")]
pub struct Args {
    /// Board size, 1 to 32
    #[arg(short, value_name = "N", allow_hyphen_values = true)]
    n: Size,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Counts the solutions fixed by a half turn (r180) and by a quarter turn (r90).
pub fn run(&Args { n, json }: &Args) -> Result<(), Failure> {
    let runner = JobRunner::new(&Config::default())?;
    let census = runner.census(n)?;
    let seconds = census.report.elapsed.as_secs_f64();
    let (r180, r90) = (census.r180.to_string(), census.r90.to_string());
    print(&if json {
        json!({"n": n, "r180": r180, "r90": r90, "seconds": seconds}).to_string()
    } else {
        format!("n        {n}\nr180     {r180}\nr90      {r90}\nseconds  {seconds:.3}")
    })
}
