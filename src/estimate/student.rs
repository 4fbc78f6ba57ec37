//! The t distribution, for confidence intervals.

/// The 97.5 % quantile of Student's t distribution with `freedom` degrees of freedom: half the
/// width of a 95 % interval, in standard errors. The error is below 2 % for 4 degrees and more, 4 %
/// for 3; the tests compare it with the published tables.
pub fn quantile(freedom: f64) -> f64 {
    1.96 + 2.4 / freedom + 2.8 / (freedom * freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_tables() {
        for (freedom, table) in [
            (4.0, 2.776),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (1e9, 1.960),
        ] {
            assert!((quantile(freedom) / table - 1.0).abs() < 0.02, "{freedom}");
        }
    }
}
