//! How many tasks a plan has for a given board.

/// Binary logarithm below which the number of tasks does not fall, if the free board has as many: the work
/// is only estimated, and this many tasks share it evenly among some workers.
const LEAST: u32 = 6;

/// Binary logarithm of the number of tasks of a plan for a given board, whose work is `work` times that for
/// the free board with `bits`. The same on every machine, as long as `work` is.
pub fn task_bits(bits: u32, work: f64) -> u32 {
    // The exponent of a normal number is its binary logarithm, rounded down.
    let logarithm = (work.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    bits.saturating_add_signed(logarithm)
        .clamp(bits.min(LEAST), 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_follow_the_work() {
        for (bits, work, expected) in [
            (0, 1.0, 0),
            (13, 1.0, 13),
            (13, 8.0, 16),
            (13, 0.3, 11),
            (13, 1e-9, 6),
            (3, 1e-300, 3),
            (63, 8.0, 63),
        ] {
            assert_eq!(task_bits(bits, work), expected, "{bits} {work}");
        }
    }
}
