//! Chooses code by instruction set, at run time.

use super::{Algorithm, Isa, Simd};

/// Makes the two methods from the list of instruction sets.
macro_rules! dispatch {
    ({} $($(#[doc = $doc:literal])+ #[cfg($condition:meta)] $folder:ident $token:ident;)+) => {
        impl Isa {
            /// Whether this machine can run it.
            pub fn is_available(self) -> bool {
                $(
                    #[cfg($condition)]
                    if self == Self::$token {
                        return super::$folder::$token::new().is_some();
                    }
                )+
                false
            }

            /// Runs `algorithm` with the vectors of this instruction set.
            ///
            /// # Panics
            /// If the machine does not have it.
            pub fn run<A: Algorithm>(self, algorithm: A) -> A::Output {
                $(
                    #[cfg($condition)]
                    if self == Self::$token && let Some(simd) = super::$folder::$token::new() {
                        return algorithm.run(simd);
                    }
                )+
                panic!("this machine has no {self}")
            }
        }
    };
}

instruction_sets!(dispatch,);

impl Isa {
    /// The widest that this machine can run.
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rev()
            .find(|isa| isa.is_available())
            .unwrap_or(Self::Portable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_available() {
        assert!(Isa::best().is_available());
        assert!(Isa::Portable.is_available());
    }
}
