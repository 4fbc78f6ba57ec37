//! Throttling a run that is a guest on a machine for days: its priority, the hours of the day, and pauses while
//! the machine is too hot (thermal throttling).

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use parking_lot::Mutex;

use super::repeating::repeat;
use crate::config::{Config, Hours};
use crate::exit::{Exit, Failure};
use crate::output::say;
use queenfold::actors::{Control, EventKind, Observer, PauseReason, RunEvent};
use queenfold::machine::{Temperature, believed_temperatures, temperatures};
use queenfold::system::threads::Background;
use queenfold_ledger::ledger::unix_time;
use queenfold_ledger::system::processes::{priority_below, set_priority};

/// How often the clock is looked at.
const CLOCK: Duration = Duration::from_secs(1);

/// How often temperatures are read.
const THERMOMETER: Duration = Duration::from_secs(5);

/// After a pause, the run goes on when it is cooler than the limit by this, in °C.
const COOLER: f64 = 5.0;

/// Looks in a row at which no sensor shows a temperature, until they count as gone: one may fail for once.
const GONE: u32 = 3;

/// Follows the settings as long as it lives.
#[derive(Debug)]
pub struct Throttle {
    _watches: Vec<Background>,
    notes: Arc<Notes>,
}

impl Throttle {
    /// Begins to follow `config` for the runs under `control`.
    ///
    /// # Errors
    /// A limit of temperature is set, and the machine shows no temperature; the system tells no priority, or refuses
    /// another thread.
    pub fn begin(config: &Config, control: &Control) -> Result<Self, Failure> {
        let run = &config.run;
        let nice = (run.nice > 0).then_some(run.nice);
        let priority = nice.map(priority_below).transpose();
        let refused = |error| Failure::new(Exit::Error, format!("--nice: {error}"));
        let notes = Arc::new(Notes {
            quiet: config.output.quiet,
            priority: priority.map_err(refused)?,
            waiting: Mutex::new(Some(Vec::new())),
        });
        let mut watches = Vec::new();
        if let Some(hours) = run.during {
            TimeZone::try_system().map_err(|error| {
                Failure::usage(format!(
                    "--during needs the local time, and neither TZ nor the system names a time zone: {error}"
                ))
            })?;
            let guard = Guard::new(control, PauseReason::Hours, &notes);
            let look = during(hours, guard, || {
                let now = Timestamp::from_second(unix_time()).unwrap_or_default();
                now.to_zoned_datetime(TimeZone::system()).time()
            });
            watches.push(watch("hours", CLOCK, look)?);
        }
        if let Some(limit) = run.max_temp {
            let (believed, broken): (Vec<_>, Vec<_>) = temperatures()
                .into_iter()
                .partition(Temperature::is_believed);
            if believed.is_empty() {
                return Err(Failure::new(
                    Exit::Unavailable,
                    "--max-temp: this machine shows no temperature of a processor (hwmon) or GPU (NVML); \
                     `--max-temp none` counts without",
                ));
            }
            for sensor in broken {
                notes.tell(format!("--max-temp ignores a sensor that shows {sensor}"));
            }
            let guard = Guard::new(control, PauseReason::Heat, &notes);
            let look = below(limit.into(), guard, believed_temperatures);
            watches.push(watch("temperature", THERMOMETER, look)?);
        }
        Ok(Self {
            _watches: watches,
            notes,
        })
    }

    /// The observer that each run needs: it tells pauses, and lowers the priority of workers.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.notes) as _
    }
}

/// Tells when and why a run pauses, from when its sources are open: an error in them comes alone. Lowers the
/// priority of what counts.
#[derive(Debug)]
struct Notes {
    quiet: bool,
    /// Of the threads that count. The others stay as they are: signals and time limits do not wait for others.
    priority: Option<i32>,
    /// What is told as soon as the first run is planned; `None` from then on.
    waiting: Mutex<Option<Vec<String>>>,
}

impl Notes {
    fn tell(&self, note: String) {
        if self.quiet {
            return;
        }
        match &mut *self.waiting.lock() {
            Some(waiting) => waiting.push(note),
            None => say(&note),
        }
    }
}

