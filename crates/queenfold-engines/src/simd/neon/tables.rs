//! Permutations of bytes, looked up by a mask of lanes.
//!
//! A table has an entry of `BYTES` bytes for each of its masks. Such an entry permutes the bytes of one
//! register or of a pair, in lanes of `WIDTH` bytes.

/// Moves the true lanes together.
pub static COMPRESS_16: [[u8; 16]; 256] = compress::<2, 16, 256>();
/// Moves the true lanes together.
pub static COMPRESS_32: [[u8; 32]; 256] = compress::<4, 32, 256>();
/// Moves consecutive words to the true lanes.
pub static EXPAND_16: [[u8; 16]; 256] = expand::<2, 16, 256>();
/// Moves consecutive words to the true lanes.
pub static EXPAND_32: [[u8; 32]; 256] = expand::<4, 32, 256>();

/// For each mask of eight lanes the number of true ones. To count bits otherwise, a number has to move
/// to a vector register and back.
pub static TRUE_LANES: [u8; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        table[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    table
};

/// An index for which `tbx` leaves a byte as it was.
const NONE: u8 = u8::MAX;

const fn compress<const WIDTH: usize, const BYTES: usize, const MASKS: usize>()
-> [[u8; BYTES]; MASKS] {
    let mut table = [[0; BYTES]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut from, mut to) = (0, 0);
        while from < BYTES {
            if mask >> (from / WIDTH) & 1 == 1 {
                table[mask][to] = from as u8;
                to += 1;
            }
            from += 1;
        }
        mask += 1;
    }
    table
}

const fn expand<const WIDTH: usize, const BYTES: usize, const MASKS: usize>() -> [[u8; BYTES]; MASKS]
{
    let mut table = [[NONE; BYTES]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut from, mut to) = (0, 0);
        while to < BYTES {
            if mask >> (to / WIDTH) & 1 == 1 {
                table[mask][to] = from as u8;
                from += 1;
            }
            to += 1;
        }
        mask += 1;
    }
    table
}
