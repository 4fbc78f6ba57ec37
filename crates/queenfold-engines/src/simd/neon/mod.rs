//! NEON: registers of 128 bits, mostly used in pairs, so that a mask, which takes several instructions
//! to become a number, serves eight lanes. Compress and expand are permutations, looked up by the mask.

mod lanes;
mod rows;
mod tables;
mod token;
mod words;

pub use token::Neon;

token! {
    Neon, is_aarch64_feature_detected, "neon"
}
