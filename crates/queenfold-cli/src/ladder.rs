//! The ladder: the historical methods, and the device of the style that needs one.
//!
//! The methods are a crate of their own, [`queenfold_ladder`], so that they are as fast as their compiler
//! makes them whatever the rest of the program is.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
#[doc(inline)]
pub use queenfold_ladder::*;

use queenfold::device::Device;
use queenfold::device::cuda::{self, CudaSettings};

/// Runs a method on a board. The style of a GPU opens one.
///
/// # Errors
/// The reason why there is no count.
///
/// # Panics
/// `request.style` is not one of the method's styles.
pub fn run_method(
    method: &Method,
    request: &MethodRequest,
    time_limit: Option<Duration>,
    interrupt: &AtomicBool,
    audience: Option<&Mutex<dyn Audience>>,
) -> Result<TableRow, StopReason> {
    let mut device = open_for(request.style)?;
    let device = device.as_deref_mut();
    run_method_on(device, method, request, time_limit, interrupt, audience)
}

/// A method counts again and again until it has spent this time, and the best time is taken: a single one of a small
/// board says more about what else the machine did.
const REPEATED_FOR: f64 = 0.02;

/// Runs a method on a board and measures it: as [`run_method`] without an audience, but the times of the row are the
/// best of several counts if one takes less than 20 ms. A device is opened once.
///
/// # Errors
/// The reason why there is no count.
///
/// # Panics
/// `request.style` is not one of the method's styles.
pub fn measure_method(
    method: &Method,
    request: &MethodRequest,
    time_limit: Option<Duration>,
    interrupt: &AtomicBool,
) -> Result<TableRow, StopReason> {
    let mut device = open_for(request.style)?;
    let mut count = || {
        let device = device.as_deref_mut();
        run_method_on(device, method, request, time_limit, interrupt, None)
    };
    let mut best = count()?;
    let mut spent = best.cost();
    while spent < REPEATED_FOR {
        match count() {
            Ok(row) => {
                // Whatever the clock says, it ends.
                spent += row.cost().max(1e-7);
                best.keep_best(&row);
            }
            // There is a row already.
            Err(StopReason::TimeLimit | StopReason::Interrupted) => break,
            Err(why) => return Err(why),
        }
    }
    Ok(best)
}

/// Opens a GPU, if the style needs one.
fn open_for(style: Style) -> Result<Option<Box<dyn Device>>, StopReason> {
    let open = || cuda::open(&CudaSettings::default());
    let opened = style.needs_device().then(open).transpose();
    opened.map_err(|why| StopReason::NoDevice(format!("no GPU: {why}")))
}
