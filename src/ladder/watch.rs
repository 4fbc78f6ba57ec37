//! The watch that every method keeps while it searches: it counts nodes, says when to stop, and
//! lets an audience see what goes on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The search has been told to stop. Why is in [`StopReason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Why a method gave no count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StopReason {
    /// It took longer than it was allowed.
    #[error("stopped at its time limit")]
    TimeLimit,
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The audience has left: a reader closed the pipe, or pressed `q`.
    #[error("nobody is watching any more")]
    AudienceLeft,
    /// The style needs a device that is not there, or cannot be used.
    #[error("{0}")]
    NoDevice(String),
    /// The device failed in the middle of the search.
    #[error("{0}")]
    Failed(String),
    /// The method cannot do what its settings request.
    #[error("{0}")]
    Refused(String),
}

/// Something that happens in a search. Boards are given row by row from the top, as the column of
/// the queen, `None` for an empty row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scene {
    /// A queen was placed.
    Placed {
        /// The rows down to the new queen; the whole board if the method has queens below her.
        rows: Vec<Option<u8>>,
        /// The row of the new queen.
        row: usize,
    },
    /// The two outer lines along a side of the board got their queens, or had them already.
    Side {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The side.
        side: &'static str,
    },
    /// A square was looked at and found attacked.
    Attacked {
        /// The rows above the square.
        rows: Vec<Option<u8>>,
        /// The column of the square.
        column: u8,
    },
    /// A board was filled before it was known whether it is a solution.
    Candidate {
        /// The whole board.
        rows: Vec<Option<u8>>,
    },
    /// A solution was found.
    Solution {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The solutions it stands for.
        images: Images,
    },
    /// A border was placed: the outer rows and columns hold their queens, the inside is open.
    Border {
        /// The whole board.
        rows: Vec<Option<u8>>,
        /// The size of its orbit.
        size: u8,
    },
}

/// The solutions that one found solution stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// Itself: the method finds its images as well.
    Itself,
    /// Itself and its mirror image, left and right exchanged.
    Mirrored,
    /// Its whole orbit, of this size.
    Orbit(u8),
}

/// Who is shown scenes.
pub trait Audience: Send {
    /// Whether every square of the search is wanted, [`Scene::Placed`],
    /// [`Scene::Attacked`] and [`Scene::Side`], and not only boards.
    fn wants_squares(&self) -> bool;

    /// Sees a scene. `Break` ends the search.
    fn see(&mut self, scene: Scene) -> ControlFlow<()>;
}

/// A row of a board as a method keeps it: the column of the queen, or one bit.
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

/// One bit, the lowest being column 0; no bit is an empty row.
impl Queen for u32 {
    fn column(self) -> Option<u8> {
        (self != 0).then_some(self.trailing_zeros() as u8)
    }
}

/// When a search has to end, and who looks on: one for all threads of a method.
pub(super) struct SearchControl<'a> {
    deadline: Option<Instant>,
    interrupt: &'a AtomicBool,
    audience: Option<&'a Mutex<dyn Audience>>,
    wants_squares: bool,
    stop_reason: OnceLock<StopReason>,
}

impl<'a> SearchControl<'a> {
    /// A search that starts now, ends after `time_limit` or when `interrupt` is set, and is seen
    /// by `audience`.
    pub fn new(
        time_limit: Option<Duration>,
        interrupt: &'a AtomicBool,
        audience: Option<&'a Mutex<dyn Audience>>,
    ) -> Self {
        Self {
            // A limit too long to be a point in time is none.
            deadline: time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            interrupt,
            wants_squares: audience.is_some_and(|audience| lock(audience).wants_squares()),
            audience,
            stop_reason: OnceLock::new(),
        }
    }

    /// Nodes between two looks at the clock: a fraction of a millisecond for the fast methods. One
    /// if every square is to be shown, which is why the fast path of a node has no other question
    /// to request.
    fn nodes_between_looks(&self) -> u64 {
        if self.wants_squares { 1 } else { 1 << 12 }
    }

    /// Why the search was stopped.
    pub fn stop_reason(self) -> Option<StopReason> {
        self.stop_reason.into_inner()
    }
}

