//! How far a run is, for Prometheus.

use std::fmt::Write;

use super::RunFacts;
use queenfold::actors::{Progress, RunState, WorkerProgress};
use queenfold::board::GivenBoard;
use queenfold::engine::WorkerId;

/// What the text begins with.
pub const METRICS_MARK: &str = "# HELP queenfold_run_info ";

/// Every metric, without the `queenfold_` before its name, and what it says: a line each.
pub const METRICS: &str = "\
run_info: Always 1; labels `n`, `version`, and `given` where something is given on the board.
run_state: 1 for the state of the run (label `state`), 0 for all others.
elapsed_seconds: Time since the run began.
paused_seconds: How long it was paused.
share_done_ratio: Share of the work that is done, 0 to 1.
tasks_done: Tasks recorded, restored ones included.
tasks_planned: Tasks recorded or to be counted.
queued_batches: Batches that wait for a CPU worker.
nodes_per_second: Speed of all workers together.
eta_seconds: Time left.
eta_low_seconds: The lower end of its 95 % interval.
eta_high_seconds: The upper end of its 95 % interval.
nodes_total: Nodes searched by this process.
durable_tasks_total: Tasks of this process made durable.
audited_tasks_total: Second counts that agreed.
corrected_tasks_total: Counts that were wrong.
last_checkpoint_seconds: When results became durable the last time, since the run began.
faulty_workers: Workers and devices that counted wrongly.
temperature_celsius: What a `sensor` of a processor or NVIDIA GPU shows.
worker_tasks_total: Tasks that the worker counted.
worker_nodes_total: Nodes that the worker searched.
worker_busy_seconds_total: Wall time with a task, with or without a core.
worker_batch_seconds_total: Wall time of the batches that it ended on the CPU.
worker_batch_cpu_seconds_total: CPU time that it had in these.
worker_waiting_seconds_total: Time without a batch.
device_tasks_total: Tasks that the device counted.
device_nodes_total: Nodes that the device searched.";

