//! What happened when.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::report::RunReport;
use crate::report::clock::Clock;
use crate::report::markup::{figure, key, name, table, text, utc};
use crate::report::over_time::{self, MOST_LANES};
use queenfold::words::{duration, percent, rate};

impl RunReport {
    /// What `draw` measured, over the time of the run; nothing if that is too short.
    pub(in crate::report) fn measured_section(
        &self,
        clock: &Clock,
        draw: fn(&Self, &Clock) -> String,
        title: &str,
        measured: &str,
    ) -> String {
        if self.tasks.is_empty() || !clock.is_drawn() {
            return String::new();
        }
        let caption = key("measured", measured) + &interruptions(clock);
        figure(title, &draw(self, clock), "chart", &caption)
    }

    pub(in crate::report) fn eta_section(&self, clock: &Clock) -> String {
        let drawn = over_time::eta(self, clock);
        if drawn.is_empty() {
            return drawn;
        }
        let truth = match self.status.is_done() {
            true => key(
                "measured",
                "the time that was really left, with pauses and stops",
            ),
            false => "The true time left is drawn when the run is done.".to_owned(),
        };
        let caption = format!(
            "{}{}{truth}",
            key("expected", "the time left that was predicted"),
            key("interval", "its 95 % interval")
        );
        let title = "The time left that was predicted, and the true one";
        figure(title, &drawn, "chart", &caption)
    }

    pub(in crate::report) fn lanes_section(&self, clock: &Clock) -> String {
        if self.lanes.is_empty() {
            return String::new();
        }
        let mut html = String::new();
        if clock.is_drawn() {
            let (drawn, is_weaker) = over_time::lanes(self, clock);
            let weaker = is_weaker.then_some("Weaker: counted part of the time. ");
            let mut caption = weaker.unwrap_or_default().to_owned() + &interruptions(clock);
            let more = self.lanes.len().saturating_sub(MOST_LANES);
            if more > 0 {
                let _ = write!(caption, " {more} more workers are not drawn.");
            }
            html += &figure("When each worker counted", &drawn, "chart", &caption);
        }
        if !self.timeline.pauses.is_empty() {
            let rows = self.timeline.pauses.iter().map(|(from, to, why)| {
                let took = Duration::try_from_secs_f64(to - from).unwrap_or_default();
                vec![utc(*from as i64), duration(took), text(why)]
            });
            html += &table("Pauses", &["paused", "for", "because"], rows);
        }
        html + &self.shares()
    }

    /// What each kernel or device of each machine did, if there are several.
    fn shares(&self) -> String {
        let all: f64 = self.tasks.iter().map(|task| task.nodes as f64).sum();
        let mut groups: BTreeMap<(&str, &str), (u64, u64, f64)> = BTreeMap::new();
        for task in &self.tasks {
            let name = (
                self.lanes[task.lane].host.as_str(),
                self.kernels[task.kernel].as_str(),
            );
            let (tasks, nodes, seconds) = groups.entry(name).or_default();
            *tasks += 1;
            *nodes = nodes.saturating_add(task.nodes);
            *seconds += task.seconds;
        }
        if groups.len() == 1 {
            return String::new();
        }
        let rows = groups
            .into_iter()
            .map(|((host, by), (tasks, nodes, seconds))| {
                let busy = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                vec![
                    name(host),
                    name(by),
                    tasks.to_string(),
                    percent(nodes as f64 / all.max(1.0)),
                    rate(nodes, busy),
                    duration(busy),
                ]
            });
        table(
            "Who counted how much",
            &[
                "host",
                "counted by",
                "tasks",
                "share of the nodes",
                "speed of a worker",
                "time inside tasks",
            ],
            rows,
        )
    }
}

/// What stands for pauses and stops, if there are any.
fn interruptions(clock: &Clock) -> String {
    let mut keys = String::new();
    if !clock.paused().is_empty() {
        keys += &key("paused", "paused");
    }
    if !clock.stopped().is_empty() {
        keys += &key("stopped", "no process worked on the run");
    }
    keys
}