/// One thread's view of the search.
pub struct Watch<'a> {
    /// Nodes down to the next look at the clock: counting down to zero is the cheapest way to
    /// count and to test in one step.
    until_look: u64,
    /// Nodes at that look.
    nodes_then: u64,
    control: &'a SearchControl<'a>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(control: &'a SearchControl<'a>) -> Self {
        Self {
            until_look: control.nodes_between_looks(),
            nodes_then: control.nodes_between_looks(),
            control,
        }
    }

    /// Nodes or candidates counted so far.
    pub fn nodes(&self) -> u64 {
        self.nodes_then - self.until_look
    }

    /// Counts a node: the queen of `row` was placed.
    ///
    /// # Errors
    /// It is time to stop.
    #[inline]
    pub fn place<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), Stopped> {
        self.until_look -= 1;
        if self.until_look > 0 {
            return Ok(());
        }
        self.look_and_show(board, row)
    }

    /// Shows that the queen of `row` was placed, where this is not what the method counts.
    ///
    /// # Errors
    /// The audience left.
    #[inline]
    pub fn show_placed<Q: Queen>(&self, board: &[Q], row: usize) -> Result<(), Stopped> {
        if !self.control.wants_squares {
            return Ok(());
        }
        self.show(|| Scene::Placed {
            rows: columns(&board[..=row]),
            row,
        })
    }

    /// Counts a node as [`place`](Self::place) does, on a board with queens in any rows.
    ///
    /// # Errors
    /// It is time to stop.
    #[inline]
    pub fn place_among<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), Stopped> {
        self.count()?;
        if !self.control.wants_squares {
            return Ok(());
        }
        self.show(|| Scene::Placed {
            rows: columns(board),
            row,
        })
    }

    /// Counts a node: the queens along a side of the board were placed.
    ///
    /// # Errors
    /// It is time to stop.
    pub fn side<Q: Queen>(&mut self, board: &[Q], side: &'static str) -> Result<(), Stopped> {
        self.count()?;
        if !self.control.wants_squares {
            return Ok(());
        }
        self.show(|| Scene::Side {
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
    ) -> Result<(), Stopped> {
        if !self.control.wants_squares {
            return Ok(());
        }
        self.show(|| Scene::Attacked {
            rows: columns(&board[..row]),
            column: column as u8,
        })
    }

    /// Counts a candidate: a full board that may be a solution.
    ///
    /// # Errors
    /// It is time to stop.
    #[inline]
    pub fn candidate<Q: Queen>(&mut self, board: &[Q]) -> Result<(), Stopped> {
        self.count()?;
        self.show(|| Scene::Candidate {
            rows: columns(board),
        })
    }

    /// Shows a solution.
    ///
    /// # Errors
    /// The audience left.
    #[inline]
    pub fn solution<Q: Queen>(&self, board: &[Q], images: Images) -> Result<(), Stopped> {
        self.show(|| Scene::Solution {
            rows: columns(board),
            images,
        })
    }

    /// Shows a border.
    ///
    /// # Errors
    /// The audience left.
    pub fn border<Q: Queen>(&self, board: &[Q], size: u8) -> Result<(), Stopped> {
        self.show(|| Scene::Border {
            rows: columns(board),
            size,
        })
    }

    /// Counts a node that has no board to show.
    ///
    /// # Errors
    /// It is time to stop.
    #[inline]
    pub fn count(&mut self) -> Result<(), Stopped> {
        self.until_look -= 1;
        if self.until_look > 0 {
            return Ok(());
        }
        self.look()
    }

    /// Ends the search because what is asked for cannot be done.
    pub(super) fn refuse_to_run(&self, why: String) -> Stopped {
        self.stop(StopReason::Refused(why))
    }

    /// Ends the search because its device failed.
    pub(super) fn fail(&self, why: String) -> Stopped {
        self.stop(StopReason::Failed(why))
    }

    /// A watch for another thread of the same search. [`add_nodes`](Self::add_nodes) adds its nodes.
    pub(super) fn fork(&self) -> Self {
        Self::new(self.control)
    }

    /// Adds the nodes of a forked watch, or of a device.
    pub(super) fn add_nodes(&mut self, nodes: u64) {
        self.nodes_then += nodes;
    }

    // Out of line, so that the fast path of a node needs no registers for it.
    #[cold]
    #[inline(never)]
    fn look_and_show<Q: Queen>(&mut self, board: &[Q], row: usize) -> Result<(), Stopped> {
        self.look()?;
        self.show_placed(board, row)
    }

    #[cold]
    fn look(&mut self) -> Result<(), Stopped> {
        self.until_look = self.control.nodes_between_looks();
        self.nodes_then += self.until_look;
        self.check()
    }

    /// Looks at the clock: for those who wait.
    ///
    /// # Errors
    /// It is time to stop.
    pub(super) fn check(&self) -> Result<(), Stopped> {
        let control = self.control;
        if control.stop_reason.get().is_some() {
            Err(Stopped)
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
    fn show(&self, scene: impl FnOnce() -> Scene) -> Result<(), Stopped> {
        let Some(audience) = self.control.audience else {
            return Ok(());
        };
        match lock(audience).see(scene()) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(self.stop(StopReason::AudienceLeft)),
        }
    }

    fn stop(&self, why: StopReason) -> Stopped {
        // The first reason is the one that counts.
        let _ = self.control.stop_reason.set(why);
        Stopped
    }
}

/// A panic of an audience leaves nothing half done that the search relies on.
fn lock(audience: &Mutex<dyn Audience>) -> MutexGuard<'_, dyn Audience + 'static> {
    audience.lock().unwrap_or_else(PoisonError::into_inner)
}

fn columns<Q: Queen>(board: &[Q]) -> Vec<Option<u8>> {
    board.iter().map(|queen| queen.column()).collect()
}
