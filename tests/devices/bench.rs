//! The measurements of `queenfold bench --gpu`, on small boards and the emulated device.

use std::sync::Arc;
use std::time::Duration;

use crate::emulated_device::{self, short_launches};
use queenfold::actors::DeviceSpec;
use queenfold::bench::pairs::{Leaf, Steps, launch_cost, sets, steps, uploads};
use queenfold::bench::{BenchError, board, fed, mixed};
use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::device::{Emulated, EmulatedSettings, Fault, OpenError, Trouble};
use queenfold::engine::{Launch, Plan};
use queenfold::join::JoinPlan;

fn device(trouble: Arc<Trouble>) -> DeviceSpec {
    emulated_device::device(trouble, short_launches())
}

fn healthy() -> DeviceSpec {
    device(Arc::new(|_, _: &Launch| None))
}

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn plan(n: u32) -> Arc<dyn Plan> {
    Arc::new(ChainPlan::new(size(n)))
}

#[test]
fn every_figure_of_a_board_is_what_its_name_says() {
    for n in 10..=14 {
        let result = board(&healthy(), plan(n).as_ref()).unwrap();
        let known = known(size(n)).unwrap();
        assert_eq!((result.n, result.total), (n, known.total));
        assert_eq!(result.verified, "known");
        assert!(result.kernel_seconds > 0.0 && result.kernel_seconds <= result.seconds);
        assert!(result.busy > 0.0 && result.busy <= 1.0);
        assert!(result.launches > 0 && result.nodes > 0);
        let rate = result.nodes as f64 / result.kernel_seconds;
        assert!((result.nodes_per_second / rate - 1.0).abs() < 1e-9);
        // Boards this small have no target.
        assert!(result.target_seconds.is_none() && result.target_busy.is_none() && result.reached);
        assert!(result.published_seconds.is_none() && result.published_ratio.is_none());
        let json = serde_json::to_value(&result).unwrap();
        assert_eq!(json["total"], known.total.to_string());
    }
}

#[test]
fn mixed_runs_are_compared_with_either_alone() {
    let result = mixed(&healthy(), &plan(14), 1, 3).unwrap();
    assert_eq!((result.n, result.workers), (14, 1));
    assert_eq!(
        (result.device_seconds.len(), result.mixed_seconds.len()),
        (3, 3)
    );
    assert_eq!(result.mixed_skew_seconds.len(), 3);
    assert_eq!(result.mixed_device_share.len(), 3);
    let shares = &result.mixed_device_share;
    assert!(
        shares.iter().all(|share| (0.0..=1.0).contains(share)),
        "{shares:?}"
    );
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!((result.cpu_seconds.len(), result.cpu_cut_off.len()), (3, 3));
    assert!(result.cpu_seconds.iter().all(|seconds| *seconds > 0.0));
    let alone = least(&result.device_seconds).min(least(&result.cpu_seconds));
    let took_part = shares.iter().all(|share| *share > 0.0);
    assert_eq!(
        result.reached,
        took_part && least(&result.mixed_seconds) < alone
    );
}

