//! What a counter may use.

use crate::simd::Isa;

/// What a counter may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSettings {
    /// The instruction set to use; it must be available on this machine.
    pub isa: Isa,
    /// How much memory the counter may take, in bytes.
    pub memory: u64,
}

impl CounterSettings {
    /// The same with another instruction set.
    #[must_use]
    pub fn with_isa(&self, isa: Isa) -> Self {
        Self {
            isa,
            ..self.clone()
        }
    }
}
