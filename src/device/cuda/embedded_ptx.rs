//! Kernels in CUDA's portable intermediate form (PTX), compiled beforehand and part of this program. The driver of a
//! device makes its machine code of them.

use crate::engine::DeviceProgram;

/// The embedded form of `program`, for compute capability 7.5 and above; `None` if there is none.
///
/// Its first line is a comment with the hash of the source that it was compiled from.
pub fn embedded(program: DeviceProgram) -> Option<&'static str> {
    let name = program.to_string();
    let (_, text) = IMAGES.iter().find(|(of, _)| *of == name)?;
    Some(text)
}

/// The embedded form of `program` for a device whose multiprocessors have so many bytes of shared memory; `None` if there
/// is none.
///
/// It says how many blocks run at a time, so that the driver leaves registers for all of them, and not for more.
pub fn for_device(program: DeviceProgram, memory: u32) -> Option<String> {
    let text = embedded(program)?;
    let Some(blocks) = program.blocks_in(memory) else {
        return Some(text.to_owned());
    };
    let (before, after) = text.split_once(MOST_THREADS)?;
    let (most, after) = after.split_once('\n')?;
    Some(format!(
        "{before}{MOST_THREADS}{most}\n.minnctapersm {blocks}\n{after}"
    ))
}

/// How the line begins that says how many threads a block has at most.
const MOST_THREADS: &str = ".maxntid ";

macro_rules! images {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../kernels/ptx/", $name, ".ptx")))),*]
    };
}

/// Every embedded kernel, by the name of its program.
const IMAGES: &[(&str, &str)] = images!(
    "chain-3" "chain-4" "chain-5" "chain-6" "chain-7" "chain-8" "chain-9" "chain-10" "chain-11"
    "chain-12" "chain-13" "chain-14" "chain-15" "colour-4096" "colour-8192" "colour-16384" "bit_board"
    "node_layer"
);
