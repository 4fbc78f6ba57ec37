//! 16 keys of 32 bits, or 8 of 64; a truth row is one register.

use std::arch::x86_64::*;

use super::Avx512;
use crate::simd::avx2::Spread;
use crate::simd::{Fields, KeyVectors, SAMPLE, Separated, TruthRow};

impl Avx512 {
    /// The keys transposed to bits: word i of vector p has bit 8·p + i of all keys. `INVERT` is 0,
    /// or 255 for the complement.
    #[inline(always)]
    fn planes<const INVERT: i32>(self, keys: &[u32; SAMPLE]) -> [__m512i; 4] {
        // SAFETY: the token proves the instruction set; the four vectors read are the keys.
        unsafe {
            // Moves byte p of the keys 8·w + 7 … 8·w to word 2·p + w.
            let by_byte = _mm512_load_si512(BY_BYTE.0.as_ptr().cast());
            let unit = _mm512_set1_epi64(0x8040_2010_0804_0201u64 as i64);
            macro_rules! part {
                ($index:literal) => {{
                    let keys = _mm512_loadu_si512(keys.as_ptr().add(16 * $index).cast());
                    let matrices = _mm512_permutexvar_epi8(by_byte, keys);
                    // Transposes each word as a matrix of 8 × 8 bits.
                    _mm512_gf2p8affine_epi64_epi8::<INVERT>(unit, matrices)
                }};
            }
            let (a, b, c, d) = (part!(0), part!(1), part!(2), part!(3));
            // Moves byte i of word w to byte w of word i.
            let across = _mm512_load_si512(ACROSS.0.as_ptr().cast());
            let [p, q, r, s] = self.transpose_lanes([a, b, c, d]);
            [
                _mm512_permutexvar_epi8(across, p),
                _mm512_permutexvar_epi8(across, q),
                _mm512_permutexvar_epi8(across, r),
                _mm512_permutexvar_epi8(across, s),
            ]
        }
    }

    /// Transposes eight vectors of eight words.
    #[inline(always)]
    fn transpose(self, rows: [__m512i; 8]) -> [__m512i; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        // SAFETY: the token proves the instruction set.
        unsafe {
            // Lane l of a pair holds word 2·l of both vectors, or word 2·l + 1 of both.
            let [r0, r2, r4, r6] = self.transpose_lanes([
                _mm512_unpacklo_epi64(a, b),
                _mm512_unpacklo_epi64(c, d),
                _mm512_unpacklo_epi64(e, f),
                _mm512_unpacklo_epi64(g, h),
            ]);
            let [r1, r3, r5, r7] = self.transpose_lanes([
                _mm512_unpackhi_epi64(a, b),
                _mm512_unpackhi_epi64(c, d),
                _mm512_unpackhi_epi64(e, f),
                _mm512_unpackhi_epi64(g, h),
            ]);
            [r0, r1, r2, r3, r4, r5, r6, r7]
        }
    }

    /// Transposes four vectors of four lanes of 128 bits.
    #[inline(always)]
    fn transpose_lanes(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        // SAFETY: the token proves the instruction set.
        unsafe {
            let low = _mm512_shuffle_i32x4::<0x44>(a, b);
            let low_too = _mm512_shuffle_i32x4::<0x44>(c, d);
            let high = _mm512_shuffle_i32x4::<0xEE>(a, b);
            let high_too = _mm512_shuffle_i32x4::<0xEE>(c, d);
            [
                _mm512_shuffle_i32x4::<0x88>(low, low_too),
                _mm512_shuffle_i32x4::<0xDD>(low, low_too),
                _mm512_shuffle_i32x4::<0x88>(high, high_too),
                _mm512_shuffle_i32x4::<0xDD>(high, high_too),
            ]
        }
    }
}

/// A vector of bytes in memory.
#[repr(align(64))]
struct Bytes([u8; 64]);

static BY_BYTE: Bytes = {
    let mut bytes = [0; 64];
    let mut to = 0;
    while to < 64 {
        let (word, byte) = (to / 8, to % 8);
        let key = 8 * (word % 2) + 7 - byte;
        bytes[to] = (4 * key + word / 2) as u8;
        to += 1;
    }
    Bytes(bytes)
};

static ACROSS: Bytes = {
    let mut bytes = [0; 64];
    let mut to = 0;
    while to < 64 {
        bytes[to] = (8 * (to % 8) + to / 8) as u8;
        to += 1;
    }
    Bytes(bytes)
};

// For all operations below: the token `self` proves the instruction set, and the caller of an
// unsafe operation vouches for the memory.
impl KeyVectors for Avx512 {
    type Keys = __m512i;
    type Wide = __m512i;
    type LoadedRow = __m512i;
    type Sum = __m512i;
    type Fields = Spread;
    type Choice = u64;

