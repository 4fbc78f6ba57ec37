use std::fmt;
use std::ops::RangeInclusive;

use super::{Stopped, Watch};
use crate::board::{Orbits, Size};
use crate::gpu::Device;

/// A way to count the solutions, as somebody once did.
pub trait Method: Sync {
    /// What it is called, what it gives, how far it goes.
    fn about(&self) -> &'static About;

    /// Counts the board that is asked for, telling `watch` of every node.
    ///
    /// `request.style` is one of the method's own styles that need no device.
    ///
    /// # Errors
    /// The watch said stop.
    fn count(&self, request: &Request, watch: &mut Watch<'_>) -> Result<Count, Stopped>;

    /// Counts the board that is asked for in a style that needs a device; the nodes of the device
    /// are told to `watch` at the end.
    ///
    /// # Errors
    /// The watch said stop, or the device failed. The method has no such style.
    fn count_on(
        &self,
        _device: &mut dyn Device,
        _ask: &Request,
        watch: &mut Watch<'_>,
    ) -> Result<Count, Stopped> {
        Err(watch.refuse_to_run("it has no kernel for a device".to_owned()))
    }
}

/// What is to be known of a method before it runs.
#[derive(Debug)]
pub struct About {
    /// Its name on the command line.
    pub name: &'static str,
    /// The idea in one line.
    pub idea: &'static str,
    /// The explanation: half a page of plain words, which is the documentation of its module too.
    pub text: &'static str,
    /// The ways it can be run, at least one.
    pub styles: &'static [Style],
    /// Whether it counts unique solutions and classes too.
    pub unique: bool,
    /// The largest board that takes it about a second: how far tests go.
    pub reach: u32,
    /// What `--lines` lists of it, if anything.
    pub lines: Option<Listed>,
    /// Whether `--step` can show its search. Methods that search on many threads have no one
    /// search to show.
    pub steps: bool,
}

/// What a method enumerates, to be listed by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Every board that it fills, solution or not.
    Candidates,
    /// The solutions.
    Solutions,
}

/// How a method is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A function that calls itself.
    Recursive,
    /// A loop with arrays in place of the call stack.
    Iterative,
    /// The one way of a method that has no such choice.
    Only,
    /// On a GPU.
    Gpu,
    /// With the kernel of a GPU on threads of the host.
    Emulated,
}

impl Style {
    /// The two styles of most methods.
    pub const BOTH: &'static [Self] = &[Self::Recursive, Self::Iterative];

    /// The styles of a method that counts on a device alone.
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

/// What a method is asked to count, and how.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The board.
    pub n: Size,
    /// One of the method's styles.
    pub style: Style,
    /// The settings of the original programs.
    pub settings: Settings,
}

/// Settings that the original programs had as constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `bit-board`: the row at which the search is cut into nodes for the device. `None`: the
    /// original's rule, row 3, from n = 13 on row n − 10, which leaves ten rows to the device.
    pub mark: Option<u32>,
    /// `bit-board`: nodes in a batch.
    pub steps: u32,
    /// `node-layer`: queens placed breadth first.
    pub layer: u32,
    /// `bit-board` and `node-layer`: threads in a block of a GPU. The emulated device has no blocks.
    pub block: u32,
}

impl Settings {
    /// The range of [`mark`](Self::mark) that the tests cover.
    pub const MARK: RangeInclusive<u32> = 1..=31;
    /// The range of [`steps`](Self::steps) that the tests cover.
    pub const STEPS: RangeInclusive<u32> = 1..=1 << 18;
    /// The range of [`layer`](Self::layer) that the tests cover.
    pub const LAYER: RangeInclusive<u32> = 1..=8;
    /// The range of [`block`](Self::block) that the tests cover.
    pub const BLOCK: RangeInclusive<u32> = 1..=1024;
}

impl Default for Settings {
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

/// What a method counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// All solutions.
    pub total: u128,
    /// The orbits by size, and so the unique count; `None` where the method does not give them.
    pub classes: Option<Orbits>,
    /// What a reader of the number should know.
    pub note: Option<String>,
}

impl Count {
    /// A total, and nothing else.
    pub fn total(total: u64) -> Self {
        Self {
            total: total.into(),
            classes: None,
            note: None,
        }
    }

    /// Classes of solutions, and the total they add up to.
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
