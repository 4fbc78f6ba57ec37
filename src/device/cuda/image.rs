//! Kernels in CUDA's portable intermediate form (PTX), compiled beforehand and part of this program:
//! for machines that have a driver and no compiler.

use crate::engine::DeviceProgram;

/// The embedded form of `program`, for compute capability 7.5 and above; `None` if there is none.
///
/// Its first line is a comment with the hash of the source that it was compiled from.
pub fn embedded(program: DeviceProgram) -> Option<&'static str> {
    let name = program.to_string();
    let (_, text) = IMAGES.iter().find(|(of, _)| *of == name)?;
    Some(text)
}

/// The hash in an embedded kernel's first line.
pub fn embedded_hash(text: &str) -> Option<u64> {
    let (_, hash) = text.lines().next()?.split_once("source ")?;
    u64::from_str_radix(hash, 16).ok()
}

macro_rules! images {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../kernels/ptx/", $name, ".ptx")))),*]
    };
}

/// Every embedded kernel, by the name of its program.
const IMAGES: &[(&str, &str)] = images!(
    "chain-3" "chain-4" "chain-5" "chain-6" "chain-7" "chain-8" "chain-9" "chain-10" "chain-11"
    "chain-12" "chain-13" "chain-14" "chain-15" "colour-4096" "colour-8192" "bit_board"
    "node_layer"
);
