//! What people look at later. The report of a run: one page of HTML that explains itself, made from a run
//! directory alone. Pictures of boards and of the ladder.
//!
//! * [`RunReport`]: what the directory says. [`RunReport::read`] needs no process that works on it.
//!   [`RunReport::html`] is the page.
//! * `clock`: the axis of time. `chart`: axes and lines as SVG. `over_time`, `task_map`: the drawings. `summary`: the figures that
//!   are seen first. `sections`: what the page says. `record`: a line for a table of records.
//! * [`board_svg`](fn@board_svg): boards.
//! * [`ladder_picture`](fn@ladder_picture): the times of the historical methods, as SVG.

mod board_svg;
mod chart;
mod clock;
mod ladder_curves;
mod ladder_picture;
mod markup;
mod over_time;
mod page;
mod read;
mod record;
mod sections;
mod summary;
mod task_map;
mod timeline;

pub use board_svg::board_svg;
pub use ladder_picture::{LADDER_MARK, ladder_picture};
pub use read::{DoneTask, RunReport};
