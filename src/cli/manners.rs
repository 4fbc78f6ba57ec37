//! The manners of a program that is a guest on a machine for days: it stands back behind others, counts at
//! the hours it may, and pauses when the machine is too hot.

use std::sync::Arc;
use std::time::Duration;

use jiff::ZonedDateTime;
use jiff::civil::Time;
use parking_lot::Mutex;

use super::exit::{Exit, Failure};
use super::output::say;
use super::repeating::Repeating;
use crate::actors::{Control, EventKind, Observer, PauseReason, RunEvent};
use crate::config::{Config, Hours, Value};
use crate::machine::temperatures;
use crate::system::processes::lower_priority;

/// How often the clock is looked at.
const CLOCK: Duration = Duration::from_secs(1);

/// How often temperatures are read.
const THERMOMETER: Duration = Duration::from_secs(5);

/// After a pause, the run goes on when it is cooler than the limit by this, in °C.
const COOLER: f64 = 5.0;

/// Follows the settings as long as it lives.
#[derive(Debug)]
pub struct Manners {
    _watches: Vec<Repeating>,
    notes: Arc<Notes>,
}

impl Manners {
    /// Begins to follow `config` for the runs under `control`. Call it before threads that count are
    /// started: they get the priority of this one.
    ///
    /// # Errors
    /// A limit of temperature is set, and the machine shows no temperature; the system refuses a lower
    /// priority or another thread.
    pub fn begin(config: &Config, control: &Control) -> Result<Self, Failure> {
        let run = &config.run;
        let nice = run.nice.0 as i32;
        if nice > 0 {
            let done = lower_priority(nice);
            done.map_err(|error| Failure::new(Exit::Error, format!("--nice {nice}: {error}")))?;
        }
        let notes = Arc::new(Notes {
            quiet: config.output.quiet,
            waiting: Mutex::new(Some(Vec::new())),
        });
        let mut watches = Vec::new();
        if let Some(hours) = run.during.0 {
            let guard = Guard::new(control, PauseReason::Hours, &notes);
            watches.push(watch(
                "hours",
                CLOCK,
                during(hours, guard, || ZonedDateTime::now().time()),
            )?);
        }
        if let Some(limit) = run.max_temp.0 {
            if temperatures().is_empty() {
                return Err(Failure::new(
                    Exit::Unavailable,
                    "--max-temp: this machine shows no temperature of a processor (hwmon) or GPU (NVML)",
                ));
            }
            let guard = Guard::new(control, PauseReason::Heat, &notes);
            let look = move || temperatures().into_iter().reduce(f64::max);
            watches.push(watch(
                "temperature",
                THERMOMETER,
                below(limit.0 as f64, guard, look),
            )?);
        }
        Ok(Self {
            _watches: watches,
            notes,
        })
    }

    /// What has to observe the first run, so that pauses are told.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.notes) as _
    }
}

/// Tells when and why a run pauses, from when its sources are open: an error in them comes alone.
#[derive(Debug)]
struct Notes {
    quiet: bool,
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
}

/// Does `look` now, and again and again. The first time counts for the beginning of the run.
fn watch(
    name: &str,
    every: Duration,
    mut look: impl FnMut() + Send + 'static,
) -> Result<Repeating, Failure> {
    look();
    let again = move || {
        look();
        true
    };
    Repeating::new(name, every, again).map_err(|error| Failure::new(Exit::Error, error))
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
                hours.write()
            ),
            false => format!("no longer paused: --during {}", hours.write()),
        });
    }
}

fn below(limit: f64, mut guard: Guard, mut hottest: impl FnMut() -> Option<f64>) -> impl FnMut() {
    move || {
        // A sensor that fails for once is no reason for anything.
        let Some(now) = hottest() else {
            return;
        };
        let least = if guard.paused { limit - COOLER } else { limit };
        guard.set(now > least, || match now > least {
            true => format!("pausing at {now:.0} °C: --max-temp {limit:.0}"),
            false => format!("cooled down to {now:.0} °C"),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::board::Size;
    use crate::job::Job;

    fn no_notes() -> Arc<Notes> {
        Arc::new(Notes {
            quiet: true,
            waiting: Mutex::new(None),
        })
    }

    #[test]
    fn a_run_pauses_when_it_is_hot_and_goes_on_when_it_is_cool() {
        let control = Control::new();
        let heat = Rc::new(Cell::new(Some(80.0)));
        let seen = Rc::clone(&heat);
        let mut look = below(
            85.0,
            Guard::new(&control, PauseReason::Heat, &no_notes()),
            move || seen.get(),
        );
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
        ];
        for (now, paused) in steps {
            assert_eq!(paused_at(now), paused, "{now:?}");
        }
    }

    #[test]
    fn outside_its_hours_a_run_does_not_count() {
        let control = Control::new();
        let hours = Hours::read("22:00-07:00").unwrap();
        let now = Rc::new(Cell::new(Time::new(21, 59, 59, 0).unwrap()));
        let seen = Rc::clone(&now);
        let guard = Guard::new(&control, PauseReason::Hours, &no_notes());
        let mut look = during(hours, guard, move || seen.get());
        look();
        let limit = Duration::from_millis(200);
        let job = Job::new(Size::new(10).unwrap()).control(&control);
        assert!(job.clone().time_limit(limit).run().is_err());
        assert_eq!(control.progress().tasks_done, 0);
        now.set(Time::new(22, 0, 0, 0).unwrap());
        look();
        assert_eq!(job.run().unwrap().outcome.total, 724);
    }
}
