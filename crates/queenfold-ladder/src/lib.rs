//! The ladder: the historical methods, from brute force to the carry chain, and the join of colours, one
//! file each. They are readable and correct; none is tuned beyond its own idea.
//!
//! They are lessons first (`queenfold explain` prints the documentation of each module) and
//! independent oracles second: none of them shares its search with the engines.
//!
//! Every method reports its nodes to a [`Watch`], which counts them, stops the search in time and
//! shows an [`Audience`] what happens. [`run_method_on`] runs one method on one board.

pub mod backtrack;
pub mod bit_board;
pub mod bitmap;
pub mod bitmap_orbits;
pub mod bound1;
mod by_columns;
pub mod carry_chain;
pub mod carry_chain_parallel;
pub mod colour;
mod device;
pub mod flags;
mod growth;
mod method;
pub mod mirror;
pub mod node_layer;
pub mod orbits;
pub mod permutations;
mod programs;
mod queens;
mod spread;
pub mod symmetry;
pub mod symmetry_parallel;
mod table_row;
pub mod tuples;
mod watch;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
pub use growth::{extrapolated, growth};
pub use method::{Count, Method, MethodRequest, Style};
use parking_lot::Mutex;
pub use programs::PROGRAMS;
use queenfold_engines::engine::Device;
pub use table_row::{PROGRAM, TableRow};
pub use watch::{Audience, Images, Queen, Scene, StopReason, StopSearch, Watch};

/// The steps of the course, from brute force to the engines: the headings of `docs/COURSE.md`.
pub const STEPS: [&str; 10] = [
    "Try everything",
    "Use each column once",
    "Turn back at the first mistake",
    "Mark what is attacked",
    "Turn the board and mirror it",
    "Leave the images out",
    "Divide the work",
    "Begin at the border",
    "Take the colours apart",
    "Count the symmetric ones alone",
];

/// Every method, in the order of the steps.
pub const METHODS: [&Method; 16] = [
    &tuples::METHOD,
    &permutations::METHOD,
    &backtrack::METHOD,
    &flags::METHOD,
    &bitmap::METHOD,
    &mirror::METHOD,
    &orbits::METHOD,
    &bitmap_orbits::METHOD,
    &bound1::METHOD,
    &symmetry::METHOD,
    &symmetry_parallel::METHOD,
    &node_layer::METHOD,
    &bit_board::METHOD,
    &carry_chain::METHOD,
    &carry_chain_parallel::METHOD,
    &colour::METHOD,
];

/// The method of this name.
pub fn method(name: &str) -> Option<&'static Method> {
    METHODS.into_iter().find(|method| method.name == name)
}

/// Runs a method on a board: on the device if the style needs one, which first counts a small board that is not part of
/// the measured time; otherwise without one.
///
/// It ends early after `time_limit`, soon after `interrupt` is set, and when the audience leaves, to which a device shows
/// nothing.
///
/// # Errors
/// The reason why there is no count.
///
/// # Panics
/// `request.style` is not one of the method's styles, or there is a device just where it needs none.
pub fn run_method_on(
    mut device: Option<&mut (dyn Device + 'static)>,
    method: &Method,
    request: &MethodRequest,
    time_limit: Option<Duration>,
    interrupt: &AtomicBool,
    audience: Option<&Mutex<dyn Audience>>,
) -> Result<TableRow, StopReason> {
    let Method { name, styles, .. } = method;
    assert!(styles.contains(&request.style), "{name} has no such style");
    assert_eq!(request.style.needs_device(), device.is_some(), "{name}");
    if let Some(device) = device.as_deref_mut() {
        device::self_test(device, method, request.style)?;
    }
    let control = watch::SearchControl::new(time_limit, interrupt, audience);
    let mut watch = Watch::new(&control);
    let (start, cpu) = (Instant::now(), ProcessTime::try_now().ok());
    let count = match device {
        Some(device) => (method.count_on)(device, request, &mut watch),
        None => (method.count)(request, &mut watch),
    };
    let cpu = cpu.and_then(|cpu| cpu.try_elapsed().ok());
    let wall = start.elapsed();
    let nodes = watch.nodes();
    match count {
        Ok(count) => Ok(TableRow::new(
            method.name,
            request,
            count,
            nodes,
            // A clock of 16 ms, as Windows has, charges short counts nothing.
            [wall, cpu.filter(|cpu| !cpu.is_zero()).unwrap_or(wall)],
        )),
        // Whoever returns `StopSearch` has first stored the reason.
        Err(StopSearch) => Err(control.stop_reason().unwrap_or(StopReason::Interrupted)),
    }
}
