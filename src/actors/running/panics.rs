//! Panics of worker threads are caught. The error of the run and the log report them, not the default
//! message on the terminal. Panics of all other threads are reported as usual.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic;
use std::sync::Once;

thread_local! {
    static CAUGHT_HERE: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics of the calling thread off the terminal. The caller must catch all of them.
pub(crate) fn catch_on_this_thread() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if CAUGHT_HERE.get() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                default(info);
            }
        }));
    });
    CAUGHT_HERE.set(true);
}

/// What a caught panic of the calling thread said, and where.
pub(crate) fn describe(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic without a message");
    match PLACE.take() {
        Some(place) => format!("{text} (at {place})"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_panic_is_described_with_its_place() {
        let told = std::thread::spawn(|| {
            catch_on_this_thread();
            let payload = panic::catch_unwind(|| panic!("queen {} attacked", 7)).unwrap_err();
            describe(payload.as_ref())
        });
        let told = told.join().unwrap();
        assert!(told.starts_with("queen 7 attacked (at "), "{told}");
        assert!(told.contains("panics.rs"), "{told}");
    }
}
