//! AVX2: vectors of 256 bits. Compress and expand are permutations, looked up by the mask.

mod rows;
mod tables;
mod token;
mod words;

pub use token::Avx2;

token! {
    Avx2, is_x86_feature_detected, "avx2" "bmi1" "bmi2" "popcnt"
}
