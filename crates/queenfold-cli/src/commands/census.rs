//! `queenfold census`: counts the solutions that a half turn or a quarter turn fixes.

use serde_json::json;

use crate::args::boards::{Boards, given_line};
use crate::config::Config;
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::session::job_runner::JobRunner;
use queenfold::board::GivenSquares;

/// Flags of `census`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold census -n 16
  queenfold census -n 4..=20 --json
  queenfold census -n 12 --holes a1,l12    those of the completions of a given board")]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    /// Print each result as JSON, one object on each line
    #[arg(long)]
    json: bool,
}

/// Counts the solutions fixed by a half turn (r180) and by a quarter turn (r90).
pub fn run(args: &Args) -> Result<(), Failure> {
    let runner = JobRunner::new(&Config::default(), args.json)?;
    for (at, board) in args.boards.all()?.into_iter().enumerate() {
        let n = board.size();
        let census = runner.census(board)?;
        let seconds = census.report.elapsed.as_secs_f64();
        let (r180, r90) = (census.r180.to_string(), census.r90.to_string());
        if args.json {
            print_json(&json!({
                "n": n,
                "given": GivenSquares::of(&board),
                "r180": r180,
                "r90": r90,
                "checked": census.checked,
                "seconds": seconds,
            }))?;
            continue;
        }
        let gap = if at > 0 { "\n" } else { "" };
        let given = given_line(&board).map(|given| given.replacen(' ', "    ", 1) + "\n");
        print(&format!(
            "{gap}n        {n}\n{}r180     {r180}\nr90      {r90}\nchecked  {}\nseconds  {seconds:.3}",
            given.unwrap_or_default(),
            census.checked
        ))?;
    }
    Ok(())
}
