//! Fills the rows of a sub-board in all ways, a chunk at a time.

use super::kernel::ColourKernel;
use super::level::Level;
use super::side::Side;
use crate::engine::{GivenUp, TaskWatch};

/// How many states are expanded at once. Few, so that the states made of them stay in the cache; the more,
/// the less often a vector is not full.
const CHUNK: usize = 2048;

/// Fills the rows of a sub-board after another one is filled: the deepest level first, a chunk at a time.
#[derive(Debug, Default)]
pub struct Expansion {
    levels: Vec<Level>,
}

impl Expansion {
    /// The level of the states to begin with, empty, for a side.
    pub fn start(&mut self, side: &Side) -> &mut Level {
        let rows = side.rows().len();
        if self.levels.len() <= rows {
            self.levels.resize_with(rows + 1, Level::default);
        }
        for (filled, level) in self.levels[..=rows].iter_mut().enumerate() {
            level.clear(1 + rows - filled);
        }
        &mut self.levels[0]
    }

    /// Fills the rows of `side` in all ways, but the last `left` of them. Calls `done` with the states, some at a
    /// time. Returns the number of queens placed.
    ///
    /// # Errors
    /// The task is to be given up.
    pub fn run<K: ColourKernel>(
        &mut self,
        kernel: K,
        side: &Side,
        left: usize,
        watch: &TaskWatch,
        mut done: impl FnMut(&Level),
    ) -> Result<u64, GivenUp> {
        let rows = side.rows().len() - left;
        let (mut depth, mut placed) = (0, 0);
        loop {
            let (above, below) = self.levels.split_at_mut(depth + 1);
            let level = &mut above[depth];
            if depth == rows {
                done(level);
                level.clear(1 + left);
            } else if let Some(next) = below.first_mut().filter(|_| !level.is_empty()) {
                let chunk = level.len().min(CHUNK);
                kernel.expand(level, chunk, &side.gaps(depth), next);
                placed += next.len() as u64;
                depth += 1;
                continue;
            }
            if depth == 0 {
                return Ok(placed);
            }
            watch.check()?;
            depth -= 1;
        }
    }
}
