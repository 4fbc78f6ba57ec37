//! The measurements of `queenfold bench --gpu`, on small boards and a test device.

use std::sync::Arc;

use super::runs::{device, healthy};
use crate::common::faulty_device::Fault;
use queenfold::actors::DeviceSpec;
use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::device::OpenError;
use queenfold::engine::{Launch, Plan};
use queenfold_cli::bench::{BenchError, board, mixed};

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn plan(n: u32) -> Arc<dyn Plan> {
    Arc::new(ChainPlan::new(size(n)))
}

#[test]
fn every_figure_of_a_board_is_what_its_name_says() {
    for n in 10..=14 {
        let result = board(&healthy(), &plan(n)).unwrap();
        let known = known(size(n)).unwrap();
        assert_eq!((result.n, result.total), (n, known.total));
        assert_eq!(result.verified, "known");
        assert!(result.kernel_seconds > 0.0 && result.kernel_seconds <= result.seconds);
        assert!(result.busy > 0.0 && result.busy <= 1.0);
        assert!(result.launches > 0 && result.nodes > 0);
        let rate = result.nodes as f64 / result.kernel_seconds;
        assert!((result.nodes_per_second / rate - 1.0).abs() < 1e-9);
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
    assert_eq!((result.cpu_seconds.len(), result.cpu_cut_off.len()), (3, 3));
    assert!(result.cpu_seconds.iter().all(|seconds| *seconds > 0.0));
}

#[test]
fn a_device_that_counts_wrongly_or_fails_gives_no_figures() {
    for fault in [Fault::WrongSum, Fault::JobMissing, Fault::Lost] {
        let failing = || {
            device(Arc::new(move |number, _: &Launch| {
                (number > 0).then_some(fault)
            }))
        };
        let error = board(&failing(), &plan(12)).unwrap_err();
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

/// The script that a person with a GPU runs.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: see CONTRIBUTING.md"]
fn the_script_for_a_gpu_measures_small_boards_on_the_interpreter() {
    use crate::common::{program::PROGRAM, ptx_machine::Machine};
    let machine = Machine::new("");
    let (root, results) = (crate::common::ROOT, machine.folder.path().join("results"));
    let mut script = std::process::Command::new(format!("{root}/benches/gpu.sh"));
    script
        .arg(&results)
        .env("BIN", std::path::Path::new(PROGRAM).parent().unwrap())
        .envs([("FOR", "1ms"), ("SAMPLES", "12"), ("BOARD", "12")]);
    let said = machine.on(&mut script).output().unwrap().stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.contains("mixed.txt") && !said.contains("ended"),
        "{said}"
    );
    let file = |name| std::fs::read_to_string(results.join(name)).unwrap();
    assert!(file("samples.txt").contains("12  whole board"));
    assert!(file("check.txt").contains("14200"));
}
