//! The source of the kernels, as the compiler reads it.

use std::fs;

use queenfold::engine::DeviceProgram;

/// The source of `program`: one text, without comments and with what its files include, each once.
///
/// Comments are left out so that better words for the reader do not change [`source_hash`].
pub fn kernel_source(program: DeviceProgram) -> String {
    let (mut text, mut read) = (String::new(), Vec::new());
    add(&format!("{}.cu", program.entry()), &mut text, &mut read);
    text
}

/// Adds the source of a file behind that of what it includes, unless it was read before.
fn add(file: &str, text: &mut String, read: &mut Vec<String>) {
    if read.iter().any(|name| name == file) {
        return;
    }
    read.push(file.to_owned());
    let path = format!("{}/kernels/{file}", crate::common::ROOT);
    for line in fs::read_to_string(path).unwrap().lines() {
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

/// A hash of the source of `program`, which tells whether something compiled belongs to it: FNV-1a.
pub fn source_hash(program: DeviceProgram) -> u64 {
    let source = kernel_source(program);
    source.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
