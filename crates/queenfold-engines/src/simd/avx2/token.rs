//! The proof that the processor has AVX2, without which its vectors cannot be used.

/// The token of AVX2 with BMI1, BMI2 and POPCNT.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(pub(super) ());
