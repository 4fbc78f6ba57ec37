//! Permutations, looked up by a mask of lanes.

/// For each mask of eight 16-bit lanes, the byte permutation that moves the true lanes together.
pub static COMPRESS_16: [[u8; 16]; 256] = tables_16().0;
/// For each mask of eight 16-bit lanes, the byte permutation that moves consecutive words to the
/// true lanes, and zero to the others.
pub static EXPAND_16: [[u8; 16]; 256] = tables_16().1;
/// For each mask of eight lanes, the positions of the true lanes, in order.
pub static COMPRESS_32: [[u8; 8]; 256] = tables_32().0;
/// For each mask of eight lanes, the rank of each true lane among the true lanes.
pub static EXPAND_32: [[u8; 8]; 256] = tables_32().1;

const fn tables_32() -> ([[u8; 8]; 256], [[u8; 8]; 256]) {
    let (mut compress, mut expand) = ([[0; 8]; 256], [[0; 8]; 256]);
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut rank) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                compress[mask][rank] = lane as u8;
                expand[mask][lane] = rank as u8;
                rank += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    (compress, expand)
}

const fn tables_16() -> ([[u8; 16]; 256], [[u8; 16]; 256]) {
    /// The index for which a byte permutation gives zero.
    const ZERO: u8 = 0x80;
    let (lanes, ranks) = tables_32();
    let (mut compress, mut expand) = ([[0; 16]; 256], [[ZERO; 16]; 256]);
    let mut mask = 0;
    while mask < 256 {
        let mut byte = 0;
        while byte < 16 {
            let lane = byte / 2;
            compress[mask][byte] = 2 * lanes[mask][lane] + byte as u8 % 2;
            if mask >> lane & 1 == 1 {
                expand[mask][byte] = 2 * ranks[mask][lane] + byte as u8 % 2;
            }
            byte += 1;
        }
        mask += 1;
    }
    (compress, expand)
}
