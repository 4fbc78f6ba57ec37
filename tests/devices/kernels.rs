//! The machine code of the kernels: registers, spills, the instructions of the hot loop.
//!
//! Needs `ptxas`, `nvcc` and `cuobjdump` (CUDA 13), on the path or in `$QUEENFOLD_CUDA/bin`, but no GPU. Without
//! them these tests report that they are skipped. This command makes the embedded kernels:
//!
//! ```text
//! cargo test --release --test it -- --ignored make_the_embedded_kernels
//! ```
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::kernel_source::{kernel_source, source_hash};
use crate::common::program::words;
use crate::common::skip::skipped;
use queenfold::board::Size;
use queenfold::chain::{self, ChainPlan};
use queenfold::colour;
use queenfold::device::cuda::{embedded, for_device};
use queenfold::engine::{DeviceProgram, Plan};
use queenfold_cli::ladder;

/// Every device program.
fn programs() -> impl Iterator<Item = DeviceProgram> {
    chain::programs()
        .chain(colour::programs())
        .chain(ladder::PROGRAMS)
}

/// Every architecture from the floor on that has its own machine code, and KiB of shared memory of a multiprocessor: T4,
/// A100, RTX 30, RTX 40, H100, B200, RTX 50.
const ARCHITECTURES: [(&str, u32); 7] = [
    ("sm_75", 64),
    ("sm_80", 164),
    ("sm_86", 100),
    ("sm_89", 100),
    ("sm_90", 228),
    ("sm_100", 228),
    ("sm_120", 100),
];

/// `nvcc` and `cuobjdump`, if this machine has them.
pub struct Tools {
    folder: Option<PathBuf>,
}

impl Tools {
    pub fn find() -> Option<Self> {
        let folder = std::env::var_os("QUEENFOLD_CUDA").map(|root| PathBuf::from(root).join("bin"));
        let tools = Self { folder };
        let there = ["nvcc", "cuobjdump"].iter().all(|tool| {
            let mut command = tools.command(tool);
            command
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        });
        if !there {
            skipped("no nvcc and cuobjdump on the path or in $QUEENFOLD_CUDA/bin");
        }
        there.then_some(tools)
    }

    pub fn command(&self, tool: &str) -> Command {
        match &self.folder {
            Some(folder) => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let mut command = Command::new(folder.join(tool));
                let paths = std::iter::once(folder.clone()).chain(std::env::split_paths(&path));
                command.env("PATH", std::env::join_paths(paths).unwrap());
                command
            }
            None => Command::new(tool),
        }
    }

    /// Makes machine code of the embedded form of `program`, as a driver does, and returns the report.
    fn assemble(
        &self,
        program: DeviceProgram,
        (architecture, memory): (&str, u32),
        to: &Path,
    ) -> String {
        let text = to.with_extension("ptx");
        fs::write(&text, for_device(program, memory << 10).unwrap()).unwrap();
        let output = self
            .command("ptxas")
            .args([&format!("-arch={architecture}"), "-v", "-o"])
            .args([to, text.as_path()])
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let name = format!("{program} for {architecture}");
        assert!(output.status.success(), "{name}: {report}");
        format!("{name}: {report}")
    }

    /// The machine code of a kernel: address and text of each instruction.
    fn disassemble(&self, kernel: &Path) -> Vec<(u64, String)> {
        let output = self
            .command("cuobjdump")
            .arg("--dump-sass")
            .arg(kernel)
            .output()
            .unwrap();
        assert!(output.status.success());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(instruction).collect()
    }
}

/// `/*0a10*/   LDS R17, [R17+-0x980] ;  /* … */`
fn instruction(line: &str) -> Option<(u64, String)> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let text = rest.split("/*").next()?.trim().trim_end_matches(';').trim();
    (address < 0x10000 && !text.is_empty()).then(|| (address, text.to_owned()))
}

/// Where an instruction branches to.
fn target(text: &str) -> Option<u64> {
    let (_, operands) = text.split_once("BRA")?;
    let (_, address) = operands.rsplit_once("0x")?;
    u64::from_str_radix(address.trim(), 16).ok()
}

