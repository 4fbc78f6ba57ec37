//! What every historical method implements, and what it is asked.

use std::fmt;
use std::ops::RangeInclusive;

use super::{StopSearch, Watch};
use queenfold_engines::board::{Orbits, Size};
use queenfold_engines::engine::Device;

/// A historical way to count the solutions.
pub trait Method: Sync {
    /// Describes the method.
    fn about(&self) -> &'static About;

    /// Counts the requested board and reports every node to `watch`.
    ///
    /// `request.style` must be one of the method's own styles that need no device.
    ///
    /// # Errors
    /// `watch` stopped the search.
    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch>;

    /// Why it cannot do what is requested, if that is seen without a count.
    fn refusal(&self, _request: &MethodRequest) -> Option<String> {
        None
    }

    /// How many boards of `n` queens it fills, if that is known without a count: its time is in proportion.
    fn boards(&self, _n: u32) -> Option<f64> {
        None
    }

    /// Counts the requested board in a style that needs a device. The nodes of the device are added
    /// to `watch` at the end.
    ///
    /// # Errors
    /// `watch` stopped the search, the device failed, or the method has no such style.
    fn count_on(
        &self,
        _device: &mut dyn Device,
        _ask: &MethodRequest,
        watch: &mut Watch<'_>,
    ) -> Result<Count, StopSearch> {
        Err(watch.refuse_to_run("it has no kernel for a device".to_owned()))
    }
}

/// The description of a method: what is known before it runs.
#[derive(Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// The idea in one line.
    pub idea: &'static str,
    /// The explanation, half a page of plain words. It is also the documentation of the module, for which
    /// pictures stand between lines of three backticks.
    pub text: &'static str,
    /// The styles in which it can run, at least one.
    pub styles: &'static [Style],
    /// Whether it also counts unique solutions and classes.
    pub unique: bool,
    /// The largest board that it counts in about a second. Tests go up to this size.
    pub reach: u32,
    /// What `--lines` lists, `None` if nothing.
    pub lines: Option<Listed>,
    /// Whether `--step` can show its search. A method on many threads has no single search to show.
    pub steps: bool,
}

/// What `--lines` lists of a method, numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Every board that the method fills, solution or not.
    Candidates,
    /// The solutions.
    Solutions,
}

/// How a method runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A function that calls itself.
    Recursive,
    /// A loop, with arrays instead of the call stack.
    Iterative,
    /// The only style of a method that has no choice.
    Only,
    /// On a GPU.
    Gpu,
    /// The kernel of a GPU on threads of the host.
    Emulated,
}

impl Style {
    /// The two styles of most methods.
    pub const BOTH: &'static [Self] = &[Self::Recursive, Self::Iterative];

    /// The styles of a method that counts only on a device.
    pub const DEVICES: &'static [Self] = &[Self::Gpu, Self::Emulated];

    /// Whether it runs on a device, which counts solutions and shows none.
    pub const fn needs_device(self) -> bool {
        matches!(self, Self::Gpu | Self::Emulated)
    }

    /// The name on the command line and in results; `None` for [`Style::Only`].
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Recursive => Some("recursive"),
            Self::Iterative => Some("iterative"),
            Self::Only => None,
            Self::Gpu => Some("gpu"),
            Self::Emulated => Some("emulated"),
        }
    }
}

/// What a method should count, and how.
#[derive(Clone, Copy, Debug)]
pub struct MethodRequest {
    /// The board.
    pub n: Size,
    /// One of the method's styles.
    pub style: Style,
    /// The settings of the original programs.
    pub settings: MethodSettings,
}

/// Settings that the original programs had as constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodSettings {
    /// `bit-board`: the row at which the search is cut into nodes for the device. `None` takes the
    /// original's rule: row 3; from n = 13 on row n − 10, which leaves ten rows to the device.
    pub mark: Option<u32>,
    /// `bit-board`: nodes in a batch.
    pub steps: u32,
    /// `node-layer`: queens placed breadth first.
    pub layer: u32,
    /// `bit-board` and `node-layer`: threads in a block of a GPU. The emulated device has no
    /// blocks.
    pub block: u32,
}

impl MethodSettings {
    /// The range of [`mark`](Self::mark) that the tests cover.
    pub const MARK: RangeInclusive<u32> = 1..=31;
    /// The range of [`steps`](Self::steps) that the tests cover.
    pub const STEPS: RangeInclusive<u32> = 1..=1 << 18;
    /// The range of [`layer`](Self::layer) that the tests cover.
    pub const LAYER: RangeInclusive<u32> = 1..=8;
    /// The range of [`block`](Self::block) that the tests cover.
    pub const BLOCK: RangeInclusive<u32> = 1..=1024;
}

impl Default for MethodSettings {
    /// The constants of the original programs; the blocks are those of the bit-board.
    fn default() -> Self {
        Self {
            mark: None,
            steps: 24_576,
            layer: 5,
            block: 96,
        }
    }
}

/// The result of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// All solutions.
    pub total: u128,
    /// The orbits by size, from which the unique count follows; `None` if the method does not count
    /// them.
    pub classes: Option<Orbits>,
    /// A remark for readers of the number.
    pub note: Option<String>,
}

impl Count {
    /// A total alone.
    pub fn total(total: u64) -> Self {
        Self {
            total: total.into(),
            classes: None,
            note: None,
        }
    }

    /// Classes of solutions, and the total that follows from them.
    pub fn classes(classes: Orbits) -> Self {
        Self {
            total: classes.total(),
            classes: Some(classes),
            note: None,
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name().unwrap_or("–"))
    }
}
