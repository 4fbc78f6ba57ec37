//! What counting gave: completions by weight, symmetric solutions, partitions, nodes.

use std::iter::Sum;
use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Serialize};

use crate::board::decimal;

/// Completions of partitions, kept apart by the weight of the partition: 1, 2, 4 or 8.
///
/// The weight is the number of solutions that one completion stands for (the size of the
/// partition's orbit); 1 occurs only on the 1×1 board. As JSON: `{"1":"0","2":"0","4":"1","8":"11"}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completions {
    #[serde(rename = "1", with = "decimal")]
    one: u128,
    #[serde(rename = "2", with = "decimal")]
    two: u128,
    #[serde(rename = "4", with = "decimal")]
    four: u128,
    #[serde(rename = "8", with = "decimal")]
    eight: u128,
}

impl Completions {
    /// All weights.
    pub const WEIGHTS: [u8; 4] = [1, 2, 4, 8];

    /// Adds `count` completions of partitions of `weight`.
    ///
    /// # Panics
    /// `weight` is not 1, 2, 4 or 8.
    pub fn add(&mut self, weight: u8, count: u128) {
        *match weight {
            1 => &mut self.one,
            2 => &mut self.two,
            4 => &mut self.four,
            8 => &mut self.eight,
            _ => panic!("weight {weight}"),
        } += count;
    }

    /// The completions of partitions of each weight, in the order of [`WEIGHTS`](Self::WEIGHTS).
    pub const fn by_weight(&self) -> [u128; 4] {
        [self.one, self.two, self.four, self.eight]
    }

    const fn by_weight_mut(&mut self) -> [&mut u128; 4] {
        [
            &mut self.one,
            &mut self.two,
            &mut self.four,
            &mut self.eight,
        ]
    }

    /// The solutions they stand for: Σ weight × completions.
    pub fn solutions(&self) -> u128 {
        let counts = self.by_weight().into_iter().zip(Self::WEIGHTS);
        counts
            .map(|(count, weight)| count * u128::from(weight))
            .sum()
    }
}

/// What counting one or many tasks gave. As JSON all counts are decimal strings.
///
/// Two tallies *agree* when their exact parts are equal. `nodes` measures effort and depends on the
/// kernel, so it is not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Completions by weight (engines that count all solutions).
    pub completions: Completions,
    /// Solutions fixed by the half turn (census).
    #[serde(with = "decimal")]
    pub r180: u128,
    /// Solutions fixed by the quarter turn (census).
    #[serde(with = "decimal")]
    pub r90: u128,
    /// Legal partitions counted.
    #[serde(with = "decimal")]
    pub partitions: u64,
    /// Queens that the search placed. Prefix queens are included; queens of forced rows, and of
    /// rows counted in closed form, are not.
    #[serde(with = "decimal")]
    pub nodes: u64,
}

impl Tally {
    /// All that was found: the solutions that the completions stand for, and the symmetric ones.
    pub fn found(&self) -> u128 {
        self.completions.solutions() + self.r180 + self.r90
    }

    /// Whether the exact parts are equal.
    pub fn agrees_with(&self, other: &Self) -> bool {
        Self { nodes: 0, ..*self } == Self { nodes: 0, ..*other }
    }

    /// The exact part as text, on one line.
    pub fn exact(&self) -> String {
        let [w1, w2, w4, w8] = self.completions.by_weight();
        let Self {
            r180,
            r90,
            partitions,
            ..
        } = *self;
        format!(
            "completions {w1}/{w2}/{w4}/{w8} of weight 1/2/4/8, half turn {r180}, quarter turn \
             {r90}, {partitions} partitions"
        )
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        let sums = self.completions.by_weight_mut().into_iter();
        for (sum, count) in sums.zip(other.completions.by_weight()) {
            *sum += count;
        }
        self.r180 += other.r180;
        self.r90 += other.r90;
        // Forged records may have any number of them, and no result depends on their sums.
        self.partitions = self.partitions.saturating_add(other.partitions);
        self.nodes = self.nodes.saturating_add(other.nodes);
    }
}

/// Takes out what was added before.
///
/// # Panics
/// The sum lacks what is taken out.
impl SubAssign for Tally {
    #[expect(clippy::expect_used, reason = "a sum that is wrong must not go on")]
    fn sub_assign(&mut self, other: Self) {
        let less = |sum: &mut u128, count: u128| {
            *sum = sum.checked_sub(count).expect("it was added before");
        };
        let sums = self.completions.by_weight_mut().into_iter();
        for (sum, count) in sums.zip(other.completions.by_weight()) {
            less(sum, count);
        }
        less(&mut self.r180, other.r180);
        less(&mut self.r90, other.r90);
        self.partitions = self.partitions.saturating_sub(other.partitions);
        self.nodes = self.nodes.saturating_sub(other.nodes);
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |mut sum, tally| {
            sum += tally;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_are_weighted_completions() {
        let mut completions = Completions::default();
        completions.add(8, 11);
        completions.add(4, 1);
        assert_eq!(completions.solutions(), 92);
        assert_eq!(completions.by_weight(), [0, 0, 1, 11]);
    }

    #[test]
    fn agreement_ignores_effort_alone() {
        let tally = Tally {
            partitions: 3,
            nodes: 5,
            ..Tally::default()
        };
        assert!(tally.agrees_with(&Tally { nodes: 6, ..tally }));
        assert!(!tally.agrees_with(&Tally {
            partitions: 4,
            ..tally
        }));
        assert!(!tally.agrees_with(&Tally { r90: 1, ..tally }));
    }
}
