//! The trace of a run on CPU workers is JSON that Perfetto opens, and agrees with the report.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::trace_to;
use crate::common::run_spec::run_spec;
use queenfold::actors::tracing_bridge::{self, LANES};
use queenfold::actors::{Control, Report, RunError, run};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::simd::Isa;
use queenfold_cli::telemetry::trace_layer;
use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt;

fn traced(path: &Path, control: &Control) -> Result<Report, RunError> {
    let plan = Arc::new(ChainPlan::new(Size::new(16).unwrap()));
    let mut spec = run_spec(vec![plan], 2, Isa::Portable);
    spec.batch_time = Duration::from_millis(20);
    let _alone = crate::ALONE.lock();
    let (layer, file) = trace_to(path);
    let subscriber = tracing_subscriber::registry().with(layer);
    let outcome = tracing::subscriber::with_default(subscriber, || {
        spec.observers.extend(tracing_bridge::observer());
        run(&spec, &[], control)
    });
    drop(file);
    outcome
}

fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

#[test]
fn a_trace_has_balanced_spans_in_lanes_named_after_the_actors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let report = traced(&path, &Control::new()).unwrap();
    let events = events(&path);

    let lanes: BTreeMap<u64, &str> = events
        .iter()
        .filter(|event| event["ph"] == "M" && event["name"] == "thread_name")
        .map(|event| {
            let name = event["args"]["name"].as_str().unwrap();
            (event["tid"].as_u64().unwrap(), name)
        })
        .collect();
    // A worker that started late may have counted nothing.
    let counted = report.workers.iter().filter(|worker| worker.tasks > 0);
    let workers: Vec<_> = counted.map(|worker| worker.id.to_string()).collect();
    let workers = || workers.iter().map(String::as_str);
    let names: BTreeSet<_> = lanes.values().copied().collect();
    assert!(
        ["collector", "producer", "run"]
            .into_iter()
            .chain(workers())
            .all(|lane| names.contains(lane)),
        "{names:?}"
    );
    let metadata = |name: &'static str| {
        let named = move |event: &&Value| event["ph"] == "M" && event["name"] == name;
        events.iter().filter(named)
    };
    let process: Vec<_> = metadata("process_name").collect();
    assert_eq!(process.len(), 1);
    assert_eq!(process[0]["args"]["name"], "queenfold");
    let mut sorted: Vec<_> = metadata("thread_sort_index")
        .map(|event| {
            let index = event["args"]["sort_index"].as_u64().unwrap();
            (index, lanes[&event["tid"].as_u64().unwrap()])
        })
        .collect();
    sorted.sort_unstable();
    let sorted: Vec<_> = sorted.into_iter().map(|(_, lane)| lane).collect();
    assert_eq!(sorted[..3], ["run", "producer", "collector"]);
    assert!(sorted[3..].is_sorted(), "{sorted:?}");

    // X events have a begin and a length; no separate B and E events occur.
    let phases: BTreeSet<_> = events.iter().map(|e| e["ph"].as_str().unwrap()).collect();
    assert_eq!(phases, BTreeSet::from(["C", "M", "X"]));
    let mut spans: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let lane = lanes[&event["tid"].as_u64().unwrap()];
        let start = event["ts"].as_f64().unwrap();
        let length = event["dur"].as_f64().unwrap();
        assert!(start >= 0.0 && length >= 0.0);
        spans.entry(lane).or_default().push((start, start + length));
    }
    for (lane, spans) in &mut spans {
        spans.sort_by(|a, b| a.partial_cmp(b).unwrap());
        for pair in spans.windows(2) {
            assert!(pair[0].1 <= pair[1].0 + 0.01, "{lane}: {pair:?} overlap");
        }
    }

    for worker in &report.workers {
        let busy = worker.busy.as_secs_f64() * 1e6;
        let own = spans.get(worker.id.to_string().as_str());
        let covered: f64 = own.into_iter().flatten().map(|s| s.1 - s.0).sum();
        // The clock is read twice at each end, and a busy machine may do something else in between.
        assert!(covered >= 0.5 * busy, "{}: {covered} of {busy}", worker.id);
        assert!(covered <= report.elapsed.as_secs_f64() * 1e6);
    }
    let batch = events
        .iter()
        .find(|event| event["name"] == "batch")
        .unwrap();
    assert_eq!(batch["args"]["engine"], "chain");
    assert_eq!(batch["args"]["n"], 16);
    assert!(events.iter().any(|event| event["name"] == "n = 16"));
    assert!(batch["args"]["tasks"].as_u64().unwrap() > 0);
    let nodes: u64 = events
        .iter()
        .filter_map(|event| event["args"]["nodes"].as_u64())
        .sum();
    assert_eq!(nodes, report.workers.iter().map(|w| w.nodes).sum::<u64>());

    for (counter, value) in [("queue depth", "batches"), ("nodes per second", "nodes")] {
        let values: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "C" && event["name"] == counter)
            .map(|event| event["args"][value].as_f64().unwrap())
            .collect();
        assert!(values.iter().any(|value| *value > 0.0), "{counter}");
    }
}

#[test]
fn runs_that_follow_one_another_lie_one_after_the_other_in_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let _alone = crate::ALONE.lock();
    let (layer, file) = trace_to(&path);
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        for n in [12, 11] {
            let plan = Arc::new(ChainPlan::new(Size::new(n).unwrap()));
            let mut spec = run_spec(vec![plan], 1, Isa::Portable);
            spec.observers.extend(tracing_bridge::observer());
            run(&spec, &[], &Control::new()).unwrap();
            tracing::trace!(target: LANES, counter = "end", runs = 1);
        }
    });
    drop(file);
    let events = events(&path);
    let ends = events.iter().filter(|event| event["name"] == "end");
    let ends: Vec<_> = ends.map(|event| event["ts"].as_f64().unwrap()).collect();
    let stretches = events.iter().filter(|event| event["ph"] == "X");
    let (mut first, mut second) = (0, 0);
    for event in stretches {
        let start = event["ts"].as_f64().unwrap();
        let end = start + event["dur"].as_f64().unwrap();
        if end <= ends[0] {
            first += 1;
        } else {
            assert!(start >= ends[0] && end <= ends[1], "{event}, {ends:?}");
            second += 1;
        }
    }
    assert!(first > 0 && second > 0, "{first} and {second}");
}

#[test]
fn a_stopped_run_leaves_a_whole_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let control = Control::new();
    control.drain();
    let report = traced(&path, &control).unwrap();
    assert!(!report.is_whole());
    events(&path);
}

#[test]
fn a_trace_that_is_dropped_unfinished_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let (layer, file) = trace_to::<tracing_subscriber::Registry>(&path);
    drop(file);
    drop(layer);
    assert!(events(&path).iter().all(|event| event["ph"] == "M"));
}

#[test]
fn a_trace_that_somebody_else_cuts_short_ends_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("trace.json");
    let file = File::options().append(true).create(true).open(&path);
    let (told, failures) = mpsc::channel();
    let lost = move |error: io::Error| told.send(error.to_string()).unwrap();
    let _alone = crate::ALONE.lock();
    let (layer, file) = trace_layer(file.unwrap(), Box::new(lost));
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, || {
        let put = || (0..500).for_each(|at| tracing::trace!(target: LANES, counter = "end", at));
        put();
        assert!(fs::metadata(&path).unwrap().len() > 0);
        File::create(&path).unwrap();
        put();
    });
    drop(file);
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    let told: Vec<_> = failures.iter().collect();
    assert_eq!(told, ["somebody else has made it shorter"]);
}
