use super::kernel::FLAT;

/// The bytes that one worker may hold, and how they are shared out.
///
/// The boards of the quadrants of both halves take at most two thirds, the two lists with all copies
/// that splitting makes of them an eighth each, and kept lists without a middle queen an eighth. That is
/// slightly more than the whole, but the third use exists only on small boards, which need far less
/// than they may take. What is measured for small budgets: docs/PERFORMANCE.md, Join, "Memory".
#[derive(Clone, Copy, Debug)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// A budget of so many bytes.
    pub fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Bytes that the boards of the quadrants of one half may take if those of the other half take
    /// `other_half`.
    pub fn quadrants(self, other_half: u64) -> u64 {
        (self.bytes / 3 * 2).saturating_sub(other_half)
    }

    /// Bytes at which a list is full if it is sorted by `sorted` bits: the list and all copies made
    /// of it then take an eighth of the memory.
    pub fn list(self, sorted: u32) -> u64 {
        // Flat lists are vectors, which take up to twice the size of their keys when they grow.
        // Chunks take a little more than their keys.
        let listed = if sorted <= FLAT { 2.0 } else { 1.2 };
        // What is left of a list where it is gathered: once for the list, and three times for the
        // copies that splitting makes. Every other bit halves the list, the bits in between leave
        // four fifths of it: see `assign_splits` in pairs.rs.
        let gathered = 4.0 * 0.4f64.powf(f64::from(sorted) / 2.0);
        ((self.bytes / 8) as f64 / (listed + gathered)) as u64
    }

    /// The number of keys of lists without a middle queen that are kept: at most 2 MiB of them,
    /// which a second-level cache still holds. Twice as many gain 3.5 % at n = 19 and take 4 MiB
    /// more (docs/PERFORMANCE.md, Join, "What was tried").
    pub fn kept_keys(self) -> usize {
        (self.bytes / 8 / size_of::<u64>() as u64).min(1 << 19) as usize
    }
}
