//! Compiles the kernels as C++ for the emulated device, where its feature asks for it, and asks git which
//! commit is built.

#[cfg(feature = "cli")]
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "emulated-gpu")]
    {
        println!("cargo::rerun-if-changed=kernels");
        cc::Build::new()
            .cpp(true)
            .std("c++17")
            .opt_level(3)
            // The kernels use nothing of it.
            .cpp_link_stdlib(None)
            .warnings_into_errors(true)
            .file("kernels/emulated.cpp")
            .compile("queenfold_emulated");
    }
    #[cfg(feature = "cli")]
    name_commit();
}

/// Gives the program the commit, if the source is a repository of its own and git is there.
#[cfg(feature = "cli")]
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
