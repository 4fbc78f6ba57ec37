//! The published counts of solutions: of all up to n = 27, and of those that turns fix on every board.

use super::{Orbits, Size, SymmetryGroup};

/// The published counts of one board size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Solutions, OEIS A000170.
    pub total: u128,
    /// Fundamental solutions (up to the eight symmetries), OEIS A002562.
    pub unique: u128,
    /// Solutions fixed by a half turn, OEIS A032522.
    pub r180: u128,
    /// Solutions fixed by a quarter turn, OEIS A033148.
    pub r90: u128,
}

/// The known counts of the boards of 1, 2, 3, … queens in order, from the OEIS sequences that
/// [`Known`] names. Preußer and Engelhardt counted the total of 27 queens (2016).
pub const KNOWN: [Known; 27] = [
    row(1, 1, 1, 1),                                                   // 1
    row(0, 0, 0, 0),                                                   // 2
    row(0, 0, 0, 0),                                                   // 3
    row(2, 1, 2, 2),                                                   // 4
    row(10, 2, 2, 2),                                                  // 5
    row(4, 1, 4, 0),                                                   // 6
    row(40, 6, 8, 0),                                                  // 7
    row(92, 12, 4, 0),                                                 // 8
    row(352, 46, 16, 0),                                               // 9
    row(724, 92, 12, 0),                                               // 10
    row(2680, 341, 48, 0),                                             // 11
    row(14_200, 1787, 80, 8),                                          // 12
    row(73_712, 9233, 136, 8),                                         // 13
    row(365_596, 45_752, 420, 0),                                      // 14
    row(2_279_184, 285_053, 1240, 0),                                  // 15
    row(14_772_512, 1_846_955, 3000, 64),                              // 16
    row(95_815_104, 11_977_939, 8152, 128),                            // 17
    row(666_090_624, 83_263_591, 18_104, 0),                           // 18
    row(4_968_057_848, 621_012_754, 44_184, 0),                        // 19
    row(39_029_188_884, 4_878_666_808, 144_620, 480),                  // 20
    row(314_666_222_712, 39_333_324_973, 375_664, 704),                // 21
    row(2_691_008_701_644, 336_376_244_042, 1_250_692, 0),             // 22
    row(24_233_937_684_440, 3_029_242_658_210, 3_581_240, 0),          // 23
    row(227_514_171_973_736, 28_439_272_956_934, 11_675_080, 3328),    // 24
    row(2_207_893_435_808_352, 275_986_683_743_434, 34_132_592, 3264), // 25
    row(
        22_317_699_616_364_044,
        2_789_712_466_510_289,
        115_718_268,
        0,
    ), // 26
    row(
        234_907_967_154_122_528,
        29_363_495_934_315_694,
        320_403_024,
        0,
    ), // 27
];

/// R180 and R90 of the boards from 28 queens, from the same sequences. This program counted R180 of 28 and 29 queens and R90 of all;
/// the other values of R180 are the published ones.
const SYMMETRIC: [[u128; 2]; 5] = [
    [1_250_901_440, 32_896],    // 28
    [3_600_075_088, 43_776],    // 29
    [14_589_438_024, 0],        // 30
    [43_266_334_696, 0],        // 31
    [181_254_386_312, 406_784], // 32
];

const fn row(total: u128, unique: u128, r180: u128, r90: u128) -> Known {
    Known {
        total,
        unique,
        r180,
        r90,
    }
}

/// The known counts of the board of size `n`; `None` if no total is known (n ≥ 28).
pub fn known(n: Size) -> Option<&'static Known> {
    KNOWN.get(n.get() as usize - 1)
}

/// The known numbers of solutions of the board of size `n` that turns fix: R180 and R90.
pub fn known_symmetric(n: Size) -> [u128; 2] {
    known(n).map_or_else(
        || SYMMETRIC[n.get() as usize - 1 - KNOWN.len()],
        |known| [known.r180, known.r90],
    )
}

impl Known {
    /// The number of orbits of each size, which follows from these counts.
    ///
    /// # Panics
    /// Never for an entry of [`KNOWN`], whose identities the tests check.
    #[expect(clippy::expect_used, reason = "the tests check every entry")]
    pub fn orbits(&self, n: Size) -> Orbits {
        let all = SymmetryGroup::ALL;
        Orbits::from_counts(n, all, self.total, self.r180, self.r90)
            .expect("the table is consistent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_obeys_burnside() {
        for (n, known) in Size::all().zip(&KNOWN) {
            assert_eq!(known.orbits(n).unique(), known.unique, "n = {n}");
        }
    }

    #[test]
    fn the_classes_of_eight_and_twelve_queens_are_the_classical_ones() {
        let orbits = |n: usize| KNOWN[n - 1].orbits(Size::new(n as u32).unwrap());
        assert_eq!(
            orbits(8),
            Orbits {
                c1: 0,
                c2: 0,
                c4: 1,
                c8: 11
            }
        );
        assert_eq!(
            orbits(12),
            Orbits {
                c1: 0,
                c2: 4,
                c4: 18,
                c8: 1765
            }
        );
        assert_eq!(
            orbits(1),
            Orbits {
                c1: 1,
                c2: 0,
                c4: 0,
                c8: 0
            }
        );
    }

    #[test]
    fn no_total_is_claimed_beyond_the_record() {
        assert!(known(Size::new(27).unwrap()).is_some());
        assert!(known(Size::new(28).unwrap()).is_none());
    }

    /// Four images of a solution that a half turn alone fixes are different, and each four queens of one that a quarter turn
    /// fixes can stand in two ways (Ahrens).
    #[test]
    fn symmetric_solutions_come_in_the_numbers_that_symmetry_demands() {
        for n in Size::all().skip(1) {
            let [r180, r90] = known_symmetric(n);
            assert_eq!(r180 % 4, r90 % 4, "n = {n}");
            assert_eq!(r90 % (1 << (n.get() / 4)), 0, "n = {n}");
            assert!(r90 == 0 || n.get() % 4 < 2, "n = {n}");
        }
    }
}
