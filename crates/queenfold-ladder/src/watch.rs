//! The watch to which every method reports while it searches: it counts nodes, stops the search in
//! time, and shows an audience what happens.

use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The search must stop. A [`StopReason`] says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopSearch;

/// Why a method returned no count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// It took longer than its time limit.
    #[error("stopped at its time limit")]
    TimeLimit,
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The audience left: a reader closed the pipe, or pressed `q`.
    #[error("nobody is watching any more")]
    AudienceLeft,
    /// The style needs a device, which is missing or cannot be used.
    #[error("{0}")]
    NoDevice(String),
    /// The device failed during the search, or what was counted contradicts itself.
    #[error("{0}")]
    Failed(String),
}

/// An event of a search, for an [`Audience`]. Boards are listed row by row from the top, each row
/// as the column of its queen, `None` for an empty row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scene {
    /// A queen was placed.
    Placed {
        /// The rows down to the new queen; the whole board if the method has queens below it.
        rows: Vec<Option<u8>>,
        /// The row of the new queen.
        row: usize,
    },
    /// The two outer lines along a side of the board have their queens now.
    Side {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The side.
        side: &'static str,
    },
    /// A square was tested and found attacked.
    Attacked {
        /// The rows above the square.
        rows: Vec<Option<u8>>,
        /// The column of the square.
        column: u8,
    },
    /// A solution was found.
    Solution {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The solutions that it stands for.
        images: Images,
    },
    /// A border was placed: the outer rows and columns have their queens, the inside is open.
    Border {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The size of its orbit.
        size: u8,
    },
}

/// Which solutions one found solution stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// Only itself: the method finds its images too.
    Itself,
    /// Itself and its mirror image, left and right exchanged.
    Mirrored,
    /// Its whole orbit, of this size.
    Orbit(u8),
}

/// Receives the scenes of a search.
pub trait Audience: Send {
    /// Whether it wants every square of the search ([`Scene::Placed`], [`Scene::Attacked`] and
    /// [`Scene::Side`]), and not only boards.
    fn wants_squares(&self) -> bool;

    /// Receives a scene. `Break` ends the search; other threads of it may still show some scenes.
    fn see(&mut self, scene: Scene) -> ControlFlow<()>;
}

/// A row of a board in the form that a method uses: the column of the queen, or one bit.
pub trait Queen: Copy {
    /// The column of the queen, `None` for an empty row.
    fn column(self) -> Option<u8>;
}

/// The column itself.
impl Queen for u8 {
    fn column(self) -> Option<u8> {
        Some(self)
    }
}

/// One bit, the lowest for column 0; an empty row has no bit.
impl Queen for u32 {
    fn column(self) -> Option<u8> {
        (self != 0).then_some(self.trailing_zeros() as u8)
    }
}

/// When a search has to end, and who watches it. All threads of a method share one.
pub(super) struct SearchControl<'a> {
    deadline: Option<Instant>,
    interrupt: &'a AtomicBool,
    audience: Option<&'a Mutex<dyn Audience>>,
    wants_squares: bool,
    stop_reason: OnceLock<StopReason>,
}

impl<'a> SearchControl<'a> {
    /// A search that starts now, ends after `time_limit` or when `interrupt` is set, and is shown
    /// to `audience`.
    pub fn new(
        time_limit: Option<Duration>,
        interrupt: &'a AtomicBool,
        audience: Option<&'a Mutex<dyn Audience>>,
    ) -> Self {
        Self {
            // A limit beyond the last representable time is no limit.
            deadline: time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            interrupt,
            wants_squares: audience.is_some_and(|audience| audience.lock().wants_squares()),
            audience,
            stop_reason: OnceLock::new(),
        }
    }

    /// Nodes between two checks of the clock: a fraction of a millisecond for the fast methods. One
    /// if every square is shown, so that the fast path of a node needs no second test.
    fn nodes_between_checks(&self) -> u64 {
        if self.wants_squares { 1 } else { 1 << 12 }
    }

    /// Why the search was stopped.
    pub fn stop_reason(self) -> Option<StopReason> {
        self.stop_reason.into_inner()
    }
}

