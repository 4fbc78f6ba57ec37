//! How the C library takes memory from the system.

#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "a function of the C library of GNU")
)]

/// Lets all threads take memory from one arena. The C library of GNU otherwise reserves 64 MiB of addresses for
/// each of several threads, which a limit on the address space does not allow, and asks the system for a page of them at
/// a time: 0.3 ms of a start. Threads that count allocate once or twice in a task.
pub fn use_one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        /// `M_ARENA_MAX` of `malloc.h`.
        const ARENA_MAX: c_int = -8;
        // SAFETY: the function takes two numbers and has this type in `malloc.h`. It touches nothing but the
        // settings of the allocator, under its own lock.
        unsafe { mallopt(ARENA_MAX, 1) };
    }
}
