//! When what happened, from the history that the processes of a run kept.

use serde_json::Value as Json;

use crate::telemetry::incident;
use queenfold::actors::{Eta, EventKind, PauseReason, RunEvent, RunState};

/// What the history of a run says. All times are in seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// When each process began.
    pub began: Vec<f64>,
    /// The times left that were told, and when: not those of the end, when workers stop one after the other.
    pub told: Vec<(f64, Eta)>,
    /// Pauses: from when to when, and why.
    pub pauses: Vec<(f64, f64, String)>,
    /// What a person wants to know and neither sessions nor pauses show.
    pub incidents: Vec<(f64, String)>,
}

impl Timeline {
    /// Reads a history. Lines that are unreadable are left out: the last one may be half a line.
    pub fn read(history: &str) -> Self {
        let mut timeline = Self::default();
        let (mut began, mut drains) = (0.0, false);
        let mut pause: Option<(f64, String)> = None;
        for line in history.lines() {
            let Ok(event) = serde_json::from_str::<RunEvent>(line) else {
                let header = serde_json::from_str::<Json>(line).unwrap_or_default();
                if let Some(at) = header["began"].as_f64().filter(|at| at.is_finite()) {
                    began = at;
                    timeline.began.push(at);
                    pause = None;
                }
                continue;
            };
            let at = began + event.at.as_secs_f64();
            match &event.kind {
                EventKind::Advanced { eta: Some(eta), .. } if !drains => {
                    timeline.told.push((at, *eta));
                }
                EventKind::Planned { .. } => {}
                EventKind::State(RunState::Paused) => pause = Some((at, String::new())),
                EventKind::PausedFor { reasons } => {
                    if let Some((_, why)) = &mut pause {
                        *why = PauseReason::list(reasons);
                    }
                }
                EventKind::State(state) => {
                    drains = *state == RunState::Draining;
                    if let Some((since, why)) = pause.take() {
                        timeline.pauses.push((since, at, why));
                    }
                }
                _ => timeline
                    .incidents
                    .extend(incident(&event).map(|text| (at, text))),
            }
        }
        timeline
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::telemetry::{EventFile, History};
    use queenfold::actors::Observer;

    #[test]
    fn pauses_and_told_times_are_placed_in_time() {
        let history = r#"{"queenfold_events":4,"program":"0.1.0","process":1,"began":1000.5}
{"at":0.0,"kind":{"state":"planning"}}
{"at":0.5,"kind":{"state":"running"}}
{"at":2.0,"kind":{"advanced":{"tasks_done":5,"tasks_total":9,"share":0.5,"solutions":"9","nodes":"9","eta":{"left":3.0,"uncertainty":1.0}}}}
{"at":3.0,"kind":{"state":"paused"}}
{"at":3.0,"kind":{"paused_for":{"reasons":["asked","heat"]}}}
{"at":4.0,"kind":{"failed":{"reason":"no space"}}}
{"at":13.0,"kind":{"state":"running"}}
{"at":13.5,"kind":{"state":"draining"}}
{"at":13.6,"kind":{"advanced":{"tasks_done":5,"tasks_total":9,"share":0.5,"solutions":"9","nodes":"9","eta":{"left":7.0,"uncertainty":1.0}}}}
{"lost":3}
{"at":14.0,"kind":{"state":"do"#;
        let timeline = Timeline::read(history);
        assert_eq!(timeline.began, [1000.5]);
        let seconds = Duration::from_secs;
        let eta = Eta {
            left: seconds(3),
            uncertainty: Some(seconds(1)),
        };
        assert_eq!(timeline.told, [(1002.5, eta)]);
        assert_eq!(
            timeline.pauses,
            [(1003.5, 1013.5, "asked for, too hot".to_owned())]
        );
        assert_eq!(
            timeline.incidents,
            [(1004.5, "failed: no space".to_owned())]
        );
        assert_eq!(Timeline::read("\u{0}\n[]\n{}"), Timeline::default());
    }

    #[test]
    fn a_history_keeps_pauses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history");
        let file = std::fs::File::create(&path).unwrap();
        let history = History::new(|| EventFile::new(file, |error| panic!("{error}")));
        let kinds = [
            EventKind::State(RunState::Planning),
            EventKind::Planned {
                plans: Vec::new(),
                workers: Vec::new(),
            },
            EventKind::State(RunState::Running),
            EventKind::State(RunState::Paused),
            EventKind::PausedFor {
                reasons: vec![PauseReason::Heat],
            },
            EventKind::State(RunState::Running),
            EventKind::State(RunState::Finished),
        ];
        for (at, kind) in (0..).map(Duration::from_secs).zip(kinds) {
            history.event(&RunEvent { at, kind });
        }
        history.close();
        let timeline = Timeline::read(&std::fs::read_to_string(&path).unwrap());
        let [(from, to, why)] = timeline.pauses.as_slice() else {
            panic!("{timeline:?}");
        };
        assert!(
            (to - from - 2.0).abs() < 1e-3 && why == "too hot",
            "{timeline:?}"
        );
        // The processes and the pauses say the rest.
        assert_eq!(timeline.incidents, []);
    }
}
