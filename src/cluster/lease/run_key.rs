use serde::{Deserialize, Serialize};

use crate::ledger::Digest;

/// The first eight bytes of the digest of what is counted: every message of a worker has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey([u8; 8]);

impl From<Digest> for RunKey {
    fn from(digest: Digest) -> Self {
        let mut key = [0; 8];
        key.copy_from_slice(&digest.0[..8]);
        Self(key)
    }
}
