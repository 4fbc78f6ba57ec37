use super::Half;
use super::kernel::{JoinKernel, Place};
use super::quarter::{QuarterBoards, QuarterFrame};
use crate::board::bits;

/// Generates the keys of all ways to fill a half board, from quarter boards.
///
/// A quarter board is the outer or the inner rows of a half board. For each choice of columns for
/// the outer rows there are a few outer boards, and a few inner boards in the columns left over.
/// The half boards are the pairs of the two that do not attack each other. That takes nine tests
/// for each key, eight of them at once with AVX-512. A search row by row places nine queens for
/// each key (n = 20; docs/PERFORMANCE.md, Join, "What limits it").
///
/// Quarter boards may be made for a half board that may use more columns than it has rows. They
/// then serve all column sets that differ in those columns only.
#[derive(Default)]
pub struct KeyGenerator {
    frame: Option<Half>,
    outer: QuarterBoards,
    inner: QuarterBoards,
    /// Every choice of the columns of the outer rows, one bit for each of the half's columns in
    /// ascending order.
    choices: Vec<u16>,
    /// The places of the outer and of the inner boards of each choice.
    places: Vec<[Place; 2]>,
    keys: Vec<u64>,
    /// For each subset of the lower and of the upper half of the half's columns, the frame's
    /// columns that it stands for.
    subsets: [Vec<u32>; 2],
}

/// Bytes that quarter boards may always take: more than they need if all queens are fixed, so that
/// slicing halves ends whatever the budget is.
const LEAST: u64 = 1 << 20;

impl KeyGenerator {
    /// Whether the quarter boards are those made for `frame`.
    pub fn holds(&self, frame: &Half) -> bool {
        self.frame.as_ref() == Some(frame)
    }

    /// Bytes of the quarter boards.
    pub fn bytes(&self) -> u64 {
        self.frame
            .as_ref()
            .map_or(0, |_| self.outer.bytes() + self.inner.bytes())
    }

    /// Forgets the quarter boards.
    pub fn clear(&mut self) {
        self.frame = None;
    }

    /// Makes the quarter boards of `frame`, with the help of `scratch`. Returns `false`, without
    /// quarter boards, if both together would take more than about `most` bytes.
    pub fn fill<K: JoinKernel>(
        &mut self,
        kernel: K,
        frame: &QuarterFrame<'_>,
        scratch: &mut QuarterBoards,
        most: u64,
    ) -> bool {
        let rows = frame.half.rows();
        // Rows whose queen is fixed add no choices: divide the others evenly.
        let split = (rows + frame.half.fixed_rows()) / 2;
        let (outer, inner) = (0..split, (split..rows).rev());
        let room = most.max(LEAST);
        let fits = self.outer.fill(kernel, frame, outer, true, scratch, room) && {
            let room = room.saturating_sub(self.outer.bytes());
            self.inner.fill(kernel, frame, inner, false, scratch, room)
        };
        if !fits {
            // Free the memory that these boards have taken, or fewer boards would be refused too.
            *scratch = QuarterBoards::default();
            *self = Self::default();
            return false;
        }
        self.choices = (0..1u32 << rows)
            .filter(|choice| choice.count_ones() == split)
            .map(|choice| choice as u16)
            .collect();
        self.frame = Some(frame.half.clone());
        true
    }

    /// Calls `found` with the keys of all ways to fill a half board with queens in `columns`, in
    /// batches; the frame must allow these columns. Skips the first `begin` choices of columns for
    /// the outer rows. If `found` returns `false`, stops and returns how many choices to skip next
    /// time to get the keys after that batch.
    ///
    /// # Panics
    /// There are no quarter boards.
    pub fn keys<K: JoinKernel>(
        &mut self,
        kernel: K,
        columns: u32,
        begin: usize,
        mut found: impl FnMut(&[u64]) -> bool,
    ) -> Option<usize> {
        let frame = self.frame.as_ref().expect("quarter boards are made first");
        // The columns as bits of the frame's columns. A choice of them is looked up in two halves.
        let members: Vec<u32> = bits(columns)
            .map(|column| 1 << (frame.columns() & ((1 << column) - 1)).count_ones())
            .collect();
        let half = members.len().div_ceil(2);
        let list_subsets = |members: &[u32], subsets: &mut Vec<u32>| {
            subsets.clear();
            subsets.push(0);
            for member in members {
                subsets.extend_from_within(..);
                let middle = subsets.len() / 2;
                subsets[middle..].iter_mut().for_each(|set| *set |= member);
            }
        };
        let [low, high] = &mut self.subsets;
        list_subsets(&members[..half], low);
        list_subsets(&members[half..], high);
        let all = members.iter().sum::<u32>();
        self.places.clear();
        self.places
            .extend(self.choices[begin..].iter().map(|&choice| {
                let choice = usize::from(choice);
                let chosen = low[choice & ((1 << half) - 1)] | high[choice >> half];
                [self.outer.place(chosen), self.inner.place(all ^ chosen)]
            }));
        let boards = [self.outer.boards(), self.inner.boards()];
        let mut rest = &self.places[..];
        while !rest.is_empty() {
            self.keys.clear();
            let done = kernel.cross(rest, boards, &mut self.keys);
            rest = &rest[done..];
            if !found(&self.keys) && !rest.is_empty() {
                return Some(self.choices.len() - rest.len());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::join::key_layout::KeyLayout;
    use crate::join::{ColumnSet, Side};
    use crate::simd::Portable;

    fn half(n: u32) -> Half {
        let n = Size::new(n).unwrap();
        let set = (0..).find_map(|rank| ColumnSet::unrank(n, rank)).unwrap();
        Half::new(n, &set, Side::Top)
    }

    fn fill(generator: &mut KeyGenerator, half: &Half, most: u64) -> bool {
        let frame = QuarterFrame {
            half,
            layout: &KeyLayout::default(),
            shared: 0,
            taken: 0,
        };
        generator.fill(Portable, &frame, &mut QuarterBoards::default(), most)
    }

    #[test]
    #[cfg_attr(miri, ignore = "makes hundreds of thousands of boards")]
    fn quarter_boards_beyond_the_room_are_given_up() {
        let half = half(26);
        let mut generator = KeyGenerator::default();
        assert!(!fill(&mut generator, &half, 0));
        assert!(!generator.holds(&half));
        assert_eq!(generator.bytes(), 0);
        assert!(fill(&mut generator, &half, 1 << 30));
        assert!(generator.holds(&half));
    }

    /// Slicing halves ends because of this, whatever the memory.
    #[test]
    #[cfg_attr(miri, ignore = "looks at all sets of 32 columns")]
    fn a_half_of_fixed_queens_always_fits() {
        let mut half = half(32);
        for row in 0..half.rows() {
            let column = bits(half.columns()).nth(row as usize).unwrap();
            half.fix(row, column);
        }
        assert_eq!(half.fixed_rows(), half.rows());
        assert!(fill(&mut KeyGenerator::default(), &half, 0));
    }
}