#[test]
fn a_device_that_counts_wrongly_or_fails_gives_no_figures() {
    for fault in [Fault::WrongSum, Fault::JobMissing, Fault::Lost] {
        let failing = || {
            device(Arc::new(move |number, _: &Launch| {
                (number > 0).then_some(fault)
            }))
        };
        let error = board(&failing(), plan(12).as_ref()).unwrap_err();
        assert!(matches!(error, BenchError::Failed { .. }), "{error}");
        let error = mixed(&failing(), &plan(12), 1, 1).unwrap_err();
        assert!(error.to_string().starts_with("n = 12: "), "{error}");
    }
    let absent = DeviceSpec {
        open: Arc::new(|| Err(OpenError("gone".to_owned()))),
        ..healthy()
    };
    let error = mixed(&absent, &plan(12), 1, 1).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

/// A device on which each launch but the first `healthy` ones has this fault.
fn emulated(healthy: u64, fault: Option<Fault>) -> Emulated {
    Emulated::new(EmulatedSettings {
        fault: Arc::new(move |number, _: &Launch| fault.filter(|_| number >= healthy)),
        ..EmulatedSettings::default()
    })
}

#[test]
fn every_figure_of_the_pairs_is_measured() {
    let mut device = emulated(0, None);
    let launch = launch_cost(&mut device).unwrap();
    assert!(launch.wall_seconds >= launch.kernel_seconds && launch.kernel_seconds > 0.0);
    assert!(launch.submit_seconds > 0.0 && launch.submit_seconds < launch.wall_seconds);

    // On a busy machine a step may seem to take no time, because another one took long.
    let sane = (0..8).map(|_| steps(&mut device, Duration::from_millis(5)).unwrap());
    let mut sane = sane.filter(|steps| {
        let Steps {
            cross_per_pair,
            gather_per_key,
            split_per_key,
            compare_per_pair,
            leaves,
        } = steps;
        assert!(leaves.iter().map(|leaf| leaf.tables).eq(1..=4));
        // The emulated device gathers a key in a nanosecond or so. A key that is looked up takes longer than a pair:
        // each table has 16 words for it.
        let looked_up = |leaf: &Leaf| leaf.look_up_per_key > *compare_per_pair;
        (1e-11..1e-7).contains(cross_per_pair)
            && (1e-11..1e-7).contains(gather_per_key)
            && (1e-11..1e-7).contains(split_per_key)
            && *compare_per_pair > 0.0
            && leaves.iter().all(looked_up)
    });
    assert!(sane.next().is_some());

    let uploads = uploads(&mut device, 2 << 20, Duration::from_millis(5)).unwrap();
    let kinds: Vec<_> = uploads
        .iter()
        .map(|upload| (upload.pinned, upload.beside_kernel))
        .collect();
    assert_eq!(kinds, [(false, false), (true, false), (true, true)]);
    assert!(uploads.iter().all(|upload| upload.submit_seconds > 0.0));

    for (n, count) in [(15, 30), (18, 20)] {
        let result = sets(&mut device, size(n), count).unwrap();
        assert_eq!((result.n, result.sets), (n, count));
        assert!(result.launches > 0 && result.jobs > 0 && result.bytes > 0);
        assert!(result.kernel_seconds > 0.0 && result.prepare_seconds > 0.0);
        let worth = (result.cpu_seconds - result.prepare_seconds) / result.kernel_seconds;
        assert!((result.worth_cores - worth).abs() < 1e-9);
    }
}

#[test]
fn pairs_that_are_counted_wrongly_give_no_figures() {
    for fault in [Fault::WrongSum, Fault::JobMissing] {
        let wrong = |healthy| emulated(healthy, Some(fault));
        assert!(launch_cost(&mut wrong(3)).is_err());
        assert!(steps(&mut wrong(9), Duration::from_millis(1)).is_err());
        assert!(sets(&mut wrong(0), size(16), 30).is_err());
    }
    let lost = |healthy| emulated(healthy, Some(Fault::Lost));
    let error = uploads(&mut lost(8), 1 << 20, Duration::from_millis(1)).unwrap_err();
    assert!(
        error.to_string().contains("a test asked for this"),
        "{error}"
    );
    let error = sets(&mut lost(0), size(7), 1).unwrap_err();
    assert!(error.to_string().starts_with("n = 7: "), "{error}");
}

#[test]
fn workers_with_the_device_are_compared_with_the_same_workers_alone() {
    let plan: Arc<dyn Plan> = Arc::new(JoinPlan::new(size(17)));
    let result = fed(&healthy(), &plan, 1, 2, Duration::from_secs(20)).unwrap();
    assert_eq!((result.n, result.workers), (17, 1));
    assert!(
        result
            .device_share
            .iter()
            .all(|share| *share > 0.0 && *share < 1.0)
    );
    let most = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    assert_eq!(
        (result.fed_per_second.len(), result.cpu_per_second.len()),
        (2, 2)
    );
    let speed_up = most(&result.fed_per_second) / most(&result.cpu_per_second);
    assert!((result.speed_up - speed_up).abs() < 1e-9 && speed_up > 0.0);
}
