//! The dashboard of a job array, whose shards other processes count, perhaps on other machines.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::array_view::ArrayMoment;
use super::{End, Screen, Shown, Steer, show};
use crate::cli::control::signals;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::print;
use crate::cli::print::array_report::ArrayReport;
use crate::cluster::{ArrayDirectory, ArrayError};
use crate::ledger::{Asked, Asker, Request, put_request};
use crate::system::threads::start;
use crate::telemetry::Speeds;

/// How often the shards are read.
const EVERY: Duration = Duration::from_secs(2);

/// They are read again after so many times as long as reading took, so that large arrays are read less often.
const READING: u32 = 10;

/// How many readings the picture of the speed goes back.
const MOST_SPEEDS: usize = 600;

/// The latest reading; `None` if the shards cannot be read any more.
type Latest = Arc<Mutex<Option<Arc<ArrayMoment>>>>;

/// Shows the job array in `dir` until nothing of it is left to count, and its status at the end.
///
/// # Errors
/// There is no array, a shard of it is damaged, or there is no terminal to show it.
pub fn watch(dir: &Path) -> Result<(), Failure> {
    let mut reader = Reader {
        directory: ArrayDirectory::open(dir)?,
        dir: dir.to_owned(),
        speeds: Speeds {
            each: EVERY,
            nodes_per_second: Vec::new(),
        },
    };
    let first = reader.read()?;
    if !first.report.is_done() {
        Screen::demand()?;
        // A signal gives the screen back and ends the program.
        signals::listen(|| signals::end_at_once(Exit::Interrupted), None)?;
        let latest: Latest = Arc::new(Mutex::new(Some(Arc::new(first))));
        let steer = Shards(reader.directory.clone(), Arc::clone(&latest));
        let refused = |error: io::Error| Failure::new(Exit::Error, error);
        // Many shards take long to read, and the keys do not wait for it.
        let followed = Arc::clone(&latest);
        start("shards", move || reader.follow(&followed)).map_err(refused)?;
        let look = || match latest.lock().clone() {
            Some(moment) if !moment.report.is_done() => Shown::Picture(moment, None),
            _ => Shown::Over,
        };
        if show(look, &mut { steer }).map_err(refused)? == End::Left {
            return Ok(());
        }
    }
    // Or what is wrong.
    let directory = ArrayDirectory::open(dir)?;
    print(&ArrayReport::read(&directory)?.text(&directory, dir))
}

/// Reads the shards of an array.
struct Reader {
    directory: ArrayDirectory,
    /// Its directory as the user named it.
    dir: PathBuf,
    speeds: Speeds,
}

impl Reader {
    /// Reads until that fails.
    fn follow(mut self, latest: &Latest) {
        let mut took = Duration::ZERO;
        loop {
            thread::sleep(EVERY.max(took * READING));
            let begun = Instant::now();
            let read = self.read().ok().map(Arc::new);
            let is_last = read.is_none();
            *latest.lock() = read;
            if is_last {
                return;
            }
            took = begun.elapsed();
        }
    }

    fn read(&mut self) -> Result<ArrayMoment, ArrayError> {
        let report = ArrayReport::read(&self.directory)?;
        let speeds = &mut self.speeds.nodes_per_second;
        speeds.push(report.moments.nodes_per_second().unwrap_or_default());
        let too_many = speeds.len().saturating_sub(MOST_SPEEDS);
        speeds.drain(..too_many);
        let mut next_steps = report.next_steps(&self.directory, &self.dir);
        next_steps.extend(report.outdated_scripts(&self.directory, &self.dir));
        Ok(ArrayMoment {
            dir: self.dir.clone(),
            what: self.directory.array().to_string(),
            next_steps,
            speeds: self.speeds.clone(),
            report,
        })
    }
}

/// Asks the processes that work on the shards, as far as the latest reading shows them.
struct Shards(ArrayDirectory, Latest);

impl Shards {
    fn ask(&self, request: Request) -> io::Result<()> {
        let latest = self.1.lock().clone();
        let moments = latest.iter().map(|of| &of.report.moments);
        let mut running = moments.flat_map(|of| of.running.keys());
        let by = Asker::Watch;
        running.try_for_each(|index| put_request(&self.0.shard(*index), Asked { request, by }))
    }
}

impl Steer for Shards {
    fn pause(&mut self, paused: bool) -> io::Result<()> {
        self.ask(match paused {
            true => Request::Pause,
            false => Request::Resume,
        })
    }

    fn stop(&mut self) -> io::Result<()> {
        self.ask(Request::Stop)
    }

    fn is_own(&self) -> bool {
        false
    }
}
