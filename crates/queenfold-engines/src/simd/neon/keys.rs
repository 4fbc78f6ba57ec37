//! 8 keys of 32 bits, or 4 of 64, in two registers; a truth row is four.

use std::arch::aarch64::*;

use super::fields::FieldsOfFour;
use super::lanes::{bits_of_others, bytes_of_pair, entry, mask_of_pair, permuted};
use super::tables::{COMPRESS_32, COMPRESS_64};
use super::{Choice, Neon};
use crate::simd::{Fields, KeyVectors, SAMPLE, Separated, TruthRow, array, each};

type Keys = [uint32x4_t; 2];
type Wide = [uint64x2_t; 2];
type Row = [uint8x16_t; 4];

// For all operations below: the token `self` proves the instruction set, and the caller of an
// unsafe operation vouches for the memory.
impl Neon {
    /// The lanes in which `a` and `b` share a bit.
    #[inline(always)]
    fn shared(self, a: Keys, b: Keys) -> Keys {
        // SAFETY: see above.
        array(|i| unsafe { vtstq_u32(a[i], b[i]) })
    }

    /// The bytes of 64 keys: vector `[p][v]` has byte p of keys 16v to 16v + 15.
    #[inline(always)]
    fn planes(self, keys: &[u32; 64]) -> [Row; 4] {
        // SAFETY: see above; 64 bytes are read four times.
        let parts: [uint8x16x4_t; 4] =
            array(|part| unsafe { vld4q_u8(keys.as_ptr().add(16 * part).cast()) });
        [
            each(parts, |part| part.0),
            each(parts, |part| part.1),
            each(parts, |part| part.2),
            each(parts, |part| part.3),
        ]
    }

    /// The number of bits of each byte, added up for the four registers of a row: 32 at most.
    #[inline(always)]
    fn bits_of_bytes(self, row: Row) -> uint8x16_t {
        // SAFETY: see above.
        unsafe {
            let [a, b, c, d] = each(row, |part| vcntq_u8(part));
            vaddq_u8(vaddq_u8(a, b), vaddq_u8(c, d))
        }
    }

    /// Adds all bytes to the sum.
    #[inline(always)]
    fn add_bytes(self, sum: uint64x2_t, bytes: uint8x16_t) -> uint64x2_t {
        // SAFETY: see above.
        unsafe { vpadalq_u32(sum, vpaddlq_u16(vpaddlq_u8(bytes))) }
    }
}

impl KeyVectors for Neon {
    type Keys = Keys;
    type Wide = Wide;
    type LoadedRow = Row;
    type Sum = uint64x2_t;
    type Fields = FieldsOfFour;
    type Choice = Choice;

    const LANES: usize = 8;
    const WIDE_LANES: usize = 4;
    const FOUR_AT_ONCE: bool = true;

    #[inline(always)]
    unsafe fn load(self, from: *const u32) -> Keys {
        // SAFETY: see above.
        unsafe { [vld1q_u32(from), vld1q_u32(from.add(4))] }
    }

