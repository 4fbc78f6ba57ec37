//! How the project is built: the tests use the dependencies that `cargo build --release` made.

use std::collections::BTreeMap;
use std::process::Command;

/// The features of each dependency that a build takes, with or without those of the tests.
fn features(edges: &str) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none"])
        .args(["--edges", edges, "--format", "{p}\t{f}"])
        .current_dir(crate::common::ROOT)
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let package = |line: &str| {
        let (package, features) = line.trim_end_matches(" (*)").split_once('\t')?;
        Some((package.to_owned(), features.to_owned()))
    };
    listed.lines().filter_map(package).collect()
}

/// A dependency with other features is another dependency: everything above it would be compiled again. If
/// this fails, give the dependency of the program the features that the dependency of the tests asks for, or take
/// another dependency for the tests.
#[test]
fn dependencies_of_the_tests_change_no_feature_of_the_program() {
    let of_program = features("normal,build");
    let of_tests = features("normal,build,dev");
    assert!(of_program.len() > 50 && of_tests.len() > of_program.len());
    for (package, features) in &of_program {
        assert_eq!(&of_tests[package], features, "{package}");
    }
}

/// `queenfold` itself is one of those listed.
#[test]
fn who_only_counts_on_cpus_builds_at_most_45_crates() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "-p", "queenfold"])
        .args(["--no-default-features", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(crate::common::ROOT)
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&output.stdout);
    let packages: std::collections::BTreeSet<_> = listed
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    assert!((20..=46).contains(&packages.len()), "{packages:?}");
}
