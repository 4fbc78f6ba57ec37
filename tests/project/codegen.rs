//! Reads the machine code that the compiler made of the kernels of chain and colour engine. Fails if a hot loop
//! calls a function, spills vectors or masks, or compresses to memory: these make counting much slower, and no test
//! of results would notice.
//!
//! Needs an optimised build (`--release`), x86-64 and `objdump`; otherwise it reports that it is skipped.

use std::path::Path;
use std::process::Command;

use crate::common::skip::skipped;
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::colour::ColourPlan;
use queenfold::engine::{CounterSettings, Plan};
use queenfold::simd::Isa;

/// An instruction: its address and its text.
type Line = (u64, String);

/// The functions whose names contain all of `parts`, from a disassembly.
pub fn functions(disassembly: &str, parts: &[&str]) -> Vec<Vec<Line>> {
    let mut found: Vec<Vec<Line>> = Vec::new();
    let mut is_inside = false;
    for line in disassembly.lines() {
        if line.ends_with(">:") {
            is_inside = parts.iter().all(|part| line.contains(part));
            if is_inside {
                found.push(Vec::new());
            }
        } else if is_inside
            && let Some((address, text)) = line.split_once(":\t")
            && let Ok(address) = u64::from_str_radix(address.trim(), 16)
            && let Some(function) = found.last_mut()
        {
            function.push((address, text.to_owned()));
        }
    }
    found
}

/// The innermost loops: from the target of a backward jump to that jump, without another one inside.
fn innermost_loops(function: &[Line]) -> Vec<&[Line]> {
    let spans: Vec<(usize, usize)> = function
        .iter()
        .enumerate()
        .filter_map(|(end, (_, text))| {
            let (jump, target) = text.strip_prefix('j')?.split_once(' ')?;
            let target = target
                .split_whitespace()
                .next()
                .filter(|_| !jump.is_empty())?;
            let target = u64::from_str_radix(target, 16).ok()?;
            let start = function.binary_search_by_key(&target, |line| line.0).ok()?;
            (start <= end).then_some((start, end))
        })
        .collect();
    spans
        .iter()
        .filter(|span| {
            !spans
                .iter()
                .any(|other| other != *span && span.0 <= other.0 && other.1 <= span.1)
        })
        .map(|&(start, end)| &function[start..=end])
        .collect()
}

/// What is wrong with the instruction, if anything. Vectors are named by their registers without
/// the number: `zmm`, `ymm`.
fn fault(text: &str, vector: &str) -> Option<&'static str> {
    // The destination comes first.
    let to_stack = ["[rsp", "[rbp"]
        .iter()
        .find_map(|stack| text.split_once(stack))
        .filter(|(before, _)| !before.contains(','))
        .map(|(_, source)| source);
    if text.starts_with("call") {
        Some("calls a function")
    } else if to_stack.is_some_and(|source| source.contains(vector)) {
        Some("spills a vector")
    } else if to_stack.is_some() && text.starts_with("kmov") {
        Some("spills a mask")
    } else if text.starts_with("vpcompress") && text.contains('[') {
        Some("compresses to memory")
    } else {
        None
    }
}

/// Calls the kernels, so that the linker keeps them in this program.
fn link_kernels() {
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

/// The disassembly of this program. `None`, with a report, if there is none or it is of no use.
fn disassembly() -> Option<String> {
    if cfg!(debug_assertions) || !cfg!(target_arch = "x86_64") {
        skipped("needs a release build for x86-64");
        return None;
    }
    disassemble("objdump", &std::env::current_exe().unwrap())
}

/// The disassembly of a program. `None`, with a report, if there is no such disassembler.
pub fn disassemble(objdump: &str, program: &Path) -> Option<String> {
    let mut command = Command::new(objdump);
    command.args(["-d", "-C", "--no-show-raw-insn"]);
    if objdump == "objdump" {
        command.args(["-M", "intel"]);
    }
    match command.arg(program).output() {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        _ => {
            skipped(&format!("no {objdump}"));
            None
        }
    }
}

#[test]
fn hot_loops_of_avx512_neither_call_nor_spill_nor_compress_to_memory() {
    link_kernels();
    let Some(disassembly) = disassembly().filter(|_| has_long_names()) else {
        return;
    };
    let mut loops = 0;
    for function in functions(&disassembly, &["simd::avx512::vectorize", "chain::search"]) {
        for body in innermost_loops(&function) {
            // Loops that refill several streams. Loops over the last few nodes refill only one.
            let refills = body.iter().filter(|(_, text)| text.starts_with("vpexpand"));
            if refills.count() <= 3 {
                continue;
            }
            loops += 1;
            for (address, text) in body {
                assert_eq!(fault(text, "zmm"), None, "{address:x}: {text}");
            }
        }
        for (address, text) in &function {
            let is_slow = fault(text, "zmm") == Some("compresses to memory");
            assert!(!is_slow, "{address:x}: {text}");
        }
    }
    // Two lane widths, each with three loops: a step to the next level, a look ahead, an ending.
    assert!(loops >= 6, "only {loops} hot loops found");
}

#[test]
fn hot_loops_of_avx2_call_nothing() {
    link_kernels();
    let Some(disassembly) = disassembly().filter(|_| has_long_names()) else {
        return;
    };
    let mut loops = 0;
    for function in functions(&disassembly, &["simd::avx2::vectorize", "chain::search"]) {
        for body in innermost_loops(&function) {
            let moves = body
                .iter()
                .filter(|(_, text)| text.starts_with("vpshufb") || text.starts_with("vpermd"));
            if moves.count() < 6 {
                continue;
            }
            loops += 1;
            for (address, text) in body {
                assert!(!text.starts_with("call"), "{address:x}: {text}");
            }
        }
    }
    assert!(loops >= 6, "only {loops} hot loops found");
}

/// Whether the names of functions tell kernels apart: the flag of `.cargo/config.toml` does that. Without it,
/// the names are `vectorize` and nothing more.
fn has_long_names() -> bool {
    let replaced = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"];
    let mut replaced = replaced.into_iter();
    match replaced.find(|name| std::env::var_os(name).is_some()) {
        Some(variable) => {
            skipped(&format!("{variable} replaces the flags of the project"));
            false
        }
        None => true,
    }
}

#[test]
fn kernels_of_the_colour_engine_call_nothing() {
    link_kernels();
    let Some(disassembly) = disassembly().filter(|_| has_long_names()) else {
        return;
    };
    for folder in ["avx2", "avx512"] {
        let vectorize = format!("simd::{folder}::vectorize");
        let kernels = functions(&disassembly, &[&vectorize, "colour::kernel::expand<"]);
        // One for each number of rows left.
        assert!(kernels.len() >= 16, "only {} of {folder}", kernels.len());
        for (address, text) in kernels.iter().flatten() {
            assert!(!text.starts_with("call"), "{address:x}: {text}");
        }
    }
}