    #[inline(always)]
    unsafe fn load_first(self, from: *const u32, count: usize) -> Keys {
        let mut keys = [0; 8];
        let mut at = 0;
        for size in [4, 2, 1] {
            if count & size != 0 {
                // SAFETY: see above; the sizes add up to `count`, which is less than eight.
                unsafe {
                    let to = keys.as_mut_ptr().add(at);
                    from.add(at).copy_to_nonoverlapping(to, size);
                }
                at += size;
            }
        }
        // SAFETY: see above; the array is a vector.
        unsafe { self.load(keys.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn load_bytes(self, from: *const u8) -> Keys {
        // SAFETY: see above; eight bytes are read.
        unsafe {
            let words = vmovl_u8(vld1_u8(from));
            [vmovl_u16(vget_low_u16(words)), vmovl_high_u16(words)]
        }
    }

    #[inline(always)]
    fn splat(self, key: u32) -> Keys {
        // SAFETY: see above.
        [unsafe { vdupq_n_u32(key) }; 2]
    }

    #[inline(always)]
    fn take(self, keys: Keys, lanes: Keys) -> Keys {
        // SAFETY: see above. Lane l is in the bytes from 4l on.
        unsafe {
            let first = vdupq_n_u32(0x0302_0100);
            let step = vdupq_n_u32(0x0404_0404);
            let bytes = each(lanes, |lanes| {
                vreinterpretq_u8_u32(vmlaq_u32(first, lanes, step))
            });
            permuted(keys, bytes)
        }
    }

    #[inline(always)]
    fn or(self, a: Keys, b: Keys) -> Keys {
        // SAFETY: see above.
        array(|i| unsafe { vorrq_u32(a[i], b[i]) })
    }

    #[inline(always)]
    fn and(self, a: Keys, b: Keys) -> Keys {
        // SAFETY: see above.
        array(|i| unsafe { vandq_u32(a[i], b[i]) })
    }

    #[inline(always)]
    fn disjoint(self, a: Keys, b: Keys) -> u32 {
        // SAFETY: see above.
        unsafe { bits_of_others(self.shared(a, b)) }
    }

    #[inline(always)]
    fn separate(self, keys: Keys, bits: Keys) -> Separated<Keys> {
        let shared = self.shared(keys, bits);
        // SAFETY: see above.
        unsafe {
            Separated {
                lanes: bits_of_others(shared),
                without: array(|i| vbicq_u32(keys[i], shared[i])),
                with: self.and(keys, shared),
            }
        }
    }

    #[inline(always)]
    fn tally(self, counts: Keys, a: Keys, b: Keys) -> Keys {
        // SAFETY: see above. A true lane is -1.
        array(|i| unsafe { vsubq_u32(counts[i], vceqzq_u32(vandq_u32(a[i], b[i]))) })
    }

    #[inline(always)]
    fn sum(self, counts: Keys) -> u64 {
        // SAFETY: see above.
        unsafe { vaddlvq_u32(counts[0]) + vaddlvq_u32(counts[1]) }
    }

    #[inline(always)]
    fn keep(self, keys: Keys, mask: u32) -> Keys {
        // SAFETY: see above.
        self.and(keys, unsafe { mask_of_pair(mask) })
    }

    #[inline(always)]
    unsafe fn compress(self, keys: Keys, mask: u32, to: *mut u32) {
        // SAFETY: see above.
        unsafe {
            let [low, high] = permuted(keys, entry(&COMPRESS_32, mask));
            vst1q_u32(to, low);
            vst1q_u32(to.add(4), high);
        }
    }

    #[inline(always)]
    unsafe fn compress_exactly(self, keys: Keys, mask: u32, to: *mut u32) {
        let mut packed = [0; 8];
        // SAFETY: see above; the array is a vector.
        unsafe { self.compress(keys, mask, packed.as_mut_ptr()) };
        let mut at = 0;
        for size in [8, 4, 2, 1] {
            if mask.count_ones() as usize & size != 0 {
                // SAFETY: see above; the sizes add up to the number of lanes.
                unsafe {
                    let from = packed.as_ptr().add(at);
                    from.copy_to_nonoverlapping(to.add(at), size);
                }
                at += size;
            }
        }
    }

    #[inline(always)]
    fn union_of_lanes(self, keys: Keys) -> u32 {
        // SAFETY: see above.
        unsafe {
            let both = vreinterpretq_u64_u32(vorrq_u32(keys[0], keys[1]));
            let union = vgetq_lane_u64::<0>(both) | vgetq_lane_u64::<1>(both);
            (union | union >> 32) as u32
        }
    }

    #[inline(always)]
    fn splat_wide(self, key: u64) -> Wide {
        // SAFETY: see above.
        [unsafe { vdupq_n_u64(key) }; 2]
    }

    #[inline(always)]
    unsafe fn load_wide(self, from: *const u64) -> Wide {
        // SAFETY: see above.
        unsafe { [vld1q_u64(from), vld1q_u64(from.add(2))] }
    }

    #[inline(always)]
    fn prefetch(self, from: *const u64) {
        // SAFETY: a prefetch of any address is harmless. `std::arch` has no stable name for it.
        unsafe {
            std::arch::asm!(
                "prfm pldl1keep, [{from}]",
                from = in(reg) from,
                options(readonly, nostack, preserves_flags)
            );
        }
    }

    #[inline(always)]
    fn disjoint_wide(self, a: Wide, b: Wide, among: u32) -> u32 {
        const BITS: [u32; 4] = [1, 2, 4, 8];
        // SAFETY: see above; the array is as long as a vector.
        unsafe {
            let [low, high]: [uint32x4_t; 2] =
                array(|i| vreinterpretq_u32_u64(vtstq_u64(a[i], b[i])));
            vaddvq_u32(vbicq_u32(vld1q_u32(BITS.as_ptr()), vuzp1q_u32(low, high))) & among
        }
    }

    #[inline(always)]
    unsafe fn compress_wide(self, keys: Wide, mask: u32, to: *mut u64) {
        // SAFETY: see above.
        unsafe {
            let table = bytes_of_pair(each(keys, |keys| vreinterpretq_u32_u64(keys)));
            let [low, high] = each(entry(&COMPRESS_64, mask), |bytes| vqtbl2q_u8(table, bytes));
            vst1q_u64(to, vreinterpretq_u64_u8(low));
            vst1q_u64(to.add(2), vreinterpretq_u64_u8(high));
        }
    }

    #[inline(always)]
    fn choice(self, mask: u64) -> Choice {
        Choice::new(mask)
    }

    #[inline(always)]
    fn pack_bits(self, key: u64, choice: Choice) -> u32 {
        choice.pack(key) as u32
    }

    #[inline(always)]
    fn fields(self, fields: &Fields) -> FieldsOfFour {
        // SAFETY: see above.
        unsafe { FieldsOfFour::new(fields) }
    }

    #[inline(always)]
    fn offsets(self, key: u32, fields: FieldsOfFour) -> [usize; 5] {
        // SAFETY: see above.
        unsafe {
            let offsets = fields.offsets(vdupq_n_u32(key));
            each(offsets, |offset| vgetq_lane_u32::<0>(offset) as usize)
        }
    }

    #[inline(always)]
    fn offsets_of_four(self, keys: [u32; 4], fields: FieldsOfFour) -> [[usize; 5]; 4] {
        // SAFETY: see above; the array is as long as a vector.
        let offsets = unsafe { fields.offsets(vld1q_u32(keys.as_ptr())) };
        macro_rules! of {
            ($lane:literal) => {
                // SAFETY: see above.
                each(offsets, |offset| unsafe {
                    vgetq_lane_u32::<$lane>(offset) as usize
                })
            };
        }
        [of!(0), of!(1), of!(2), of!(3)]
    }

    #[inline(always)]
    fn frequencies(self, keys: &[u32; SAMPLE]) -> [u32; 32] {
        let planes = self.planes(keys);
        array(|bit| {
            // SAFETY: see above. A true byte is -1, and there are at most 64.
            unsafe {
                let mask = vdupq_n_u8(1 << (bit % 8));
                let [a, b, c, d] = each(planes[bit / 8], |plane| vtstq_u8(plane, mask));
                let sums = vaddq_u8(vaddq_u8(a, b), vaddq_u8(c, d));
                u32::from(vaddvq_u8(sums).wrapping_neg())
            }
        })
    }

    #[inline(always)]
    fn rows_lacking(
        self,
        keys: &[u32; TruthRow::LEN],
        count: usize,
        used: u32,
        rows: &mut [TruthRow; 32],
    ) {
        /// In each byte its bit of a byte of truth values.
        const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        let (blocks, _) = keys.as_chunks::<64>();
        for (word, block) in blocks[..count.div_ceil(64)].iter().enumerate() {
            for (byte, plane) in self.planes(block).into_iter().enumerate() {
                let mut rest = used >> (8 * byte) & 0xFF;
                while rest != 0 {
                    let bit = rest.trailing_zeros();
                    rest &= rest - 1;
                    // SAFETY: see above; the array is as long as a vector.
                    let lacking = unsafe {
                        let mask = vdupq_n_u8(1 << bit);
                        let bits = vld1q_u8(BITS.as_ptr());
                        let [a, b, c, d] = each(plane, |part| vbicq_u8(bits, vtstq_u8(part, mask)));
                        let quarters = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
                        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)))
                    };
                    rows[8 * byte + bit as usize].0[word] = lacking;
                }
            }
        }
    }

