//! The ladder: the historical methods, from brute force to the carry chain, and the join of colours, one
//! file each. They are readable and correct; none is tuned beyond its own idea.
//!
//! They are lessons first (`queenfold explain` prints the documentation of each module) and
//! independent oracles second: none of them shares its search with the engines.
//!
//! Every method reports its nodes to a [`Watch`], which counts them, stops the search in time and
//! shows an [`Audience`] what happens. [`run_without_device`] and [`run_method_on`] run one method on one
//! board.

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

/// Every method, in the order of the ideas.
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

/// Runs a method on a board, in a style that needs no device.
///
/// It ends early after `time_limit`, soon after `interrupt` is set, and when the audience leaves.
///
/// # Errors
/// The reason why there is no count.
///
/// # Panics
/// `request.style` is not one of the method's styles, or needs a device.
pub fn run_without_device(
    method: &Method,
    request: &MethodRequest,
    time_limit: Option<Duration>,
    interrupt: &AtomicBool,
    audience: Option<&Mutex<dyn Audience>>,
) -> Result<TableRow, StopReason> {
    assert_has_style(method, request.style);
    assert!(!request.style.needs_device(), "there is no device");
    let control = watch::SearchControl::new(time_limit, interrupt, audience);
    timed(method, request, control, |watch| {
        (method.count)(request, watch)
    })
}

/// Runs a method in a style that needs a device, which first counts a small board. That is not part of
/// the measured time. Otherwise like [`run_without_device`]. A device shows no audience anything.
///
/// # Errors
/// The reason why there is no count.
///
/// # Panics
/// `request.style` is not one of the method's styles.
pub fn run_method_on(
    device: &mut dyn Device,
    method: &Method,
    request: &MethodRequest,
    time_limit: Option<Duration>,
    interrupt: &AtomicBool,
) -> Result<TableRow, StopReason> {
    assert_has_style(method, request.style);
    device::self_test(device, method, request.style)?;
    let control = watch::SearchControl::new(time_limit, interrupt, None);
    timed(method, request, control, |watch| {
        (method.count_on)(device, request, watch)
    })
}

fn assert_has_style(method: &Method, style: Style) {
    let Method { name, styles, .. } = method;
    assert!(styles.contains(&style), "{name} has no such style");
}

fn timed(
    method: &Method,
    request: &MethodRequest,
    control: watch::SearchControl<'_>,
    count: impl FnOnce(&mut Watch<'_>) -> Result<Count, StopSearch>,
) -> Result<TableRow, StopReason> {
    let mut watch = Watch::new(&control);
    let (start, cpu) = (Instant::now(), ProcessTime::try_now().ok());
    let count = count(&mut watch);
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
