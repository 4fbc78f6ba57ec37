//! What a worker reported under which numbers.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use super::protocol::encode;
use crate::actors::Finding;

/// How many items are remembered: twice what a worker may have sent without a receipt.
const REMEMBERED: usize = 1 << 16;

/// The items of a worker, as digests that only this process can make.
#[derive(Default)]
pub struct Heard {
    hasher: RandomState,
    /// The number of the first item that is remembered.
    first: u64,
    digests: VecDeque<u64>,
}

/// What a report is, compared with what was heard before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// So many of its first items were heard before, and are the same.
    Same(usize),
    /// It has something else under a number that was heard before.
    Other,
    /// It has a number that is not remembered, or leaves numbers out.
    Unknown,
}

impl Heard {
    /// Nothing was heard. The first item is to have the number `first`.
    pub fn new(first: u64) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// The number of the item that is to come next.
    pub fn next(&self) -> u64 {
        self.first + self.digests.len() as u64
    }

    /// Goes on with a higher number.
    pub fn skip_to(&mut self, next: u64) {
        if next > self.next() {
            self.digests.clear();
            self.first = next;
        }
    }

    /// Compares the items of a report, which are numbered from `from`, with what was heard.
    pub fn compare(&self, from: u64, items: &[Finding]) -> Repeats {
        if !(self.first..=self.next()).contains(&from) {
            return Repeats::Unknown;
        }
        let known = self.digests.iter().skip((from - self.first) as usize);
        let mut pairs = known.zip(items);
        match pairs.all(|(digest, item)| *digest == self.digest(item)) {
            true => Repeats::Same((self.next() - from).min(items.len() as u64) as usize),
            false => Repeats::Other,
        }
    }

    /// Notes the items that came next.
    pub fn note(&mut self, items: &[Finding]) {
        for item in items {
            let digest = self.digest(item);
            self.digests.push_back(digest);
            if self.digests.len() > REMEMBERED {
                self.digests.pop_front();
                self.first += 1;
            }
        }
    }

    fn digest(&self, item: &Finding) -> u64 {
        self.hasher.hash_one(encode(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::{Engine, TaskKey};

    fn items(indices: impl IntoIterator<Item = u64>) -> Vec<Finding> {
        let item = |index| {
            Finding::Withdrawal(TaskKey {
                n: Size::new(20).unwrap(),
                engine: Engine::Chain,
                version: 1,
                index,
            })
        };
        indices.into_iter().map(item).collect()
    }

    #[test]
    fn a_repeated_number_has_the_same_content() {
        let mut heard = Heard::new(10);
        heard.note(&items(0..5));
        assert_eq!(heard.next(), 15);
        for (from, said, expected) in [
            (10, items(0..5), Repeats::Same(5)),
            (12, items(2..4), Repeats::Same(2)),
            (12, items(2..9), Repeats::Same(3)),
            (15, items(7..9), Repeats::Same(0)),
            (12, items([2, 9]), Repeats::Other),
            (9, items(0..5), Repeats::Unknown),
            (16, items([7]), Repeats::Unknown),
        ] {
            assert_eq!(heard.compare(from, &said), expected, "{from}: {said:?}");
        }
        heard.skip_to(12);
        assert_eq!(heard.next(), 15);
        heard.skip_to(20);
        assert_eq!(heard.compare(12, &items([2])), Repeats::Unknown);
        assert_eq!(heard.compare(20, &items([2])), Repeats::Same(0));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut heard = Heard::new(0);
        let more = REMEMBERED as u64 + 7;
        heard.note(&items(0..more));
        assert_eq!((heard.next(), heard.digests.len()), (more, REMEMBERED));
        assert_eq!(heard.compare(6, &items([6])), Repeats::Unknown);
        assert_eq!(heard.compare(7, &items([7])), Repeats::Same(1));
    }
}
