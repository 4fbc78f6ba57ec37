//! What was heard and not taken, and when that is told: who floods the coordinator does not flood its log.

use std::collections::BTreeMap;

/// How many names are told apart.
const MOST_NAMES: usize = 1 << 10;

/// The most lines that are told in all.
const MOST_LINES: u32 = 256;

/// Counts what was not taken.
#[derive(Default)]
pub struct Ignored {
    counts: BTreeMap<(String, &'static str), u64>,
    lines: u32,
}

impl Ignored {
    /// Counts `number` more of `what` from `who`. Returns what is to be told now: who, and how much in all. That is the
    /// first one, and then whenever there are ten times as many.
    pub fn add(&mut self, who: &str, what: &'static str, number: u64) -> Option<(String, String)> {
        let mut key = (who.to_owned(), what);
        if self.counts.len() >= MOST_NAMES && !self.counts.contains_key(&key) {
            "others".clone_into(&mut key.0);
        }
        let who = key.0.clone();
        let count = self.counts.entry(key).or_default();
        let before = count.checked_ilog10();
        *count = count.saturating_add(number);
        if count.checked_ilog10() == before || self.lines == MOST_LINES {
            return None;
        }
        self.lines += 1;
        let last = match self.lines == MOST_LINES {
            true => "; of what is ignored, no more is told",
            false => "",
        };
        Some((who, format!("{count} ignored: {what}{last}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_told_in_few_lines() {
        let mut ignored = Ignored::default();
        let told = |ignored: &mut Ignored, who: &str| ignored.add(who, "noise", 1);
        let lines: Vec<_> = (0..20_000)
            .filter_map(|_| told(&mut ignored, "a"))
            .collect();
        let counts: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
        let expected = [1, 10, 100, 1000, 10_000].map(|count| format!("{count} ignored: noise"));
        assert_eq!(counts, expected);
        let many = (0..100_000).filter_map(|name| told(&mut ignored, &name.to_string()));
        let many: Vec<_> = many.collect();
        assert_eq!(many.len() as u32, MOST_LINES - 5);
        assert!(many.last().unwrap().1.ends_with("no more is told"));
        assert!(ignored.counts.len() <= MOST_NAMES + 1);
    }
}
