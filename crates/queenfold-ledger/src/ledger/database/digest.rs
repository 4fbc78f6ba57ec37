//! BLAKE3 digests, and what each kind of them covers.

use std::fmt;

use crate::ledger::hex;

/// What is hashed, and the version of its layout: a context for each kind of digest. A context changes
/// only if what it covers changes: otherwise the digests in old directories would no longer match.
pub(crate) mod context {
    /// A correction.
    pub const CORRECTION: &str = "queenfold ledger 2: correction";
    /// An entry of the table `meta`.
    pub const META: &str = "queenfold ledger 1: meta";
    /// A canary.
    pub const CANARY: &str = "queenfold ledger 1: canary";
    /// A plan.
    pub const PLAN: &str = "queenfold ledger 1: plan";
    /// The result of a task.
    pub const RECORD: &str = "queenfold ledger 2: record";
    /// What a run counts.
    pub const RUN: &str = "queenfold ledger 1: run";
    /// A second count of a task.
    pub const SECOND: &str = "queenfold ledger 2: second";
    /// A process that worked on a run.
    pub const SESSION: &str = "queenfold ledger 1: session";
    /// All counts of a run, as `report --json` prints it.
    pub const SIGNATURE: &str = "queenfold ledger 1: signature";
    /// The random choice of the tasks that `verify` counts again.
    pub const SAMPLE: &str = "queenfold verify 1: sample";
}

/// BLAKE3 over a list of fields. Each has its length in front, so no two lists give the same bytes.
///
/// Numbers are little-endian. The [`context`] names what is hashed, so that different things never have
/// the same digest.
pub(crate) struct DigestFields(blake3::Hasher);

impl DigestFields {
    /// No fields yet.
    pub fn new(context: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(context))
    }

    /// Adds bytes, their length (8 bytes) first.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds text in UTF-8, its length (8 bytes) first.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number of 8 bytes.
    pub fn u64(&mut self, number: u64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds a number of 8 bytes that may be negative.
    pub fn i64(&mut self, number: i64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds a number of 16 bytes.
    pub fn u128(&mut self, number: u128) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// The digest of the fields so far.
    pub fn digest(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

/// A BLAKE3 digest. Shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let digest = |a: &str, b: &str| DigestFields::new("test").text(a).text(b).digest();
        assert_ne!(digest("ab", "c"), digest("a", "bc"));
        assert_ne!(digest("", "abc"), digest("abc", ""));
        assert_eq!(digest("ab", "c"), digest("ab", "c"));
    }
}
