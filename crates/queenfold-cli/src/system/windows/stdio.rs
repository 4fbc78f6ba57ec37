//! Which standard streams the process was given.

/// Whether the process was begun without a standard output. Here that is usual: a program without a console has
/// none.
pub const fn has_no_stdout() -> bool {
    false
}
