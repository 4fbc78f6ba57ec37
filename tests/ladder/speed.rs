//! The speed of the ladder's `symmetry`, compared with the same algorithm in C. The test takes long, and
//! needs a C compiler and an idle core.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use cpu_time::ThreadTime;
use queenfold::board::Size;
use queenfold_cli::ladder::{MethodRequest, Style, method, run_method};

const N: u32 = 16;
const PAIRS: usize = 9;
const ALLOWED: f64 = 1.3;

#[test]
#[ignore = "half a minute on an idle core, and needs a C compiler"]
fn symmetry_keeps_up_with_the_same_idea_in_c() {
    let folder = tempfile::tempdir().unwrap();
    let in_c = folder.path().join("symmetry");
    compile(&in_c);
    let mut ratios: Vec<f64> = (0..PAIRS)
        .map(|_| {
            let (c, ours) = (seconds_in_c(&in_c), seconds_here());
            println!("C {c:.3} s, symmetry {ours:.3} s, {:.3} times", ours / c);
            ours / c
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[PAIRS / 2];
    println!(
        "median {median:.3}, from {:.3} to {:.3}",
        ratios[0],
        ratios[PAIRS - 1]
    );
    assert!(median <= ALLOWED, "{median:.3} times, not {ALLOWED}");
}

fn compile(program: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/symmetry.c");
    let compiled = Command::new("cc")
        .args(["-O3", "-o"])
        .arg(program)
        .arg(source)
        .status();
    assert!(compiled.expect("cc exists").success());
}

/// CPU seconds of one count in C.
fn seconds_in_c(program: &Path) -> f64 {
    let output = Command::new(program).arg(N.to_string()).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let [total, unique, seconds] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{line}");
    };
    assert_eq!((total, unique), ("14772512", "1846955"));
    seconds.parse().unwrap()
}

/// CPU seconds of one count by the method.
fn seconds_here() -> f64 {
    let request = MethodRequest {
        n: Size::new(N).unwrap(),
        style: Style::Recursive,
    };
    let start = ThreadTime::now();
    let row = run_method(
        method("symmetry").unwrap(),
        &request,
        None,
        &AtomicBool::new(false),
        None,
    )
    .unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!((row.total, row.unique), (14_772_512, Some(1_846_955)));
    seconds
}
