//! Entries of a file, one behind the other: each has its length and the beginning of its BLAKE3 digest in front, so that
//! one that a kill cut short is noticed.

use std::io::{self, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::{decode, encode};

/// The most bytes of an entry. One has less than a hundred, a correction some hundreds, a lease some thousands.
const LONGEST: u32 = 1 << 20;

/// Adds an entry. Returns how many bytes it takes.
pub(super) fn add<T: Serialize>(file: &mut impl Write, entry: &T) -> io::Result<u64> {
    let bytes = encode(entry);
    let length = (bytes.len() as u32).to_le_bytes();
    let digest = blake3::hash(&bytes);
    for part in [&length[..], &digest.as_bytes()[..8], &bytes] {
        file.write_all(part)?;
    }
    // To the system, so that it outlives this process.
    file.flush()?;
    Ok(12 + bytes.len() as u64)
}

/// The next entry, if there is a whole one.
pub(super) fn next<T: DeserializeOwned>(rest: &mut &[u8]) -> Option<T> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (digest, after) = after.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length);
    if length > LONGEST {
        return None;
    }
    let (bytes, after) = after.split_at_checked(length as usize)?;
    if blake3::hash(bytes).as_bytes()[..8] != digest[..] {
        return None;
    }
    *rest = after;
    decode(bytes).ok()
}
