use std::fmt::{Display, Write};
use std::time::Duration;

use crate::actors::{Progress, RunState, WorkerProgress};
use crate::board::GivenBoard;
use crate::engine::WorkerId;

/// What the text begins with.
pub const METRICS_MARK: &str = "# HELP queenfold_run_info ";

/// How far the run of `board` is, in the text format of Prometheus: version 0.0.4, as
/// <https://prometheus.io/docs/instrumenting/exposition_formats/> describes it. docs/EVENTS.md lists the
/// metrics. `temperatures` has the name of each sensor, and what it shows in °C.
pub fn metrics(board: &GivenBoard, progress: &Progress, temperatures: &[(String, f64)]) -> String {
    let mut page = Page(String::new());
    let seconds = |time: Duration| time.as_secs_f64();

    page.family(
        "run_info",
        "gauge",
        "The board and the version of the program, always 1.",
    );
    let mut labels = vec![
        ("n", board.size().to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    if !board.is_free() {
        labels.push(("given", board.to_string()));
    }
    page.sample("run_info", &labels, 1);
    page.family(
        "run_state",
        "gauge",
        "1 for the state of the run, 0 for all others.",
    );
    for state in RunState::ALL {
        let is = u8::from(state == progress.state);
        page.sample("run_state", &[("state", state.name().to_owned())], is);
    }
    page.gauge(
        "elapsed_seconds",
        "Time since the run began.",
        Some(seconds(progress.elapsed)),
    );
    page.gauge(
        "paused_seconds",
        "How long it was paused.",
        Some(seconds(progress.paused)),
    );
    page.gauge(
        "share_done_ratio",
        "Share of the work that is done, 0 to 1.",
        progress.share,
    );
    page.gauge(
        "tasks_done",
        "Tasks recorded, restored ones included.",
        Some(progress.tasks_done),
    );
    page.gauge(
        "tasks_planned",
        "Tasks recorded or to be counted.",
        progress.tasks_total,
    );
    page.gauge(
        "queued_batches",
        "Batches that wait for a worker.",
        Some(progress.queued),
    );
    let speed = progress.speed.nodes_per_second();
    page.gauge(
        "nodes_per_second",
        "Nodes that all workers search.",
        Some(speed),
    );
    let eta = progress.eta;
    page.gauge(
        "eta_seconds",
        "Time left.",
        eta.map(|eta| seconds(eta.left)),
    );
    let interval = eta.and_then(|eta| eta.interval());
    let interval = interval.map(|ends| ends.map(seconds));
    page.gauge(
        "eta_low_seconds",
        "The lower end of its 95 % interval.",
        interval.map(|[low, _]| low),
    );
    page.gauge(
        "eta_high_seconds",
        "The upper end of its 95 % interval.",
        interval.map(|[_, high]| high),
    );
    page.counter(
        "nodes_total",
        "Nodes searched by this process.",
        progress.nodes,
    );
    page.counter(
        "durable_tasks_total",
        "Tasks of this process made durable.",
        progress.durable,
    );
    page.counter(
        "audited_tasks_total",
        "Second counts that agreed.",
        progress.audited,
    );
    page.counter(
        "corrected_tasks_total",
        "Counts that were wrong.",
        progress.corrected,
    );
    page.gauge(
        "last_checkpoint_seconds",
        "When results became durable the last time, since the run began.",
        progress.checkpoint.map(seconds),
    );
    if !temperatures.is_empty() {
        page.family("temperature_celsius", "gauge", "What a sensor shows.");
    }
    for (sensor, celsius) in temperatures {
        let labels = [("sensor", sensor.clone())];
        page.sample("temperature_celsius", &labels, celsius);
    }
    page.gauge(
        "sick_workers",
        "Workers that counted wrongly.",
        Some(progress.taken_out.len()),
    );

    let workers = |page: &mut Page, name, help, value: &dyn Fn(usize) -> f64| {
        page.family(name, "counter", help);
        for (number, worker) in progress.workers.iter().enumerate() {
            let by = worker.counted_by_name().to_owned();
            let labels = [("worker", worker.id.to_string()), ("counted_by", by)];
            page.sample(name, &labels, value(number));
        }
    };
    let of = &progress.workers;
    workers(&mut page, "worker_tasks_total", "Tasks counted.", &|k| {
        of[k].tasks as f64
    });
    workers(&mut page, "worker_nodes_total", "Nodes searched.", &|k| {
        of[k].nodes as f64
    });
    workers(
        &mut page,
        "worker_busy_seconds_total",
        "Time with a task, with or without a core.",
        &|k| seconds(of[k].busy),
    );
    workers(
        &mut page,
        "worker_batch_seconds_total",
        "Wall time of its batches on the CPU.",
        &|k| seconds(of[k].batches),
    );
    workers(
        &mut page,
        "worker_batch_cpu_seconds_total",
        "CPU time that it had in these.",
        &|k| seconds(of[k].cpu),
    );
    workers(
        &mut page,
        "worker_waiting_seconds_total",
        "Time without a batch.",
        &|k| seconds(of[k].waiting + of[k].starved),
    );
    page.devices(progress);
    page.0
}

struct Page(String);

impl Page {
    /// What devices counted themselves.
    fn devices(&mut self, progress: &Progress) {
        let is_device = |worker: &&WorkerProgress| matches!(worker.id, WorkerId::Device(_));
        let devices: Vec<_> = progress.workers.iter().filter(is_device).collect();
        type Value = fn(&WorkerProgress) -> u64;
        let families: [(&str, &str, Value); 2] = [
            ("device_tasks_total", "Tasks counted.", |of| of.device_tasks),
            ("device_nodes_total", "Nodes searched.", |of| {
                of.device_nodes
            }),
        ];
        for (name, help, value) in families.iter().filter(|_| !devices.is_empty()) {
            self.family(name, "counter", help);
            for device in &devices {
                let by = device.counted_by_name().to_owned();
                let labels = [("worker", device.id.to_string()), ("counted_by", by)];
                self.sample(name, &labels, value(device));
            }
        }
    }

    fn gauge<T: Display>(&mut self, name: &str, help: &str, value: Option<T>) {
        if let Some(value) = value {
            self.family(name, "gauge", help);
            self.sample(name, &[], value);
        }
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help);
        self.sample(name, &[], value);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(
            self.0,
            "# HELP queenfold_{name} {help}\n# TYPE queenfold_{name} {kind}\n"
        );
    }

    fn sample(&mut self, name: &str, labels: &[(&str, String)], value: impl Display) {
        let escaped = |text: &str| {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            text.replace('\n', "\\n")
        };
        let labels: Vec<_> = labels
            .iter()
            .map(|(label, text)| format!("{label}=\"{}\"", escaped(text)))
            .collect();
        let labels = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", labels.join(","))
        };
        let _ = writeln!(self.0, "queenfold_{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::{Eta, EventKind, RunEvent};
    use crate::board::Size;

    #[test]
    fn what_is_not_known_is_left_out_and_labels_are_escaped() {
        let n = Size::new(18).unwrap();
        let mut progress = Progress::default();
        let text = metrics(&n.into(), &progress, &[]);
        assert!(
            text.contains("queenfold_run_info{n=\"18\",version=\""),
            "{text}"
        );
        assert!(
            text.contains("queenfold_run_state{state=\"planning\"} 1\n"),
            "{text}"
        );
        assert!(
            text.contains("queenfold_run_state{state=\"finished\"} 0\n"),
            "{text}"
        );
        assert!(!text.contains("eta") && !text.contains("share"), "{text}");
        progress.share = Some(0.25);
        progress.eta = Some(Eta {
            left: Duration::from_millis(1500),
            uncertainty: Some(Duration::from_millis(4500)),
        });
        let text = metrics(&n.into(), &progress, &[]);
        assert!(
            text.contains("\nqueenfold_share_done_ratio 0.25\n"),
            "{text}"
        );
        assert!(
            text.contains("\nqueenfold_eta_low_seconds 0.375\n"),
            "{text}"
        );
        assert!(text.contains("\nqueenfold_eta_high_seconds 6\n"), "{text}");

        let mut page = Page(String::new());
        page.sample("x", &[("by", "a\"b\\c\nd".to_owned())], 2);
        assert_eq!(page.0, "queenfold_x{by=\"a\\\"b\\\\c\\nd\"} 2\n");
    }
    #[test]
    fn the_dashboard_asks_for_metrics_that_there_are() {
        let n = Size::new(18).unwrap();
        let mut progress = Progress {
            share: Some(0.25),
            tasks_total: Some(9),
            eta: Some(Eta {
                left: Duration::from_secs(1),
                uncertainty: Some(Duration::ZERO),
            }),
            checkpoint: Some(Duration::from_secs(2)),
            ..Progress::default()
        };
        let workers = vec![WorkerId::Device(0)];
        progress.note(&RunEvent {
            at: Duration::ZERO,
            kind: EventKind::Planned {
                plans: Vec::new(),
                workers,
            },
        });
        progress.workers[0].device_tasks = 7;
        let text = metrics(&n.into(), &progress, &[("GPU 0".into(), 61.0)]);
        for line in [
            "queenfold_device_tasks_total{worker=\"gpu-0\",counted_by=\"\"} 7",
            "queenfold_last_checkpoint_seconds 2",
            "queenfold_temperature_celsius{sensor=\"GPU 0\"} 61",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
        }
        let dashboard = include_str!("../../docs/grafana.json");
        let asked: std::collections::BTreeSet<_> = dashboard
            .match_indices("queenfold_")
            .map(|(at, _)| {
                let rest = &dashboard[at..];
                let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
                &rest[..end.unwrap_or(rest.len())]
            })
            .collect();
        assert!(asked.len() > 10, "{asked:?}");
        for name in asked {
            assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
        }
        assert!(serde_json::from_str::<serde_json::Value>(dashboard).is_ok());
    }
}
