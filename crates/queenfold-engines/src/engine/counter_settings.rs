//! What a counter may use.

use crate::simd::Isa;

/// What a counter may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSettings {
    /// The instruction set to use; it must be available on this machine.
    pub isa: Isa,
}