    #[inline(always)]
    fn row(self, from: &TruthRow) -> Row {
        let from = from.0.as_ptr().cast::<u8>();
        // SAFETY: see above; a row is four vectors.
        array(|part| unsafe { vld1q_u8(from.add(16 * part)) })
    }

    #[inline(always)]
    fn set_row(self, to: &mut TruthRow, row: Row) {
        let to = to.0.as_mut_ptr().cast::<u8>();
        for (part, bytes) in row.into_iter().enumerate() {
            // SAFETY: see above; a row is four vectors.
            unsafe { vst1q_u8(to.add(16 * part), bytes) }
        }
    }

    #[inline(always)]
    fn both(self, a: Row, b: Row) -> Row {
        // SAFETY: see above.
        array(|part| unsafe { vandq_u8(a[part], b[part]) })
    }

    #[inline(always)]
    fn zero(self) -> uint64x2_t {
        // SAFETY: see above.
        unsafe { vdupq_n_u64(0) }
    }

    #[inline(always)]
    fn count(self, sum: uint64x2_t, row: Row) -> uint64x2_t {
        self.add_bytes(sum, self.bits_of_bytes(row))
    }

    #[inline(always)]
    fn count_four(self, sum: uint64x2_t, rows: [Row; 4]) -> uint64x2_t {
        // SAFETY: see above; no byte exceeds 128.
        let bytes = unsafe {
            let [a, b, c, d] = each(rows, |row| self.bits_of_bytes(row));
            vaddq_u8(vaddq_u8(a, b), vaddq_u8(c, d))
        };
        self.add_bytes(sum, bytes)
    }

    #[inline(always)]
    fn total(self, sum: uint64x2_t) -> u64 {
        // SAFETY: see above.
        unsafe { vaddvq_u64(sum) }
    }
}
