//! The report of a run: one page of HTML that explains itself, made from a run directory alone.
//!
//! * [`RunReport`]: what the directory says. [`RunReport::read`] needs no process that works on it.
//! * `charts`: the drawings, as SVG. `page`: the page around them. `record`: a line for a table of records.

mod charts;
mod page;
mod read;
mod record;
mod timeline;

pub use read::{DoneTask, Lane, RunReport};
pub use timeline::{EtaTold, Timeline};
