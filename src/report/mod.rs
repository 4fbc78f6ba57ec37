//! What people look at later. The report of a run: one page of HTML that explains itself, made from a run
//! directory alone. The picture of the ladder.
//!
//! * [`RunReport`]: what the directory says. [`RunReport::read`] needs no process that works on it.
//! * `charts`: the drawings, as SVG. `page`: the page around them. `record`: a line for a table of records.
//! * [`ladder_picture`](fn@ladder_picture): the times of the historical methods, as SVG.

mod charts;
mod drawing;
mod ladder_curves;
mod ladder_labels;
mod ladder_picture;
mod page;
mod read;
mod record;
mod timeline;

pub use ladder_picture::ladder_picture;
pub use read::{DoneTask, Lane, RunReport};
pub use timeline::{EtaTold, Timeline};
