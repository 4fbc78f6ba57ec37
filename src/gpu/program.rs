use std::fmt;

use crate::board::Size;

/// A kernel that devices can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Carry chain: one subtree per thread at a time, and the next one when it is done.
    Chain,
    /// The last rows of the symmetry search: each node searched by a thread of its own.
    BitBoard,
    /// The rows below a layer: each node searched by a thread of its own.
    NodeLayer,
}

/// A kernel and what it is specialised for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The kernel.
    pub kernel: Kernel,
    /// How many rows a job may leave to fill, in [`Program::DEPTHS`]; 0 for kernels that are not
    /// specialised.
    pub depth: u32,
}

const DEVICE: &str = include_str!("../../kernels/device.h");
const CHAIN: &str = include_str!("../../kernels/chain.h");
const CHAIN_ENTRY: &str = include_str!("../../kernels/chain.cu");
const ROWS: &str = include_str!("../../kernels/rows.h");
const BIT_BOARD: &str = include_str!("../../kernels/bit_board.h");
const BIT_BOARD_ENTRY: &str = include_str!("../../kernels/bit_board.cu");
const NODE_LAYER: &str = include_str!("../../kernels/node_layer.h");
const NODE_LAYER_ENTRY: &str = include_str!("../../kernels/node_layer.cu");

impl Program {
    /// Depths there are specialisations for.
    pub const DEPTHS: std::ops::RangeInclusive<u32> = 3..=16;

    /// The most threads a block of the chain kernel may have.
    pub const MOST_THREADS: u32 = 256;

    /// The bit-board kernel.
    pub const BIT_BOARD: Self = Self {
        kernel: Kernel::BitBoard,
        depth: 0,
    };

    /// The node-layer kernel.
    pub const NODE_LAYER: Self = Self {
        kernel: Kernel::NodeLayer,
        depth: 0,
    };

    /// The largest board whose inner columns leave room in a word for what else the chain kernel
    /// keeps there.
    pub const LARGEST_BOARD: u32 = 28;

    /// Every program there is.
    pub fn all() -> impl Iterator<Item = Self> {
        let chains = Self::DEPTHS.map(|depth| Self {
            kernel: Kernel::Chain,
            depth,
        });
        chains.chain([Self::BIT_BOARD, Self::NODE_LAYER])
    }

    /// The chain kernel for boards of size `n`; `None` if the kernel does not count such boards.
    ///
    /// The fewer rows a job has to fill, the smaller its stack and the more jobs run at a time; the
    /// more, the fewer jobs have to be made and sent. These depths give jobs of 10⁵ nodes or so
    /// where there are enough of them.
    pub fn chain(n: Size) -> Option<Self> {
        let depth = match n.get() {
            0..5 => return None,
            n @ 5..=13 => n.saturating_sub(4).max(3),
            14 => 9,
            15..=16 => 10,
            17 => 11,
            18..=19 => 12,
            20 => 13,
            21..=23 => 14,
            24..=Self::LARGEST_BOARD => 15,
            _ => return None,
        };
        Some(Self {
            kernel: Kernel::Chain,
            depth,
        })
    }

    /// The name of its entry point.
    pub const fn entry(self) -> &'static str {
        match self.kernel {
            Kernel::Chain => "chain",
            Kernel::BitBoard => "bit_board",
            Kernel::NodeLayer => "node_layer",
        }
    }

    /// Whether a thread takes one job and ends: a launch has as many threads as jobs then. Threads of
    /// the other kernels take jobs as long as there are any.
    pub const fn has_a_thread_for_each_job(self) -> bool {
        match self.kernel {
            Kernel::Chain => false,
            Kernel::BitBoard | Kernel::NodeLayer => true,
        }
    }

    /// A hash of its source, to tell whether something made of it belongs to it.
    pub fn source_hash(self) -> u64 {
        fnv(self.source().as_bytes())
    }

    /// Its source, one text without includes.
    pub fn source(self) -> String {
        let files = match self.kernel {
            Kernel::Chain => &[DEVICE, CHAIN, CHAIN_ENTRY][..],
            Kernel::BitBoard => &[DEVICE, ROWS, BIT_BOARD, BIT_BOARD_ENTRY],
            Kernel::NodeLayer => &[DEVICE, ROWS, NODE_LAYER, NODE_LAYER_ENTRY],
        };
        files
            .iter()
            .flat_map(|file| file.lines())
            .filter(|line| !line.starts_with("#include \"") && *line != "#pragma once")
            .flat_map(|line| [line, "\n"])
            .collect()
    }

    /// The compiler options that specialise it, for a device of this architecture: `sm_90`, or
    /// `compute_90` for the portable intermediate form.
    pub fn options(self, architecture: &str) -> Vec<String> {
        let mut options = vec![
            format!("--gpu-architecture={architecture}"),
            "--std=c++17".to_owned(),
        ];
        match self.kernel {
            Kernel::Chain => options.push(format!("-DQF_DEPTH={}u", self.depth)),
            Kernel::BitBoard | Kernel::NodeLayer => {}
        }
        options
    }

    /// Bytes of shared memory for each thread.
    pub const fn shared_memory(self) -> u32 {
        match self.kernel {
            // As `chain_shared` of the kernel: row words and stack.
            Kernel::Chain => (self.depth + 1) * 4 + self.depth * 16,
            Kernel::BitBoard | Kernel::NodeLayer => 0,
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernel {
            Kernel::Chain => write!(f, "{}-{}", self.entry(), self.depth),
            Kernel::BitBoard | Kernel::NodeLayer => f.write_str(self.entry()),
        }
    }
}

/// The hash FNV-1a, the same on every machine.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_up_to_28_has_a_specialisation() {
        for n in Size::all() {
            let program = Program::chain(n);
            assert_eq!(program.is_some(), (5..=28).contains(&n.get()), "n = {n}");
            if let Some(program) = program {
                assert!(Program::DEPTHS.contains(&program.depth), "n = {n}");
            }
        }
    }

    #[test]
    fn the_source_is_one_text_that_includes_nothing_of_ours() {
        for program in Program::all() {
            let source = program.source();
            let thread = format!("{}_thread", program.entry());
            assert!(source.contains(&thread) && source.contains("take_number"));
            assert!(!source.contains("#include \""), "{program}");
        }
    }

    #[test]
    fn a_block_fits_into_the_shared_memory_of_an_sm_80() {
        for n in 5..=28 {
            let program = Program::chain(Size::new(n).unwrap()).unwrap();
            assert!(
                program.shared_memory() * Program::MOST_THREADS <= 163 * 1024,
                "n = {n}"
            );
        }
    }
}
