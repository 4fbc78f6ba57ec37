use serde_json::json;

use crate::board::{Size, known};
use crate::cli::engines;
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;
use crate::cli::session::Session;
use crate::config::Config;
use crate::engine::Engine;

/// Flags of `census`.
#[derive(Debug, clap::Args)]
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
    let session = Session::new(&Config::default())?;
    let report = session.count(n, vec![engines::plan(Engine::Census, n)])?;
    let tally = report
        .tallies
        .get(&Engine::Census)
        .copied()
        .unwrap_or_default();
    let counted = (tally.r180, tally.r90);
    if let Some(known) = known(n).map(|known| (known.r180, known.r90))
        && known != counted
    {
        return Err(Failure::new(
            Exit::Mismatch,
            format!("n = {n}: counted r180, r90 = {counted:?}, but {known:?} is known"),
        ));
    }
    let seconds = report.elapsed.as_secs_f64();
    let (r180, r90) = (counted.0.to_string(), counted.1.to_string());
    print(&if json {
        json!({"n": n, "r180": r180, "r90": r90, "seconds": seconds}).to_string()
    } else {
        format!("n        {n}\nr180     {r180}\nr90      {r90}\nseconds  {seconds:.3}")
    })
}
