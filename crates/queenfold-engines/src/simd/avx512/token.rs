//! The proof that the processor has AVX-512, without which its vectors cannot be used.

/// The token of AVX-512 with the extensions that [`Isa::Avx512`](crate::simd::Isa::Avx512) names.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(pub(super) ());
