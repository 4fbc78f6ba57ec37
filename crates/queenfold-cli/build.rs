//! Asks git which commit is built.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    name_commit();
}

/// Gives the program the commit, if the source is a repository of its own and git is there.
fn name_commit() {
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).output().ok()?;
        let text = String::from_utf8(done.stdout).ok()?.trim().to_owned();
        (done.status.success() && !text.is_empty()).then_some(text)
    };
    // A package that was unpacked inside another repository is not part of that one.
    if git(&["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    // The log of HEAD grows with each commit and checkout. Cargo would build again each time for a file
    // that is not there.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && std::fs::exists(&log).unwrap_or(false)
    {
        println!("cargo::rerun-if-changed={log}");
    }
    if let Some(commit) = git(&["log", "-1", "--format=%h (%cs)", "--abbrev=12"]) {
        println!("cargo::rustc-env=SOURCE_COMMIT={commit}");
    }
}