/// The innermost loop of the search: from the target of a backward branch to that branch, without
/// another backward branch inside, and with accesses to the stack.
fn hot_loop(code: &[(u64, String)]) -> Vec<&str> {
    let loops = code.iter().filter_map(|(end, text)| {
        let start = target(text).filter(|start| start < end)?;
        let body = code
            .iter()
            .filter(|(address, _)| (start..=*end).contains(address));
        Some(body.map(|(_, text)| text.as_str()).collect::<Vec<_>>())
    });
    loops
        .filter(|body| body.iter().any(|text| text.contains("LDS.128")))
        .min_by_key(Vec::len)
        .expect("a loop that uses the stack")
}

/// Whether an instruction runs on the pipe for integers and logic, which takes half a warp in a clock. Multiplications
/// and additions of floats and integers (`IMAD`) have another pipe; so have `POPC`, memory and control, and what is
/// the same for the whole warp (`R2UR`, `U…`).
fn is_alu(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let mut name = words.next().unwrap_or_default();
    if name.starts_with('@') {
        name = words.next().unwrap_or_default();
    }
    let name = name.split('.').next().unwrap_or_default();
    let others = words!("IMAD FFMA FMUL FADD POPC LDS STS BRA NOP VOTE R2UR S2R");
    !others.contains(&name) && !name.starts_with('U')
}

#[test]
fn every_specialisation_is_lean_on_every_architecture() {
    let Some(tools) = Tools::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // The compiled code depends on n only through the depth.
    let programs: HashSet<DeviceProgram> = (8..=28)
        .map(|n| {
            ChainPlan::new(Size::new(n).unwrap())
                .launcher()
                .unwrap()
                .program()
        })
        .collect();
    // Of the others, the loop is written in another way.
    let read = |(name, _): &(&str, u32)| ["sm_80", "sm_90", "sm_100"].contains(name);
    for architecture in ARCHITECTURES.into_iter().filter(read) {
        for &program in &programs {
            let kernel = folder.path().join("kernel.cubin");
            let name = tools.assemble(program, architecture, &kernel);
            assert!(
                name.contains("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"),
                "{name}"
            );
            let code = tools.disassemble(&kernel);
            let has = |what: &str| code.iter().any(|(_, text)| text.contains(what));
            assert!(!has("LDL") && !has("STL"), "{name}: local memory");
            let body = hot_loop(&code);
            let count = |what: &str| body.iter().filter(|text| text.contains(what)).count();
            let nodes = count("STS.128");
            assert!(nodes >= 1, "{name}");
            assert_eq!(count("BRA"), 1, "{name}: branches in the hot loop");
            for barrier in ["BSSY", "BSYNC", "WARPSYNC", "BREAK"] {
                assert_eq!(count(barrier), 0, "{name}: {barrier} in the hot loop");
            }
            // These bind: other instructions run beside them.
            let alu = body.iter().filter(|text| is_alu(text)).count();
            assert!(
                alu <= 17 * nodes,
                "{name}: {alu} operations of the ALU for {nodes} nodes:\n{}",
                body.join("\n")
            );
        }
    }
}

/// More registers, and fewer blocks run at a time than the shared memory of a multiprocessor holds.
#[test]
fn the_colour_kernel_keeps_its_nodes_in_registers_on_every_architecture() {
    let Some(tools) = Tools::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (architecture, memory) in ARCHITECTURES {
        for program in colour::programs() {
            let kernel = folder.path().join("kernel.cubin");
            let report = tools.assemble(program, (architecture, memory), &kernel);
            let number = |before: &str| -> u32 {
                let text = report.split(before).next();
                let text = text.and_then(|text| text.split_whitespace().last());
                text.unwrap().parse().unwrap()
            };
            // On an A100, a word that lies elsewhere costs less than a fifth of the warps.
            let few = if architecture == "sm_80" { 4 } else { 0 };
            assert!(number(" bytes spill stores") <= few, "{report}");
            let registers = number(" registers");
            println!("{program} for {architecture}: {registers} registers");
            let threads = program.block_sizes(memory << 10).last().unwrap();
            let most = 65_536 / (threads * program.blocks_in(memory << 10).unwrap());
            assert!(registers <= most, "{report}");
        }
    }
}

