use super::engines;
use super::exit::{Exit, Failure};
use super::flags::Flags;
use super::print;
use super::record::Record;
use super::session::Session;
use super::table::Table;
use crate::engine::{Engine, Tally};
use crate::outcome::Outcome;

const HELP: &str = "\
Examples:
  queenfold run -n 16
  queenfold run -n 4..=14 --json
  queenfold run -n 18 --workers 4 --time-limit 10m

One row for each board: its size, all solutions, those that differ by more than a rotation or
reflection, and the time it took. Ctrl-C stops when the work in flight is done, a second one at
once.";

/// Flags of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Counts, and prints a result for each board as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let config = settings.config();
    let sizes = config.run.n.0.ok_or_else(|| {
        Failure::usage("no board: give -n N or -n A..=B, or set run.n in a configuration file")
    })?;
    let session = Session::new(config)?;
    let table = Table::new(sizes.last());
    let json = config.output.json;
    let mut header = (!json).then(|| table.header());
    for n in sizes.iter() {
        let engine = engines::choose(config.run.engine, n);
        let plan = engines::plan(engine, n);
        let census = config.run.unique.then(|| engines::plan(Engine::Census, n));
        let plans = [Some(plan.clone()), census].into_iter().flatten().collect();
        let report = session.count(n, plans)?;
        let tally = |engine| report.tallies.get(&engine);
        let outcome = Outcome::new(
            n,
            tally(engine).unwrap_or(&Tally::default()),
            tally(Engine::Census),
        )
        .map_err(|contradiction| Failure::new(Exit::Mismatch, contradiction))?;
        // Not before there is a row to stand above.
        if let Some(header) = header.take() {
            print(&header)?;
        }
        print(&if json {
            Record::new(&outcome, plan.as_ref(), &session, &report).to_json()?
        } else {
            table.row(&outcome, report.elapsed)
        })?;
    }
    session.finish()
}
