use std::fmt;

/// Indices of an array's tasks, ascending. It is shown as Slurm and HyperQueue write it: `3,17-20`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexList(Vec<u64>);

impl IndexList {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }
}

impl FromIterator<u64> for IndexList {
    fn from_iter<I: IntoIterator<Item = u64>>(indices: I) -> Self {
        let mut indices: Vec<u64> = indices.into_iter().collect();
        indices.sort_unstable();
        indices.dedup();
        Self(indices)
    }
}

impl fmt::Display for IndexList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.0.chunk_by(|one, next| one + 1 == *next).enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match run {
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{}", run[0])?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_a_range() {
        for (indices, text) in [
            (&[][..], ""),
            (&[7], "7"),
            (&[0, 1], "0-1"),
            (&[20, 3, 17, 18, 19, 17], "3,17-20"),
            (&[1, 3, 5, 6], "1,3,5-6"),
        ] {
            let list: IndexList = indices.iter().copied().collect();
            assert_eq!(list.to_string(), text);
        }
    }
}
