//! `queenfold status`: how far a run or a job array is.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use console::{Term, truncate_str};

use crate::dashboard::{Screen, watch};
use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::print::array_report::array_report;
use crate::print::run_status::directory_report;
use crate::print::status_text::StatusReport;
use queenfold::words::several;
use queenfold_ledger::cluster::ArrayDirectory;

/// How often `--watch` reads the ledger.
const EVERY: Duration = Duration::from_secs(2);

/// `--watch` waits this many times as long as reading took, so that large ledgers are read less often.
const READING: u32 = 10;

/// Flags of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold status n20
  queenfold status --watch n20         on a dashboard; pause or stop it there
  queenfold status n20 --json
  queenfold status n20 --check         and whether the records are whole
  queenfold status array-n24           how far the shards of a job array are

Shows what was recorded up to the last checkpoint, which a running process makes every second. \
Reading does not disturb the run. The time left of an array is that for as many shards as are \
counted now. What is recorded is believed here; with --check each record is checked, and \
--json has the solutions counted so far.

--watch shows a run on a dashboard where there is a terminal; otherwise, and of a job array, it prints the text again every \
two seconds. The run may have been started on another machine that shares the directory. The keys p (pause) and d (stop) \
work there, too: they leave a request in the directory, and the run takes it within a second. The key q \
leaves the dashboard, and the run goes on. When the run has ended, its status is printed.")]
pub struct Args {
    /// The directory of the run, or of a job array
    dir: PathBuf,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,

    /// Check the file and the digest of each record, as all commands do that give out a result; for millions of tasks
    /// this takes a minute
    #[arg(long)]
    check: bool,

    /// Show a dashboard, or repeat every two seconds, until the run is finished or stopped, or all shards of the array are
    /// finished
    #[arg(long)]
    watch: bool,
}

/// Shows how far a run or a job array is.
pub fn run(args: &Args) -> Result<(), Failure> {
    if ArrayDirectory::is_there(&args.dir) {
        let directory = ArrayDirectory::open(&args.dir)?;
        // No shard may run for days while all wait in the queue.
        return show(args, || Ok(array_report(&directory, &args.dir)?));
    }
    let is_seen = Term::stdout().is_term() && Screen::missing().is_none();
    if args.watch && !args.json && is_seen {
        return watch(&args.dir);
    }
    let mut division = None;
    show(args, || {
        directory_report(&args.dir, args.check, &mut division)
    })
}

/// Shows what `read` finds: once, or with `--watch` until nothing will change.
fn show(
    args: &Args,
    mut read: impl FnMut() -> Result<StatusReport, Failure>,
) -> Result<(), Failure> {
    let terminal = Term::stdout();
    let redraws = args.watch && !args.json && terminal.is_term();
    let mut lines = 0;
    loop {
        let begun = Instant::now();
        let shown = read()?;
        match redraws {
            true => lines = redraw(&terminal, lines, &shown.text())?,
            false if args.json => print_json(&shown.json())?,
            false => print(&shown.text())?,
        }
        if !args.watch || shown.is_last {
            return Ok(());
        }
        if !args.json && !redraws {
            print("")?;
        }
        std::thread::sleep(EVERY.max(begun.elapsed() * READING));
    }
}

/// Shows a text on a terminal in place of that of so many lines. Returns its own lines.
fn redraw(terminal: &Term, before: usize, text: &str) -> io::Result<usize> {
    let (rows, columns) = terminal.size();
    let shown = clipped(text, rows.into(), columns.into());
    terminal.clear_last_lines(before)?;
    terminal.write_line(&shown)?;
    Ok(shown.lines().count())
}

/// The text cut to a terminal of this size, with a row below it for the cursor: a line that wraps, or
/// leaves the screen, could not be replaced.
fn clipped(text: &str, rows: usize, columns: usize) -> String {
    let mut lines: Vec<_> = text
        .lines()
        .map(|line| truncate_str(line, columns, "…").into_owned())
        .collect();
    let room = rows.saturating_sub(1).max(1);
    if lines.len() > room {
        let hidden = several((lines.len() + 1 - room) as u64, "line");
        lines.truncate(room - 1);
        lines.push(format!("… {hidden} more"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::clipped;

    #[test]
    fn what_is_redrawn_fits_the_screen() {
        let text = (0..30).map(|line| format!("{line} {}\n", "x".repeat(50)));
        let text: String = text.collect();
        for (rows, columns) in [(24, 80), (24, 40), (5, 10), (1, 3)] {
            let shown = clipped(&text, rows, columns);
            assert!(shown.lines().count() < rows.max(2), "{shown}");
            assert!(
                shown
                    .lines()
                    .all(|line| line.chars().count() <= columns.max(15)),
                "{shown}"
            );
        }
        assert!(clipped(&text, 24, 80).ends_with("… 8 lines more"));
        assert_eq!(clipped("a\nb", 24, 80), "a\nb");
    }
}
