//! The proof that the processor has NEON, without which its vectors cannot be used.

/// The token of NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(pub(super) ());
