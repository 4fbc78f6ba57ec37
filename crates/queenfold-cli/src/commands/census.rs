//! Counts the solutions that a half turn or a quarter turn fixes.

use serde_json::json;

use crate::args::boards::given_line;
use crate::config::Config;
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::session::job_runner::JobRunner;
use queenfold::board::{GivenBoard, GivenSquares};
use queenfold::job::DeviceChoice;

/// Counts the solutions of boards that a half turn (r180) and a quarter turn (r90) fix. No device has a kernel for them.
pub fn census(boards: Vec<GivenBoard>, config: &Config, to_json: bool) -> Result<(), Failure> {
    let mut config = config.clone();
    config.run.gpu.choice = DeviceChoice::Off;
    let runner = JobRunner::new(&config, to_json)?;
    for (at, board) in boards.into_iter().enumerate() {
        let n = board.size();
        let census = runner.census(board)?;
        let seconds = census.report.elapsed.as_secs_f64();
        let (r180, r90) = (census.r180.to_string(), census.r90.to_string());
        if to_json {
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
