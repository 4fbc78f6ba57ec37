//! AVX-512: vectors of 512 bits. Compress and expand are instructions.

mod rows;
mod token;
mod words;

pub use token::Avx512;

token! {
    Avx512, is_x86_feature_detected,
    "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2" "avx512bitalg"
    "avx512vpopcntdq" "gfni" "avx2" "bmi1" "bmi2" "popcnt"
}
