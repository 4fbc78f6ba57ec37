//! Signatures of hosts (Ed25519).

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::line::SignatureLine;
use crate::ledger::{hex, unhex};
use crate::system::files::{open_regular, why_not_secret};

/// The key by which a host signs, and the name of the host.
pub struct HostKey {
    host: String,
    key: SigningKey,
}

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It cannot be read, or others can read it.
    #[error("the key file {} is refused: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It holds something else.
    #[error("the key file {} holds no key: expected 64 hexadecimal digits (0-9, a-f) and nothing else, as `openssl rand -hex 32` prints them", file.display())]
    NoKey {
        /// The file.
        file: PathBuf,
    },
}

impl HostKey {
    /// Reads the secret key of `host`: 64 hexadecimal digits.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds something else.
    pub fn read(file: &Path, host: String) -> Result<Self, KeyError> {
        let mut text = String::new();
        let read = open_regular(file).and_then(|open| match why_not_secret(&open.metadata()?) {
            Some(why) => Err(io::Error::other(why)),
            None => open.take(1024).read_to_string(&mut text),
        });
        match read {
            Err(source) if source.kind() != io::ErrorKind::InvalidData => Err(KeyError::Io {
                file: file.to_owned(),
                source,
            }),
            _ => match unhex(text.trim_end()) {
                Some(secret) => Ok(Self {
                    host,
                    key: SigningKey::from_bytes(&secret),
                }),
                None => Err(KeyError::NoKey {
                    file: file.to_owned(),
                }),
            },
        }
    }

    /// Whether both hold the same key.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// The line that signs a root.
    pub(super) fn sign(&self, root: &str) -> SignatureLine {
        let signature = self.key.sign(message(root, &self.host).as_bytes());
        SignatureLine {
            host: self.host.clone(),
            key: hex(self.key.verifying_key().as_bytes()),
            signature: hex(&signature.to_bytes()),
        }
    }
}

/// Whether a line signs `root` by its key.
pub(super) fn is_signed(line: &SignatureLine, root: &str) -> bool {
    let verify = || {
        let key = VerifyingKey::from_bytes(&unhex(&line.key)?).ok()?;
        let signature = Signature::from_bytes(&unhex(&line.signature)?);
        key.verify_strict(message(root, &line.host).as_bytes(), &signature)
            .ok()
    };
    verify().is_some()
}

/// What is signed.
fn message(root: &str, host: &str) -> String {
    format!("queenfold certificate 1\n{root}\n{host}\n")
}
