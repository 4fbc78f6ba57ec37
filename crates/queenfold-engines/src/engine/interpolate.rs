//! Geometric interpolation between measured boards.

use crate::board::Size;

/// The value for boards of size `n` by a table of at least two sizes with their values, ascending:
/// sizes between two of them, and beyond the ends, are interpolated geometrically.
pub fn interpolate(n: Size, table: &[(u32, f64)]) -> f64 {
    let n = n.get();
    let after = table
        .iter()
        .position(|(at, _)| *at >= n)
        .unwrap_or(table.len())
        .clamp(1, table.len() - 1);
    let ((n0, y0), (n1, y1)) = (table[after - 1], table[after]);
    let growth = (y1 / y0).powf(1.0 / f64::from(n1 - n0));
    y0 * growth.powf(f64::from(n) - f64::from(n0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_grow_by_the_same_factor_between_and_beyond_the_sizes_of_the_table() {
        let table = [(10, 1.0), (12, 4.0), (13, 40.0)];
        for (n, expected) in [
            (8, 0.25),
            (10, 1.0),
            (11, 2.0),
            (12, 4.0),
            (13, 40.0),
            (15, 4e3),
        ] {
            let value = interpolate(Size::new(n).unwrap(), &table);
            assert!((value / expected - 1.0).abs() < 1e-9, "n = {n}: {value}");
        }
    }
}
