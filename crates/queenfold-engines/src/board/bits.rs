//! The set bits of a mask, one by one.

/// The positions of the set bits of `mask`, lowest first: the columns of a set of columns, for
/// example.
pub fn bits(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let position = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (position < u32::BITS).then_some(position)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_lowest_first() {
        assert_eq!(bits(0).next(), None);
        assert!(bits(0b1011).eq([0, 1, 3]));
        assert!(bits(u32::MAX).eq(0..32));
        assert!(bits(1 << 31).eq([31]));
    }
}