/// The name of a metric, and its value.
type OfWorker = (&'static str, fn(&WorkerProgress) -> f64);

/// The metrics of workers, which devices have as well, and those of devices alone.
const OF_WORKERS: [OfWorker; 8] = [
    ("device_nodes_total", |of| of.nodes as f64),
    ("device_tasks_total", |of| of.tasks as f64),
    ("worker_batch_cpu_seconds_total", |of| of.cpu.as_secs_f64()),
    ("worker_batch_seconds_total", |of| of.batches.as_secs_f64()),
    ("worker_busy_seconds_total", |of| of.busy.as_secs_f64()),
    ("worker_nodes_total", |of| of.nodes as f64),
    ("worker_tasks_total", |of| of.tasks as f64),
    ("worker_waiting_seconds_total", |of| {
        (of.waiting + of.starved).as_secs_f64()
    }),
];

/// How far the run of `board` is, in the text format of Prometheus: version 0.0.4, as
/// <https://prometheus.io/docs/instrumenting/exposition_formats/> describes it. [`METRICS`] lists the metrics.
/// `temperatures` has the name of each sensor, and what it shows in °C.
pub fn metrics(board: &GivenBoard, progress: &Progress, temperatures: &[(String, f64)]) -> String {
    let mut page = Page(String::new());
    let mut labels = vec![
        ("n", board.size().to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    if !board.is_free() {
        labels.push(("given", board.to_string()));
    }
    page.family("run_info", [(labels, 1.0)]);
    let states = RunState::ALL.into_iter().map(|state| {
        let is = u8::from(state == progress.state);
        (vec![("state", state.name().to_owned())], is.into())
    });
    page.family("run_state", states);
    let facts = RunFacts::of(progress, "").table().into_iter();
    for (name, value) in facts.flat_map(|fact| fact.metrics) {
        page.family(name, value.map(|value| (vec![], value)));
    }
    let sensors = temperatures.iter();
    let sensors = sensors.map(|(sensor, celsius)| (vec![("sensor", sensor.clone())], *celsius));
    page.family("temperature_celsius", sensors);
    for (name, value) in OF_WORKERS {
        let has_it = |of: &&WorkerProgress| {
            name.starts_with("worker") || matches!(of.id, WorkerId::Device(_))
        };
        let samples = progress.workers.iter().filter(has_it).map(|of| {
            let by = of.counted_by_name().to_owned();
            (
                vec![("worker", of.id.to_string()), ("counted_by", by)],
                value(of),
            )
        });
        page.family(name, samples);
    }
    page.0
}

type Labels = Vec<(&'static str, String)>;

struct Page(String);

impl Page {
    /// Writes a metric with its samples, if there are any. One whose name ends with `_total` is a counter, any other a
    /// gauge. Writing to a string does not fail.
    fn family(&mut self, name: &str, samples: impl IntoIterator<Item = (Labels, f64)>) {
        let mut samples = samples.into_iter().peekable();
        let kind = match name.ends_with("_total") {
            true => "counter",
            false => "gauge",
        };
        if samples.peek().is_some() {
            let of = format!("{name}: ");
            let what = METRICS.lines().find_map(|line| line.strip_prefix(&of));
            let what = what.unwrap_or_default();
            let _ = writeln!(
                self.0,
                "# HELP queenfold_{name} {what}\n# TYPE queenfold_{name} {kind}"
            );
        }
        for (labels, value) in samples {
            let labels = labels.iter().map(|(label, text)| {
                let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                format!("{label}=\"{}\"", text.replace('\n', "\\n"))
            });
            let labels = match labels.collect::<Vec<_>>().join(",") {
                none if none.is_empty() => none,
                labels => format!("{{{labels}}}"),
            };
            let _ = writeln!(self.0, "queenfold_{name}{labels} {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use queenfold::actors::{Eta, EventKind, RunEvent};
    use queenfold::board::Size;

    #[test]
    fn what_is_not_known_is_left_out_and_labels_are_escaped() {
        let n = Size::new(18).unwrap();
        let mut progress = Progress::default();
        let text = metrics(&n.into(), &progress, &[]);
        for part in [
            "queenfold_run_info{n=\"18\",version=\"",
            "queenfold_run_state{state=\"planning\"} 1\n",
            "queenfold_run_state{state=\"finished\"} 0\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("eta") && !text.contains("share"), "{text}");
        progress.share = Some(0.25);
        progress.eta = Some(Eta {
            left: Duration::from_millis(1500),
            uncertainty: Some(Duration::from_millis(4500)),
        });
        let text = metrics(&n.into(), &progress, &[]);
        for line in [
            "queenfold_share_done_ratio 0.25",
            "queenfold_eta_low_seconds 0.375",
            "queenfold_eta_high_seconds 6",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        let mut page = Page(String::new());
        page.family("x", [(vec![("by", "a\"b\\c\nd".to_owned())], 2.0)]);
        let sample = "\nqueenfold_x{by=\"a\\\"b\\\\c\\nd\"} 2\n";
        assert!(page.0.ends_with(sample), "{}", page.0);
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
        progress.workers[0].tasks = 7;
        let text = metrics(&n.into(), &progress, &[("GPU 0".into(), 61.0)]);
        for line in [
            "queenfold_device_tasks_total{worker=\"gpu-0\",counted_by=\"\"} 7",
            "queenfold_last_checkpoint_seconds 2",
            "queenfold_temperature_celsius{sensor=\"GPU 0\"} 61",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
        }
        for line in METRICS.lines() {
            let help = format!("# HELP queenfold_{}\n", line.replacen(": ", " ", 1));
            assert!(text.contains(&help), "{help}");
        }
        assert_eq!(text.matches("# TYPE ").count(), METRICS.lines().count());
        let dashboard = include_str!("../../../../docs/grafana.json");
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
