//! A crate that depends on the library, as its users have it: built with their profile, for Cargo ignores those of
//! this repository. By default a crate is compiled in 16 units, so all that the kernels call must be inlined where it is
//! called; otherwise every vector operation becomes a call, and no test of results would notice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::codegen::{disassemble, functions};
use crate::common::program::{PROGRAM, isolated};
use crate::common::skip::skipped;

/// A build without link-time optimisation is the hardest. No step inlines a function of another unit: what is a call
/// after each unit was compiled stays one. Cargo's default inlines more of them, across the units of a crate.
const WITHOUT_LTO: &str = "without-lto";

/// A crate with one program, and the dependency it is made for.
struct UserCrate {
    name: &'static str,
    dependency: &'static str,
    main: &'static str,
}

/// Where a compiler for another system is, and for which.
struct Cross {
    rustc: PathBuf,
    linker: &'static str,
    target: &'static str,
}

/// All kernels of the engines are in this program.
const KERNELS: UserCrate = UserCrate {
    name: "kernels",
    dependency: r#"queenfold-engines = { path = "ROOT/crates/queenfold-engines" }"#,
    main: "
use queenfold_engines::board::Size;
use queenfold_engines::chain::ChainPlan;
use queenfold_engines::colour::ColourPlan;
use queenfold_engines::engine::{CounterSettings, Plan};
use queenfold_engines::simd::Isa;

fn main() {
    let size = |n| Size::new(n).unwrap();
    let plans: [&dyn Plan; 3] = [
        &ChainPlan::new(size(8)),
        &ChainPlan::new(size(19)),
        &ColourPlan::new(size(8)),
    ];
    for plan in plans {
        let settings = CounterSettings { isa: Isa::best() };
        plan.counter(&settings).count(&plan.task(0)).unwrap();
    }
}
",
};

impl UserCrate {
    /// Writes the crate and builds it. The folder stays, so that the next time only what has changed is compiled.
    fn build(&self, profile: &str, cross: Option<&Cross>) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("user_crate");
        let (package, target) = (folder.join(self.name), folder.join("target"));
        let root = crate::common::ROOT;
        let manifest = format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{}\n\n\
             [profile.{WITHOUT_LTO}]\ninherits = \"release\"\nlto = \"off\"\n\n[workspace]\n",
            self.name,
            self.dependency.replace("ROOT", root),
        );
        fs::create_dir_all(package.join("src")).unwrap();
        fs::write(package.join("Cargo.toml"), manifest).unwrap();
        fs::write(package.join("src/main.rs"), self.main).unwrap();
        // The same versions, which are on this machine.
        fs::copy(format!("{root}/Cargo.lock"), package.join("Cargo.lock")).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--offline", "--quiet", "--profile", profile])
            .current_dir(&package)
            .env("CARGO_TARGET_DIR", &target)
            // Those of this repository are not the user's.
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUSTFLAGS", "");
        let mut built = target;
        if let Some(Cross {
            rustc,
            linker,
            target,
        }) = cross
        {
            let variable = target.replace('-', "_").to_uppercase();
            cargo
                .args(["--target", target])
                .env("RUSTC", rustc)
                .env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
            built.push(target);
        }
        let output = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", self.name);
        built.join(profile).join(self.name)
    }
}

/// The calls in a disassembly: the function that calls, and the one that is called. A jump out of a function is a call too.
fn calls(disassembly: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut caller = "";
    for line in disassembly.lines() {
        if let Some(header) = line.strip_suffix(">:") {
            caller = header.split_once(" <").map_or("", |(_, name)| name);
        } else if let Some((_, text)) = line.split_once(":\t")
            && ["call", "jmp", "bl", "b"].contains(&text.split_whitespace().next().unwrap_or(""))
            && let Some((_, called)) = text.split_once(" <")
            && !called.contains("+0x")
        {
            found.push((caller, called.trim_end().trim_end_matches('>')));
        }
    }
    found
}

/// Whether this is a call that should have been inlined. The functions for single instructions have the instruction set; what
/// calls one, or gives a closure with vector operations to another function, was compiled without it.
fn is_out_of_line(caller: &str, called: &str) -> bool {
    let asks_the_machine = ["_xgetbv", "__cpuid"];
    if called.contains("core_arch::") {
        return !asks_the_machine.iter().any(|name| called.contains(name));
    }
    let closures = ["::call_mut", "::call_once", "core::array::", "core::iter::"];
    caller.contains("::vectorize") && closures.iter().any(|name| called.contains(name))
}

