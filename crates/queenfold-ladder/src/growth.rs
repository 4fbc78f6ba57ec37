//! How the time of a method grows with the board, and what it would be on a larger one.

/// By how much the time (or what else is counted) grows with one queen more, at the end of `times`: pairs of a board size
/// and the seconds it took, by ascending size.
///
/// It is the mean over the last two queens, because odd boards cost some methods twice as much as even ones; over
/// the last queen where there is no board two queens smaller. `None` if the times do not say.
pub fn growth(times: &[(u32, f64)]) -> Option<f64> {
    let (n, last) = *times.last()?;
    let before = |queens| seconds_of(times, n.checked_sub(queens)?);
    let factor = match before(2) {
        Some(seconds) => (last / seconds).sqrt(),
        None => last / before(1)?,
    };
    factor.is_finite().then_some(factor)
}

/// What a board of `n` queens would take, judged by the times of smaller ones.
///
/// `boards` is how many boards are filled, where that is known: then the last time is enough. Elsewhere the factor from
/// one board to the next is taken to grow in proportion to the number of queens. For the searches of the ladder it nearly
/// does: that of `bitmap` is 3.9 at 9 queens and 7.2 at 17.
pub fn extrapolated(
    times: &[(u32, f64)],
    boards: impl Fn(u32) -> Option<f64>,
    n: u32,
) -> Option<f64> {
    let (last, seconds) = *times.last()?;
    if n <= last {
        return None;
    }
    if let (Some(all), Some(counted)) = (boards(n), boards(last)) {
        return Some(seconds * all / counted);
    }
    let factor = growth(times)?;
    // From a board as odd or even as that one, if there is one.
    let same = last.checked_sub((n - last) % 2)?;
    let (from, seconds) = match seconds_of(times, same) {
        Some(seconds) => (same, seconds),
        None => *times.last()?,
    };
    // The mean over two queens is that of the middle between them.
    let middle = f64::from(last) - 0.5;
    let grown = (from + 1..=n).map(|queens| (factor * f64::from(queens) / middle).max(1.0));
    Some(seconds * grown.product::<f64>())
}

fn seconds_of(times: &[(u32, f64)], n: u32) -> Option<f64> {
    let found = times.iter().find(|(queens, _)| *queens == n)?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that are given by a formula.
    fn times(sizes: std::ops::RangeInclusive<u32>, of: impl Fn(f64) -> f64) -> Vec<(u32, f64)> {
        sizes.map(|n| (n, of(f64::from(n)))).collect()
    }

    #[test]
    fn the_growth_is_that_of_the_last_two_queens() {
        assert_eq!(growth(&times(8..=10, |n| 7_f64.powf(n))), Some(7.0));
        assert_eq!(growth(&[(8, 1.0), (9, 5.0)]), Some(5.0));
        assert_eq!(growth(&[(8, 1.0), (12, 5.0)]), None);
        assert_eq!(growth(&[(8, 1.0)]), None);
        assert_eq!(growth(&[(8, 0.0), (9, 1.0)]), None);
    }

    #[test]
    fn tuples_and_permutations_are_extrapolated_by_how_many_boards_they_fill() {
        for (name, counted, n, all) in [
            ("tuples", 7, 9, 387_420_489.0 / 823_543.0),
            ("permutations", 9, 12, 1320.0),
        ] {
            let method = crate::method(name).unwrap();
            // Smaller boards say nothing more.
            let times = [(counted - 1, 1.0), (counted, 2.0)];
            let guess = extrapolated(&times, |n| (method.boards)(n), n).unwrap();
            assert!((guess / (2.0 * all) - 1.0).abs() < 1e-9, "{name}: {guess}");
        }
    }

    /// The times of `bitmap` on one core, as they were measured in November 2026.
    #[test]
    fn searches_that_were_measured_are_extrapolated_within_a_factor_of_two() {
        let bitmap = [(13, 0.0348), (14, 0.205), (15, 1.22)];
        for (n, took) in [(16, 8.30), (17, 59.8)] {
            let ratio = extrapolated(&bitmap, |_| None, n).unwrap() / took;
            assert!((0.5..2.0).contains(&ratio), "n = {n}: {ratio}");
        }
        let zigzag = [(13, 0.2), (14, 0.4), (15, 3.2)];
        // Odd boards cost twice as much here: without the pairs, 16 would be above 15 by the whole factor.
        assert!(extrapolated(&zigzag, |_| None, 16).unwrap() < 3.0 * 3.2);
    }

    #[test]
    fn a_smaller_board_or_no_times_have_no_extrapolation() {
        assert_eq!(extrapolated(&[(8, 1.0), (9, 5.0)], |_| Some(1.0), 8), None);
        assert_eq!(extrapolated(&[], |_| Some(1.0), 8), None);
    }
}
