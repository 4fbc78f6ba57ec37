//! What the commands have in common that count tasks again on this machine: the price, the progress, and what a signal
//! prints.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::progress_bar::ProgressLine;
use crate::args::boards::given_line;
use crate::config::{Parser, named};
use crate::control::stop_report::StopReport;
use crate::exit::Failure;
use crate::output::{print, say};
use queenfold::engine::CheckedBy;
use queenfold::job::{DeviceChoice, Hardware, HardwareSettings, RunSettings};
use queenfold::outcome::Outcome;
use queenfold::words::{TimeUnit, several};
use queenfold_ledger::run_directory::{Compared, ToCheck};

/// Listens for signals: the first one ends the program, and prints how many tasks were counted again.
///
/// # Errors
/// Signals cannot be caught.
pub fn listen() -> Result<StopReport, Failure> {
    StopReport::listen("no task was counted again")
}

/// Counts tasks again on all cores of this machine. It says before how long that takes, and a terminal shows how far it is.
/// `words` makes the line of a signal from the number of tasks counted again and how many of them were wrong.
///
/// # Errors
/// The workers cannot count.
pub fn count(
    tasks: &Arc<ToCheck>,
    by: CheckedBy,
    report: StopReport,
    words: fn(u64, u64) -> String,
) -> Result<Compared, Failure> {
    let how = RunSettings {
        hardware: HardwareSettings {
            devices: DeviceChoice::Off,
            ..HardwareSettings::default()
        },
        ..RunSettings::default()
    };
    let hardware = Hardware::find(&how.hardware)?;
    let Some((first, _)) = tasks.said.first_key_value() else {
        return Ok(Compared::default());
    };
    let seconds = tasks.core_seconds(by);
    let method = match by {
        CheckedBy::OtherKernel => "another kernel",
        CheckedBy::Oracle => "the oracle",
    };
    say(&format!(
        "to count again: {} by {method}, {}",
        several(tasks.tasks(), "task"),
        wall_time(tasks.tasks(), seconds, &hardware)
    ));
    let (done, wrong) = (AtomicU64::new(0), AtomicU64::new(0));
    let tell = move |right: bool| {
        let more = u64::from(!right);
        let wrong = wrong.fetch_add(more, Ordering::Relaxed) + more;
        report.note(words(done.fetch_add(1, Ordering::Relaxed) + 1, wrong));
    };
    let _line = ProgressLine::show(first.n, how.control.clone(), None);
    Ok(tasks.count(by, (&how, &hardware), Box::new(tell))?)
}

/// How long so many tasks take that cost so many core-seconds. The last ones leave workers without work.
pub fn wall_time(tasks: u64, core_seconds: f64, hardware: &Hardware) -> String {
    let at_once = tasks.min(hardware.workers as u64).max(1);
    in_words(core_seconds / at_once as f64)
}

/// An expected time in words.
pub fn in_words(seconds: f64) -> String {
    match seconds {
        ..1.0 => "under a second".to_owned(),
        _ => format!("about {}", TimeUnit::of_wall(seconds).of(seconds)),
    }
}

/// Reads what counts tasks again: `kernel` or `oracle`.
pub fn second_method() -> Parser<CheckedBy> {
    const ALL: [CheckedBy; 2] = [CheckedBy::OtherKernel, CheckedBy::Oracle];
    named(ALL, by_name, &[])
}

/// What [`second_method`] reads.
pub const fn by_name(by: CheckedBy) -> &'static str {
    match by {
        CheckedBy::OtherKernel => "kernel",
        CheckedBy::Oracle => "oracle",
    }
}

/// Prints what all tasks together say.
///
/// # Errors
/// stdout cannot be written.
pub fn tell_outcome(outcome: &Outcome) -> Result<(), Failure> {
    if let Some(given) = given_line(&outcome.given) {
        print(&format!("board     n = {}, {given}", outcome.n))?;
    }
    let known = match outcome.is_known {
        true => "equal to the known count",
        false => "for which no count is known",
    };
    print(&format!(
        "total     {} solutions of n = {}, {known}",
        outcome.total, outcome.n
    ))?;
    outcome.unique().map_or(Ok(()), |unique| {
        print(&format!(
            "unique    {unique}, by Burnside's identity from whole classes"
        ))
    })
}

/// A share as a percentage with three digits.
pub fn percentage(share: f64) -> String {
    let percent = 100.0 * share;
    let digits = (2.0 - percent.log10().floor()).clamp(0.0, 9.0);
    let digits = if percent > 0.0 { digits as usize } else { 0 };
    format!("{percent:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_the_time_but_not_that_of_one_task() {
        let settings = HardwareSettings {
            workers: Some(4),
            devices: DeviceChoice::Off,
            ..HardwareSettings::default()
        };
        let hardware = Hardware::find(&settings).unwrap();
        assert_eq!(wall_time(100, 40.0, &hardware), "about 10 s");
        assert_eq!(wall_time(1, 40.0, &hardware), "about 40 s");
    }
}
