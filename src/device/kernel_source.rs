//! The source of the kernels, as part of this library.

use crate::engine::DeviceProgram;

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../kernels/", $name)))),*]
    };
}

/// Every file of a kernel's source, by its name.
const FILES: &[(&str, &str)] = files!(
    "device.h" "rows.h" "bit_board.h" "bit_board.cu" "node_layer.h" "node_layer.cu" "chain.h" "chain.cu"
    "block.h" "colour_levels.h" "colour_own.h" "colour.h" "colour.cu"
);

/// What kernels need of the machine that they run on: the first part of every source.
const MACHINE: &str = "device.h";

/// The source of `program`: one text, without comments and without includes.
///
/// Comments are left out so that better words for the reader change neither the [`source_hash`] nor what
/// was compiled before.
pub fn kernel_source(program: DeviceProgram) -> String {
    [MACHINE]
        .iter()
        .chain(program.files())
        .filter_map(|name| FILES.iter().find(|(file, _)| file == name))
        .flat_map(|(_, text)| text.lines())
        .filter(|line| !line.starts_with("#include \"") && *line != "#pragma once")
        // No string in a kernel contains `//`, and no comment spans lines: a test checks that.
        .map(|line| line.split("//").next().unwrap_or_default().trim_end())
        .filter(|line| !line.is_empty())
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// A hash of the source of `program`, which tells whether something compiled belongs to it.
pub fn source_hash(program: DeviceProgram) -> u64 {
    fnv(kernel_source(program).as_bytes())
}

/// The hash FNV-1a, the same on every machine.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
