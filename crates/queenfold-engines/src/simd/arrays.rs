//! Arrays made in hot loops.
//!
//! `array::map` and `array::from_fn` of the standard library call the closure from functions that need not
//! be inlined. In a build of several code generation units these are compiled in another unit, without the features of
//! the instruction set, and every vector operation in the closure becomes a call.

/// The array of `item(0)`, `item(1)`, …
///
/// A closure with vector operations is to be `#[inline(always)]`, as that of
/// [`Simd::vectorize`](super::Simd::vectorize).
#[inline(always)]
pub fn array<T: Copy, const N: usize>(mut item: impl FnMut(usize) -> T) -> [T; N] {
    const { assert!(N > 0) };
    let mut items = [item(0); N];
    let mut index = 1;
    while index < N {
        items[index] = item(index);
        index += 1;
    }
    items
}

/// The array of what `of` makes of each item. As for [`array`], `of` is to be `#[inline(always)]`.
#[inline(always)]
pub fn each<T: Copy, U: Copy, const N: usize>(items: [T; N], mut of: impl FnMut(T) -> U) -> [U; N] {
    array(
        #[inline(always)]
        |index| of(items[index]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order() {
        assert_eq!(array::<_, 5>(|index| index * index), [0, 1, 4, 9, 16]);
        let mut before = 0;
        let sums = each([1, 2, 3], |item| {
            before += item;
            before
        });
        assert_eq!(sums, [1, 3, 6]);
    }
}
