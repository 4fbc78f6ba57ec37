//! The runtime, as its callers use it.

mod alone;
mod events;
mod faults;
mod runs;
mod sick;
mod sources;
mod stops;