#[test]
fn the_historical_kernels_keep_nothing_but_their_arrays_in_local_memory() {
    let Some(tools) = Tools::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for architecture in ARCHITECTURES {
        // Stack rows have 16 bytes; then the queens, and the row of the queen in each column.
        for program in ladder::PROGRAMS {
            let arrays = match program.entry() {
                "node_layer" => 32 * 16,
                _ => 32 * (16 + 4 + 4),
            };
            let kernel = folder.path().join("kernel.cubin");
            let name = tools.assemble(program, architecture, &kernel);
            let frame = name
                .split(" bytes stack frame")
                .next()
                .and_then(|text| text.split_whitespace().last())
                .and_then(|bytes| bytes.parse().ok());
            assert!(
                name.contains("0 bytes spill stores, 0 bytes spill loads"),
                "{name}"
            );
            assert!(
                frame.is_some_and(|frame: u32| frame <= arrays + 64),
                "{name}"
            );
        }
    }
}

#[test]
fn every_program_has_a_name_of_its_own() {
    let names: HashSet<String> = programs().map(|program| program.to_string()).collect();
    assert_eq!(names.len(), programs().count());
}

#[test]
fn the_source_is_one_text_without_comments_that_includes_nothing_of_ours() {
    for program in programs() {
        let source = kernel_source(program);
        let thread = format!("{}_thread", program.entry());
        assert!(source.contains(&thread) && source.contains("take_number"));
        for left_out in ["#include \"", "#pragma once", "//", "/*"] {
            assert!(!source.contains(left_out), "{program}: {left_out}");
        }
    }
}

#[test]
fn every_program_has_an_embedded_form_made_of_the_source_there_is() {
    for program in programs() {
        let text = embedded(program).unwrap();
        let first = format!("// source {:016x}", source_hash(program));
        assert_eq!(
            text.lines().next(),
            Some(&*first),
            "{program}: kernels/ptx is out of date: see its README"
        );
        let entry = format!(".entry {}(", program.entry());
        assert!(text.contains(&entry), "{program}");
    }
}

#[test]
#[ignore = "writes kernels/ptx; run by name after a change to the kernels"]
fn make_the_embedded_kernels() {
    let tools = Tools::find().expect("nvcc is needed");
    let root = Path::new(crate::common::ROOT).join("kernels/ptx");
    let folder = tempfile::tempdir().unwrap();
    for program in programs() {
        let [source, made] = ["kernel.cu", "kernel.ptx"].map(|name| folder.path().join(name));
        fs::write(&source, kernel_source(program)).unwrap();
        let define = match program.entry() {
            "chain" => Some(format!("-DQF_DEPTH={}u", program.variant())),
            "colour" => Some(format!("-DQF_COUNTERS={}u", program.variant())),
            _ => None,
        };
        let compiled = tools
            .command("nvcc")
            .args(["--gpu-architecture=compute_75", "--std=c++17"])
            .args(define)
            .args(["-ptx", "-o"])
            .args([&made, &source])
            .status();
        assert!(compiled.unwrap().success(), "{program}");
        let text = fs::read_to_string(&made).unwrap();
        // The compiler writes its own PTX version, but the code needs only 8.2, which drivers of
        // CUDA 12.2 read.
        let body: String = text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.starts_with("//") && !line.is_empty())
            // A hint to tools, which PTX 8.3 introduced.
            .filter(|line| !line.contains(".pragma \"used_bytes_mask"))
            .map(|line| {
                if line.starts_with(".version") {
                    ".version 8.2"
                } else {
                    line
                }
            })
            .flat_map(|line| [line, "\n"])
            .collect();
        let hash = source_hash(program);
        fs::write(
            root.join(format!("{program}.ptx")),
            format!("// source {hash:016x}\n{body}"),
        )
        .unwrap();
    }
}
