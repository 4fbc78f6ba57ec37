//! How far a run is, for Prometheus.

use std::fmt::Write;

use queenfold::actors::{Progress, RunState, WorkerProgress};
use queenfold::board::GivenBoard;
use queenfold::engine::WorkerId;

/// What the text begins with.
pub const METRICS_MARK: &str = "# HELP queenfold_run_info ";

/// A metric: its name, what it says of `T`, and its value, which is left out if it is not known. One whose name ends with
/// `_total` is a counter, any other a gauge.
type Metric<T> = (&'static str, &'static str, fn(&T) -> Option<f64>);

/// A table of metrics, one on a line.
macro_rules! metrics {
    ($table:ident of $of:ident: $type:ty; $($name:ident: $value:expr, $what:literal;)*) => {
        const $table: &[Metric<$type>] = &[$((stringify!($name), $what, |$of| Some(($value) as f64)),)*];
    };
}

metrics! {
    OF_RUN of run: Progress;
    elapsed_seconds: run.elapsed.as_secs_f64(), "Time since the run began.";
    paused_seconds: run.paused.as_secs_f64(), "How long it was paused.";
    share_done_ratio: run.share?, "Share of the work that is done, 0 to 1.";
    tasks_done: run.tasks_done, "Tasks recorded, restored ones included.";
    tasks_planned: run.tasks_total?, "Tasks recorded or to be counted.";
    queued_batches: run.queued, "Batches that wait for a worker.";
    nodes_per_second: run.nodes_per_second, "Nodes that all workers search.";
    eta_seconds: run.eta?.left.as_secs_f64(), "Time left.";
    eta_low_seconds: run.eta?.interval()?[0].as_secs_f64(), "The lower end of its 95 % interval.";
    eta_high_seconds: run.eta?.interval()?[1].as_secs_f64(), "The upper end of its 95 % interval.";
    nodes_total: run.nodes, "Nodes searched by this process.";
    durable_tasks_total: run.durable, "Tasks of this process made durable.";
    audited_tasks_total: run.audited, "Second counts that agreed.";
    corrected_tasks_total: run.corrected, "Counts that were wrong.";
    last_checkpoint_seconds: run.checkpoint?.as_secs_f64(), "When results became durable the last time, since the run began.";
    faulty_workers: run.taken_out.len(), "Workers that counted wrongly.";
}

metrics! {
    OF_WORKER of worker: WorkerProgress;
    worker_tasks_total: worker.tasks, "Tasks counted.";
    worker_nodes_total: worker.nodes, "Nodes searched.";
    worker_busy_seconds_total: worker.busy.as_secs_f64(), "Time with a task, with or without a core.";
    worker_batch_seconds_total: worker.batches.as_secs_f64(), "Wall time of its batches on the CPU.";
    worker_batch_cpu_seconds_total: worker.cpu.as_secs_f64(), "CPU time that it had in these.";
    worker_waiting_seconds_total: (worker.waiting + worker.starved).as_secs_f64(), "Time without a batch.";
    device_tasks_total: of_device(worker)?.tasks, "Tasks that the device counted.";
    device_nodes_total: of_device(worker)?.nodes, "Nodes that the device searched.";
}

fn of_device(worker: &WorkerProgress) -> Option<&WorkerProgress> {
    matches!(worker.id, WorkerId::Device(_)).then_some(worker)
}

/// How far the run of `board` is, in the text format of Prometheus: version 0.0.4, as
/// <https://prometheus.io/docs/instrumenting/exposition_formats/> describes it. docs/EVENTS.md lists the
/// metrics. `temperatures` has the name of each sensor, and what it shows in °C.
pub fn metrics(board: &GivenBoard, progress: &Progress, temperatures: &[(String, f64)]) -> String {
    let mut page = Page(String::new());
    let mut labels = vec![
        ("n", board.size().to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    if !board.is_free() {
        labels.push(("given", board.to_string()));
    }
    let what = "The board and the version of the program, always 1.";
    page.family("run_info", what, [(labels, 1.0)]);
    let states = RunState::ALL.into_iter().map(|state| {
        let is = u8::from(state == progress.state);
        (vec![("state", state.name().to_owned())], is.into())
    });
    let what = "1 for the state of the run, 0 for all others.";
    page.family("run_state", what, states);
    for (name, what, value) in OF_RUN {
        page.family(name, what, value(progress).map(|value| (vec![], value)));
    }
    let sensors = temperatures.iter();
    let sensors = sensors.map(|(sensor, celsius)| (vec![("sensor", sensor.clone())], *celsius));
    page.family("temperature_celsius", "What a sensor shows.", sensors);
    for (name, what, value) in OF_WORKER {
        let workers = progress.workers.iter().filter_map(|worker| {
            let by = worker.counted_by_name().to_owned();
            let labels = vec![("worker", worker.id.to_string()), ("counted_by", by)];
            Some((labels, value(worker)?))
        });
        page.family(name, what, workers);
    }
    page.0
}

type Labels = Vec<(&'static str, String)>;

struct Page(String);

impl Page {
    /// Writes a metric with its samples, if there are any. Writing to a string does not fail.
    fn family(&mut self, name: &str, what: &str, samples: impl IntoIterator<Item = (Labels, f64)>) {
        let mut samples = samples.into_iter().peekable();
        let kind = match name.ends_with("_total") {
            true => "counter",
            false => "gauge",
        };
        if samples.peek().is_some() {
            let _ = writeln!(
                self.0,
                "# HELP queenfold_{name} {what}\n# TYPE queenfold_{name} {kind}"
            );
        }
        for (labels, value) in samples {
            self.sample(name, &labels, value);
        }
    }

    fn sample(&mut self, name: &str, labels: &[(&str, String)], value: f64) {
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
        page.sample("x", &[("by", "a\"b\\c\nd".to_owned())], 2.0);
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
        progress.workers[0].tasks = 7;
        let text = metrics(&n.into(), &progress, &[("GPU 0".into(), 61.0)]);
        for line in [
            "queenfold_device_tasks_total{worker=\"gpu-0\",counted_by=\"\"} 7",
            "queenfold_last_checkpoint_seconds 2",
            "queenfold_temperature_celsius{sensor=\"GPU 0\"} 61",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}:\n{text}");
        }
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
