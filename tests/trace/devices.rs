//! The trace of a run on CPU workers and devices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::trace_to;
use crate::common::run_spec::run_spec;
use crate::common::test_device::{self, short_launches};
use queenfold::actors::tracing_bridge::{self, LANES};
use queenfold::actors::{Control, DeviceSpec, Report, run};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::simd::Isa;
use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt;

fn device(index: usize) -> DeviceSpec {
    DeviceSpec {
        index,
        ..test_device::device(short_launches())
    }
}

/// The trace and the report of a run on one worker and two devices, and the time that it took.
fn traced() -> (Value, Report, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let (layer, file) = trace_to(&path);
    let subscriber = tracing_subscriber::registry().with(layer);
    let plan = Arc::new(ChainPlan::new(Size::new(16).unwrap()));
    let mut slow = run_spec(vec![plan], 1, Isa::Portable);
    slow.batch_time = Duration::from_millis(2);
    let (report, took) = tracing::subscriber::with_default(subscriber, || {
        let begun = Instant::now();
        tracing::trace!(target: LANES, counter = "begin", runs = 1);
        slow.observers.extend(tracing_bridge::observer());
        let report = run(&slow, &[device(0), device(3)], &Control::new()).unwrap();
        (report, begun.elapsed())
    });
    drop(file);
    let trace = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    (trace, report, took)
}

#[test]
fn a_trace_shows_upload_kernel_and_download_of_each_stream_beside_the_workers() {
    let _alone = crate::ALONE.lock();
    // Whether both devices open in time to get tasks depends on the speed and load of the machine.
    let traced = |_| {
        let (trace, report, took) = traced();
        let all_count = report.workers.iter().all(|worker| worker.tasks > 0);
        all_count.then_some((trace, report, took))
    };
    let (trace, report, took) = (0..20)
        .find_map(traced)
        .expect("in one of twenty runs all of them count");
    let events = trace["traceEvents"].as_array().unwrap();
    let lanes: BTreeMap<u64, &str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| {
            let name = event["args"]["name"].as_str().unwrap();
            (event["tid"].as_u64().unwrap(), name)
        })
        .collect();
    for lane in ["worker-0", "gpu-0 stream 0", "gpu-3 stream 0"] {
        assert!(
            lanes.values().any(|name| *name == lane),
            "{lane}: {lanes:?}"
        );
    }

    let time = |event: &Value, key: &str| event[key].as_f64().unwrap();
    let run_begins = events
        .iter()
        .find(|event| event["name"] == "begin")
        .map(|event| time(event, "ts"))
        .unwrap();
    let run_ends = run_begins + took.as_secs_f64() * 1e6 + 1e3;
    let mut parts: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let lane = lanes[&event["tid"].as_u64().unwrap()];
        let (start, length) = (time(event, "ts"), time(event, "dur"));
        assert!(start >= run_begins && length >= 0.0, "{event}");
        assert!(start + length <= run_ends, "{event} ends after {run_ends}");
        if lane.starts_with("gpu-") {
            let name = event["name"].as_str().unwrap();
            assert_eq!(event["args"]["device"], "test device");
            assert!(event["args"]["tasks"].as_u64().unwrap() > 0);
            parts
                .entry((lane, name))
                .or_default()
                .push((start, start + length));
        }
    }
    for (device, lane) in [(1, "gpu-0 stream 0"), (2, "gpu-3 stream 0")] {
        let of = |part| parts[&(lane, part)].clone();
        let mut kernels = of("kernel");
        assert_eq!(of("upload").len(), kernels.len(), "{lane}");
        assert_eq!(of("download").len(), kernels.len(), "{lane}");
        kernels.sort_by(|a, b| a.partial_cmp(b).unwrap());
        for pair in kernels.windows(2) {
            assert!(pair[0].1 <= pair[1].0 + 0.01, "{lane}: {pair:?} overlap");
        }
        // The device is busy with its kernels only.
        let counted: f64 = kernels.iter().map(|(start, end)| end - start).sum();
        let busy = report.workers[device].busy.as_secs_f64() * 1e6;
        assert!(
            counted > 0.0 && counted <= 1.1 * busy + 1e4,
            "{lane}: {counted} of {busy}"
        );
    }
}