    const LANES: usize = 16;
    const WIDE_LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u32, count: usize) -> __m512i {
        // SAFETY: see above; lanes masked out are not read.
        unsafe { _mm512_maskz_loadu_epi32((1 << count) - 1, from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_cvtepu8_epi32(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    fn splat(self, key: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi32(key as i32) }
    }

    #[inline(always)]
    fn take(self, keys: __m512i, lanes: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_permutexvar_epi32(lanes, keys) }
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_and_si512(a, b) }
    }

    #[inline(always)]
    fn disjoint(self, a: __m512i, b: __m512i) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_testn_epi32_mask(a, b).into() }
    }

    #[inline(always)]
    fn separate(self, keys: __m512i, bits: __m512i) -> Separated<__m512i> {
        // SAFETY: see above.
        unsafe {
            let lacking = _mm512_testn_epi32_mask(keys, bits);
            Separated {
                lanes: lacking.into(),
                without: _mm512_maskz_mov_epi32(lacking, keys),
                with: _mm512_maskz_mov_epi32(!lacking, keys),
            }
        }
    }

    #[inline(always)]
    fn tally(self, counts: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe {
            let disjoint = _mm512_testn_epi32_mask(a, b);
            _mm512_mask_sub_epi32(counts, disjoint, counts, _mm512_set1_epi32(-1))
        }
    }

    #[inline(always)]
    fn sum(self, counts: __m512i) -> u64 {
        // SAFETY: see above; a vector is sixteen counts.
        let counts: [u32; 16] = unsafe { std::mem::transmute(counts) };
        counts.into_iter().map(u64::from).sum()
    }

    #[inline(always)]
    fn keep(self, keys: __m512i, mask: u32) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_maskz_mov_epi32(mask as u16, keys) }
    }

    #[inline(always)]
    unsafe fn compress(self, keys: __m512i, mask: u32, to: *mut u32) {
        // In a register and then a full store, because compress to memory is slow microcode.
        // SAFETY: see above.
        unsafe {
            _mm512_storeu_si512(
                to.cast(),
                _mm512_mask_compress_epi32(keys, mask as u16, keys),
            )
        }
    }

    #[inline(always)]
    unsafe fn compress_exactly(self, keys: __m512i, mask: u32, to: *mut u32) {
        let kept = (1u32 << mask.count_ones()) - 1;
        // SAFETY: see above; lanes masked out are not written.
        unsafe {
            let keys = _mm512_mask_compress_epi32(keys, mask as u16, keys);
            _mm512_mask_storeu_epi32(to.cast(), kept as u16, keys);
        }
    }

    #[inline(always)]
    fn union_of_lanes(self, keys: __m512i) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_or_epi32(keys) as u32 }
    }

    #[inline(always)]
    fn splat_wide(self, key: u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(key as i64) }
    }

    #[inline(always)]
    unsafe fn load_wide(self, from: *const u64) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    fn prefetch(self, from: *const u64) {
        // SAFETY: see above; a prefetch of any address is harmless.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    #[inline(always)]
    fn disjoint_wide(self, a: __m512i, b: __m512i, among: u32) -> u32 {
        // SAFETY: see above.
        unsafe { _mm512_mask_testn_epi64_mask(among as u8, a, b).into() }
    }

    #[inline(always)]
    unsafe fn compress_wide(self, keys: __m512i, mask: u32, to: *mut u64) {
        // SAFETY: see above.
        unsafe {
            _mm512_storeu_si512(
                to.cast(),
                _mm512_mask_compress_epi64(keys, mask as u8, keys),
            )
        }
    }

    #[inline(always)]
    fn choice(self, mask: u64) -> u64 {
        mask
    }

    #[inline(always)]
    fn pack_bits(self, key: u64, choice: u64) -> u32 {
        // SAFETY: see above.
        unsafe { _pext_u64(key, choice) as u32 }
    }

    #[inline(always)]
    fn fields(self, fields: &Fields) -> Spread {
        Spread::new(fields)
    }

    #[inline(always)]
    fn offsets(self, key: u32, fields: Spread) -> [usize; 5] {
        // SAFETY: see above.
        unsafe { fields.offsets(key) }
    }

    #[inline(always)]
    fn frequencies(self, keys: &[u32; SAMPLE]) -> [u32; 32] {
        let mut found = [0; 32];
        for (byte, plane) in self.planes::<0>(keys).into_iter().enumerate() {
            let counts = &mut found[8 * byte..][..8];
            // SAFETY: see above; eight counts of 32 bits are written.
            unsafe {
                let sums = _mm512_cvtepi64_epi32(_mm512_popcnt_epi64(plane));
                _mm256_storeu_si256(counts.as_mut_ptr().cast(), sums);
            }
        }
        found
    }

    #[inline(always)]
    fn rows_lacking(
        self,
        keys: &[u32; TruthRow::LEN],
        _: usize,
        _: u32,
        rows: &mut [TruthRow; 32],
    ) {
        let (blocks, _) = keys.as_chunks::<SAMPLE>();
        let mut planes = [[self.zero(); 8]; 4];
        for (index, block) in blocks.iter().enumerate() {
            for (byte, words) in self.planes::<255>(block).into_iter().enumerate() {
                planes[byte][index] = words;
            }
        }
        for (byte, plane) in planes.into_iter().enumerate() {
            for (bit, words) in self.transpose(plane).into_iter().enumerate() {
                self.set_row(&mut rows[8 * byte + bit], words);
            }
        }
    }

    #[inline(always)]
    fn row(self, from: &TruthRow) -> __m512i {
        // SAFETY: see above; a row is a vector, aligned.
        unsafe { _mm512_load_si512(from.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn set_row(self, to: &mut TruthRow, row: __m512i) {
        // SAFETY: see above; a row is a vector, aligned.
        unsafe { _mm512_store_si512(to.0.as_mut_ptr().cast(), row) }
    }

    #[inline(always)]
    fn both(self, a: __m512i, b: __m512i) -> __m512i {
        self.and(a, b)
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn count(self, sum: __m512i, row: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(row)) }
    }

    #[inline(always)]
    fn total(self, sum: __m512i) -> u64 {
        // SAFETY: see above.
        unsafe { _mm512_reduce_add_epi64(sum) as u64 }
    }
}
