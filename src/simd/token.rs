use super::{Isa, KeyVectors, WordVector};

/// A token: the proof that this machine has an instruction set. Each instruction set has a type of
/// its own.
pub trait Simd: KeyVectors + Send + 'static {
    /// Vectors of 16-bit words.
    type Words16: WordVector<Simd = Self, Word = u16>;
    /// Vectors of 32-bit words.
    type Words32: WordVector<Simd = Self, Word = u32>;

    /// The instruction set.
    const ISA: Isa;

    /// The token, if this machine has the instruction set.
    fn new() -> Option<Self>;

    /// Runs `work`, compiled for the instruction set.
    ///
    /// The compiler inlines `work` and everything in it that is `#[inline(always)]` into a function
    /// that has the features of the instruction set. So `work` must be such a closure itself, and
    /// so must be all that its hot loops call; otherwise every vector operation becomes a call.
    fn vectorize<R>(self, work: impl FnOnce() -> R) -> R;
}

/// An algorithm that is written once for all instruction sets.
///
/// A trait and not a closure, because closures cannot be generic.
pub trait Algorithm {
    /// What it returns.
    type Output;

    /// Runs with the vectors of one instruction set. Hot loops belong into
    /// [`simd.vectorize`](Simd::vectorize).
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Declares the token of an instruction set in `mod.rs` of its folder. `$detect` is the macro of
/// `std::arch` that asks the machine for a feature. The features are named here only, once for the
/// compiler and the machine together.
macro_rules! token {
    ($(#[$doc:meta])* $token:ident, $detect:ident, $($feature:tt)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $token(());

        impl crate::simd::Simd for $token {
            type Words16 = words::Words16;
            type Words32 = words::Words32;

            const ISA: crate::simd::Isa = crate::simd::Isa::$token;

            fn new() -> Option<Self> {
                let is_available = true $(&& std::arch::$detect!($feature))+;
                is_available.then_some(Self(()))
            }

            #[inline(always)]
            fn vectorize<R>(self, work: impl FnOnce() -> R) -> R {
                // SAFETY: the token proves that the machine has the features.
                unsafe { vectorize(work) }
            }
        }

        #[target_feature($(enable = $feature),+)]
        fn vectorize<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
    };
}