/// The watch of one thread of a search.
pub struct Watch<'a> {
    /// Nodes until the next check of the clock. Counting down to zero counts and tests in one step,
    /// which is the cheapest way.
    until_check: u64,
    /// Nodes counted when that check is due.
    nodes_at_check: u64,
    control: &'a SearchControl<'a>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(control: &'a SearchControl<'a>) -> Self {
        Self {
            until_check: control.nodes_between_checks(),
            nodes_at_check: control.nodes_between_checks(),
            control,
        }
    }

    /// Nodes or candidates counted so far.
    pub fn nodes(&self) -> u64 {
        self.nodes_at_check - self.until_check
    }

    /// Counts a node: the queen of `row` was placed.
    ///
    /// # Errors
    /// The search must stop.
    #[inline]
    pub fn place<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), StopSearch> {
        self.until_check -= 1;
        if self.until_check > 0 {
            return Ok(());
        }
        self.check_and_show(board, row)
    }

    /// Shows that the queen of `row` was placed, for methods that count candidates instead.
    ///
    /// # Errors
    /// The audience left.
    #[inline]
    pub fn show_placed<Q: Queen>(&self, board: &[Q], row: usize) -> Result<(), StopSearch> {
        self.show_square(|| Scene::Placed {
            rows: columns(&board[..=row]),
            row,
        })
    }

    /// Counts a node like [`place`](Self::place), on a board with queens in any rows.
    ///
    /// # Errors
    /// The search must stop.
    #[inline]
    pub fn place_among<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), StopSearch> {
        self.count()?;
        self.show_square(|| Scene::Placed {
            rows: columns(board),
            row,
        })
    }

    /// Counts a node: the queens along a side of the board were placed.
    ///
    /// # Errors
    /// The search must stop.
    pub fn side<Q: Queen>(&mut self, board: &[Q], side: &'static str) -> Result<(), StopSearch> {
        self.count()?;
        self.show_square(|| Scene::Side {
            rows: columns(board),
            side,
        })
    }

    /// Shows that the square in `row` and `column` is attacked.
    ///
    /// # Errors
    /// The audience left.
    #[inline]
    pub fn show_attacked<Q: Queen>(
        &self,
        board: &[Q],
        row: usize,
        column: usize,
    ) -> Result<(), StopSearch> {
        self.show_square(|| Scene::Attacked {
            rows: columns(&board[..row]),
            column: column as u8,
        })
    }

    /// Shows a solution.
    ///
    /// # Errors
    /// The audience left.
    #[inline]
    pub fn solution<Q: Queen>(&self, board: &[Q], images: Images) -> Result<(), StopSearch> {
        self.show(|| Scene::Solution {
            rows: columns(board),
            images,
        })
    }

    /// Shows a border.
    ///
    /// # Errors
    /// The audience left.
    pub fn border<Q: Queen>(&self, board: &[Q], size: u8) -> Result<(), StopSearch> {
        self.show(|| Scene::Border {
            rows: columns(board),
            size,
        })
    }

    /// Counts a node that has no board to show.
    ///
    /// # Errors
    /// The search must stop.
    #[inline]
    pub fn count(&mut self) -> Result<(), StopSearch> {
        self.until_check -= 1;
        if self.until_check > 0 {
            return Ok(());
        }
        self.check_clock()
    }

    /// Whether it shows anybody what happens.
    pub(super) const fn is_shown(&self) -> bool {
        self.control.audience.is_some()
    }

    /// Ends the search because its device failed, or because its counts contradict each other.
    pub(super) fn fail(&self, why: String) -> StopSearch {
        self.stop(StopReason::Failed(why))
    }

    /// A watch for another thread of the same search. [`add_nodes`](Self::add_nodes) adds its
    /// nodes.
    pub(super) fn fork(&self) -> Self {
        Self::new(self.control)
    }

    /// Adds the nodes of a forked watch, or of a device.
    pub(super) fn add_nodes(&mut self, nodes: u64) {
        self.nodes_at_check += nodes;
    }

    // Not inlined, so that the fast path of a node needs no registers for it.
    #[cold]
    #[inline(never)]
    fn check_and_show<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), StopSearch> {
        self.check_clock()?;
        self.show_placed(board, row)
    }

    #[cold]
    fn check_clock(&mut self) -> Result<(), StopSearch> {
        self.until_check = self.control.nodes_between_checks();
        self.nodes_at_check += self.until_check;
        self.check()
    }

    /// Checks the clock, for callers that wait.
    ///
    /// # Errors
    /// The search must stop.
    pub(super) fn check(&self) -> Result<(), StopSearch> {
        let control = self.control;
        if control.stop_reason.get().is_some() {
            Err(StopSearch)
        } else if control.interrupt.load(Ordering::Relaxed) {
            Err(self.stop(StopReason::Interrupted))
        } else if control
            .deadline
            .is_some_and(|limit| Instant::now() >= limit)
        {
            Err(self.stop(StopReason::TimeLimit))
        } else {
            Ok(())
        }
    }

    #[inline]
    fn show_square(&self, scene: impl FnOnce() -> Scene) -> Result<(), StopSearch> {
        match self.control.wants_squares {
            true => self.show(scene),
            false => Ok(()),
        }
    }

    #[inline]
    fn show(&self, scene: impl FnOnce() -> Scene) -> Result<(), StopSearch> {
        let Some(audience) = self.control.audience else {
            return Ok(());
        };
        match audience.lock().see(scene()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(self.stop(StopReason::AudienceLeft)),
        }
    }

    fn stop(&self, why: StopReason) -> StopSearch {
        // The first reason is kept.
        let _ = self.control.stop_reason.set(why);
        StopSearch
    }
}

fn columns<Q: Queen>(board: &[Q]) -> Vec<Option<u8>> {
    board.iter().map(|queen| queen.column()).collect()
}
