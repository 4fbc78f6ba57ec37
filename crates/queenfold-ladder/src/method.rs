//! What every historical method implements, and what it is asked.

use std::fmt;

use super::{StopSearch, Watch};
use queenfold_engines::board::{Orbits, Size};
use queenfold_engines::engine::Device;

/// A historical way to count the solutions: what is known before it runs, and how it runs.
#[derive(Debug)]
pub struct Method {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its step of the course, counted from 1: its heading is in [`STEPS`](crate::STEPS).
    pub step: usize,
    /// The explanation: a line with the idea, then half a page of plain words. It is also the documentation of the
    /// module, for which pictures stand between lines of three backticks.
    pub text: &'static str,
    /// The styles in which it can run, at least one.
    pub styles: &'static [Style],
    /// The largest board that it counts in about a second. Tests go up to this size.
    pub reach: u32,
    /// Whether it searches in many places at once, so that `--step` has no single search to show.
    pub is_parallel: bool,
    /// How many boards of n queens it fills, if that is known without a count: its time is in proportion.
    pub boards: fn(u32) -> Option<f64>,
    /// Counts the requested board in a style that needs no device, and reports every node to the watch.
    pub(crate) count: fn(&MethodRequest, &mut Watch<'_>) -> Result<Count, StopSearch>,
    /// Counts the requested board in a style that needs a device. The nodes of the device are added to the watch at
    /// the end.
    pub(crate) count_on:
        fn(&mut dyn Device, &MethodRequest, &mut Watch<'_>) -> Result<Count, StopSearch>,
}

impl Method {
    /// What most methods have in common: one search in two styles, which finds all solutions and sorts none.
    pub(crate) const USUAL: Self = Self {
        name: "",
        step: 0,
        text: "",
        styles: Style::BOTH,
        reach: 12,
        is_parallel: false,
        boards: |_| None,
        count: |_, _| unreachable!("it counts only on a device"),
        count_on: |_, _, _| unreachable!("it has no kernel for a device"),
    };
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
}

impl Style {
    /// The two styles of most methods.
    pub const BOTH: &'static [Self] = &[Self::Recursive, Self::Iterative];

    /// Whether it runs on a device, which counts solutions and shows none.
    pub const fn needs_device(self) -> bool {
        matches!(self, Self::Gpu)
    }

    /// The name on the command line and in results; `None` for [`Style::Only`].
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Recursive => Some("recursive"),
            Self::Iterative => Some("iterative"),
            Self::Only => None,
            Self::Gpu => Some("gpu"),
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
