//! Makes a copy of a test for every instruction set.

/// Stamps tests on every instruction set: for each a module with the name of its folder, and in it
/// a `#[test]` for each line `name: check`, which calls `super::check` with the token. Where the
/// machine lacks the instruction set, the test does nothing.
macro_rules! stamp_tests {
    (@module $folder:ident $token:ident {
        $($(#[$attribute:meta])* $name:ident: $check:ident),+ $(,)?
    }) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $name() {
                use $crate::simd::Simd;
                if let Some(simd) = $crate::simd::$folder::$token::new() {
                    super::$check(simd);
                }
            }
        )+
    };
    // What `instruction_sets` calls: the tests, then the list.
    ({ @list $tests:tt } $(
        $(#[doc = $doc:literal])+ #[cfg($condition:meta)] $folder:ident $token:ident;
    )+) => {
        $(
            #[cfg($condition)]
            mod $folder {
                $crate::simd::stamp_tests! { @module $folder $token $tests }
            }
        )+
    };
    ($($tests:tt)+) => {
        $crate::simd::instruction_sets! {
            $crate::simd::stamp_tests, @list { $($tests)+ }
        }
    };
}
pub(crate) use stamp_tests;
