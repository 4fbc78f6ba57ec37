use serde_json::json;

use crate::board::GivenSquares;
use crate::cli::exit::Failure;
use crate::cli::flags::OneBoard;
use crate::cli::job_runner::JobRunner;
use crate::cli::output::print;
use crate::config::Config;

/// Flags of `census`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold census -n 16
  queenfold census -n 20 --json
  queenfold census -n 12 --holes a1,l12    those of the completions of a given board")]
pub struct Args {
    #[command(flatten)]
    board: OneBoard,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Counts the solutions fixed by a half turn (r180) and by a quarter turn (r90).
pub fn run(Args { board, json }: &Args) -> Result<(), Failure> {
    let board = board.board()?;
    let n = board.size();
    let runner = JobRunner::new(&Config::default())?;
    let census = runner.census(board)?;
    let seconds = census.report.elapsed.as_secs_f64();
    let (r180, r90) = (census.r180.to_string(), census.r90.to_string());
    if *json {
        let mut json = json!({"n": n, "r180": r180, "r90": r90, "checked": census.checked, "seconds": seconds});
        if let Some(given) = GivenSquares::of(&board) {
            json["given"] = json!(given);
        }
        return print(&json.to_string());
    }
    let given = match board.is_free() {
        true => String::new(),
        false => format!(
            "given    {}; symmetries {}\n",
            board.brief(),
            board.symmetries()
        ),
    };
    print(&format!(
        "n        {n}\n{given}r180     {r180}\nr90      {r90}\nchecked  {}\nseconds  {seconds:.3}",
        census.checked
    ))
}
