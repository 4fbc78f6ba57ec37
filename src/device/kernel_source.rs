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

/// The source of `program`: one text, without comments and with what its files include, each once.
///
/// Comments are left out so that better words for the reader change neither the [`source_hash`] nor what
/// was compiled before.
pub fn kernel_source(program: DeviceProgram) -> String {
    let (mut text, mut read) = (String::new(), Vec::new());
    add(&format!("{}.cu", program.entry()), &mut text, &mut read);
    text
}

/// Adds the source of a file behind that of what it includes, unless it was read before.
fn add(file: &str, text: &mut String, read: &mut Vec<&str>) {
    let found = FILES.iter().find(|(name, _)| *name == file);
    let Some((name, source)) = found.filter(|(name, _)| !read.contains(name)) else {
        return;
    };
    read.push(name);
    for line in source.lines() {
        // No string in a kernel contains `//`, and no comment spans lines: a test checks that.
        let code = line.split("//").next().unwrap_or_default().trim_end();
        match code.strip_prefix("#include \"") {
            Some(included) => add(included.trim_end_matches('"'), text, read),
            None if code.is_empty() || code == "#pragma once" => {}
            None => {
                text.push_str(code);
                text.push('\n');
            }
        }
    }
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
