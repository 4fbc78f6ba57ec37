//! Kernels in CUDA's portable intermediate form (PTX), made beforehand and part of this program: for
//! machines that have a driver and no compiler.

use crate::gpu::{Kernel, Program};

/// The embedded form of `program`, for compute capability 8.0 and above.
///
/// Its first line is a comment with the hash of the source it was made of.
pub fn embedded(program: Program) -> Option<&'static str> {
    match program.kernel {
        Kernel::Chain => {
            let (_, text) = CHAIN.iter().find(|(depth, _)| *depth == program.depth)?;
            Some(text)
        }
        Kernel::BitBoard => Some(include_str!("../../../kernels/ptx/bit_board.ptx")),
        Kernel::NodeLayer => Some(include_str!("../../../kernels/ptx/node_layer.ptx")),
    }
}

/// The hash in an embedded kernel's first line.
pub fn embedded_hash(text: &str) -> Option<u64> {
    let (_, hash) = text.lines().next()?.split_once("source ")?;
    u64::from_str_radix(hash, 16).ok()
}

macro_rules! embedded {
    ($($depth:literal)*) => {
        [$(($depth, include_str!(concat!("../../../kernels/ptx/chain-", $depth, ".ptx")))),*]
    };
}

const CHAIN: [(u32, &str); 14] = embedded!(3 4 5 6 7 8 9 10 11 12 13 14 15 16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_of_every_program_made_of_the_source_there_is() {
        for program in Program::all() {
            let text = embedded(program).unwrap();
            assert_eq!(
                embedded_hash(text),
                Some(program.source_hash()),
                "{program}: kernels/ptx is out of date: see its README"
            );
            let entry = format!(".entry {}(", program.entry());
            assert!(text.contains(&entry), "{program}");
        }
    }
}