/// Asserts that the program has kernels of this instruction set, and that they inline all of its operations.
fn assert_inlined(disassembly: &str, folder: &str) {
    let kernels = functions(disassembly, &[&format!("::{folder}::vectorize")]).len();
    assert!(kernels >= 20, "only {kernels} kernels of {folder} found");
    for (caller, called) in calls(disassembly) {
        assert!(!is_out_of_line(caller, called), "{caller} calls {called}");
    }
}

#[test]
fn kernels_call_no_operation_in_a_build_of_many_units() {
    if !cfg!(target_arch = "x86_64") {
        skipped("needs x86-64");
        return;
    }
    let program = KERNELS.build(WITHOUT_LTO, None);
    if let Some(disassembly) = disassemble("objdump", &program) {
        for folder in ["avx2", "avx512"] {
            assert_inlined(&disassembly, folder);
        }
    }
}

/// The compiler that `.ci/cross setup` fetched. `None`, with a report, if it or what belongs to it is not there.
fn cross_to_arm() -> Option<Cross> {
    let home = std::env::var_os("CROSS_HOME").map(PathBuf::from);
    let user = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/queenfold-cross"));
    let rustc = home.or_else(user)?.join("bin/rustc");
    if !rustc.exists() {
        skipped("no compiler for AArch64: .ci/cross setup fetches one");
        return None;
    }
    Some(Cross {
        rustc,
        linker: "aarch64-linux-gnu-gcc",
        target: "aarch64-unknown-linux-gnu",
    })
}

#[test]
#[ignore = ".ci/cross neon"]
fn kernels_of_neon_call_no_operation_in_a_build_of_many_units() {
    let Some(cross) = cross_to_arm() else {
        return;
    };
    let program = KERNELS.build(WITHOUT_LTO, Some(&cross));
    if let Some(disassembly) = disassemble("aarch64-linux-gnu-objdump", &program) {
        assert_inlined(&disassembly, "neon");
    }
}

/// The speed of a user's program, whose library is built with Cargo's default profile.
mod speed {
    use super::*;
    use queenfold::simd::Isa;

    const ROUNDS: usize = 7;
    const ALLOWED: f64 = 1.1;

    const COUNT: UserCrate = UserCrate {
        name: "count",
        dependency: r#"queenfold = { path = "ROOT", default-features = false }"#,
        main: "
use queenfold::board::Size;
use queenfold::job::{DeviceChoice, Job};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let result = Job::new(Size::new(arguments[1].parse()?)?)
        .isa(arguments[2].parse()?)
        .workers(1)
        .devices(DeviceChoice::Off)
        .run()?;
    println!(\"{}\", result.cpu.unwrap().as_secs_f64());
    Ok(())
}
",
    };

    #[test]
    #[ignore = "half a minute on an idle core"]
    fn a_user_crate_counts_as_fast_as_the_program() {
        if cfg!(debug_assertions) {
            skipped("needs --release");
            return;
        }
        let user = COUNT.build("release", None);
        for isa in Isa::ALL.into_iter().filter(|isa| *isa != Isa::Portable) {
            if !isa.is_available() {
                skipped(&format!("this machine has no {isa}"));
                continue;
            }
            for n in ["16", "17", "18"] {
                let (mut program, mut crate_of_user) = (f64::MAX, f64::MAX);
                for _ in 0..ROUNDS {
                    program = program.min(seconds_of_program(n, isa));
                    crate_of_user = crate_of_user.min(seconds_of(&user, n, isa));
                }
                let ratio = crate_of_user / program;
                println!(
                    "{n}, {isa}: {program:.3} s, of the user {crate_of_user:.3} s, {ratio:.3} times"
                );
                assert!(
                    ratio <= ALLOWED,
                    "{n}, {isa}: {ratio:.3} times, not {ALLOWED}"
                );
            }
        }
    }

    fn stdout(command: &mut Command) -> String {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// CPU seconds of the program for a count.
    fn seconds_of_program(n: &str, isa: Isa) -> f64 {
        let mut program = isolated(PROGRAM);
        let settings = ["--workers", "1", "--gpu", "off", "--json", "-q"];
        program
            .args(["run", "-n", n, "--isa", isa.name()])
            .args(settings);
        let line: serde_json::Value = serde_json::from_str(&stdout(&mut program)).unwrap();
        line["cpu_seconds"].as_f64().unwrap()
    }

    /// CPU seconds of the user's program for a count.
    fn seconds_of(program: &Path, n: &str, isa: Isa) -> f64 {
        let said = stdout(Command::new(program).args([n, isa.name()]));
        said.trim().parse().unwrap()
    }
}
