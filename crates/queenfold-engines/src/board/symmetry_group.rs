//! Groups of symmetries: which ones leave something as it is.

use std::fmt;

use super::Symmetry;

/// Symmetries of the square that form a group: those that leave something as it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SymmetryGroup(u8);

impl SymmetryGroup {
    /// All eight symmetries.
    pub const ALL: Self = Self(u8::MAX);

    /// The symmetries for which `fixes` holds. They must form a group.
    pub fn of(fixes: impl Fn(Symmetry) -> bool) -> Self {
        let fixing = Symmetry::ALL
            .into_iter()
            .filter(|symmetry| fixes(*symmetry));
        Self(fixing.fold(0, |set, symmetry| set | 1 << symmetry as u8))
    }

    /// Whether `symmetry` belongs to the group.
    pub const fn contains(self, symmetry: Symmetry) -> bool {
        self.0 >> symmetry as u8 & 1 == 1
    }

    /// The number of symmetries: 1, 2, 4 or 8.
    pub const fn order(self) -> u32 {
        self.0.count_ones()
    }

    /// The symmetries, the identity first.
    pub fn iter(self) -> impl Iterator<Item = Symmetry> {
        Symmetry::ALL
            .into_iter()
            .filter(move |symmetry| self.contains(*symmetry))
    }
}

/// The names of the symmetries without the identity; `none` if there is no other, `all` if
/// there are all.
impl fmt::Display for SymmetryGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.iter().filter(|s| *s != Symmetry::Identity);
        let names: Vec<_> = others.map(Symmetry::name).collect();
        match names[..] {
            [] => f.write_str("none"),
            [_, _, _, _, _, _, _] => f.write_str("all"),
            _ => f.write_str(&names.join(", ")),
        }
    }
}

impl fmt::Debug for SymmetryGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