impl Observer for Notes {
    fn event(&self, event: &RunEvent) {
        if matches!(event.kind, EventKind::Planned { .. }) {
            let waiting = self.waiting.lock().take();
            waiting.iter().flatten().for_each(|note| say(note));
        }
    }

    fn worker_thread(&self) {
        if let Some(Err(error)) = self.priority.map(set_priority) {
            self.tell(format!("--nice: {error}"));
        }
    }
}

/// Does `look` now, and again and again. The first time counts for the beginning of the run.
fn watch(
    name: &str,
    every: Duration,
    mut look: impl FnMut() + Send + 'static,
) -> Result<Background, Failure> {
    look();
    let again = move || {
        look();
        true
    };
    repeat(name, every, again).map_err(|error| Failure::new(Exit::Error, error))
}

/// Pauses a run for one reason.
struct Guard {
    control: Control,
    reason: PauseReason,
    notes: Arc<Notes>,
    paused: bool,
}

impl Guard {
    fn new(control: &Control, reason: PauseReason, notes: &Arc<Notes>) -> Self {
        Self {
            control: control.clone(),
            reason,
            notes: Arc::clone(notes),
            paused: false,
        }
    }

    /// Pauses, or goes on, if that is new, and says why.
    fn set(&mut self, paused: bool, why: impl FnOnce() -> String) {
        if paused == self.paused {
            return;
        }
        self.paused = paused;
        if paused {
            self.control.pause_for(self.reason);
        } else {
            self.control.resume_from(self.reason);
        }
        self.notes.tell(why());
    }
}

fn during(hours: Hours, mut guard: Guard, now: impl Fn() -> Time) -> impl FnMut() {
    move || {
        let outside = !hours.contains(now());
        guard.set(outside, || match outside {
            true => format!(
                "pausing until {}: --during {}",
                hours.from().strftime("%H:%M"),
                hours
            ),
            false => format!("no longer paused: --during {}", hours),
        });
    }
}

fn below(
    limit: f64,
    mut guard: Guard,
    mut believed: impl FnMut() -> Vec<Temperature>,
) -> impl FnMut() {
    // How often in a row no sensor has shown anything.
    let mut missed = 0;
    move || {
        let shown = believed().into_iter();
        let Some(now) = shown.max_by(|one, other| one.celsius.total_cmp(&other.celsius)) else {
            missed += 1;
            if missed == GONE {
                guard.notes.tell(format!(
                    "no sensor shows a temperature any more: until one does, the run goes on without --max-temp {limit:.0}"
                ));
                guard.set(false, || "no longer paused".to_owned());
            }
            return;
        };
        missed = 0;
        let least = if guard.paused { limit - COOLER } else { limit };
        let is_hot = now.celsius > least;
        guard.set(is_hot, || match is_hot {
            true => format!("pausing at {now}: --max-temp {limit:.0}"),
            false => format!("cooled down to {now}"),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn a_run_pauses_when_it_is_hot_and_goes_on_when_it_is_cool() {
        let control = Control::new();
        let heat = Rc::new(Cell::new(Some(80.0)));
        let seen = Rc::clone(&heat);
        let look = move || {
            let sensor = "k10temp temp1".to_owned();
            let shown = seen.get().map(|celsius| Temperature { celsius, sensor });
            shown.into_iter().collect()
        };
        let notes = Arc::new(Notes {
            quiet: true,
            priority: None,
            waiting: Mutex::new(None),
        });
        let guard = Guard::new(&control, PauseReason::Heat, &notes);
        let mut look = below(85.0, guard, look);
        let mut paused_at = |now: Option<f64>| {
            heat.set(now);
            look();
            format!("{control:?}").contains("Heat")
        };
        let steps = [
            (Some(85.0), false),
            (Some(85.5), true),
            (Some(81.0), true),
            (None, true),
            (Some(80.0), false),
            (None, false),
            (Some(90.0), true),
            (None, true),
            (None, true),
            // A sensor that is gone holds nothing up.
            (None, false),
            (None, false),
            (Some(90.0), true),
        ];
        for (now, paused) in steps {
            assert_eq!(paused_at(now), paused, "{now:?}");
        }
    }
}
