//! Signatures of hosts (Ed25519).

use std::io::{self, Read};
use std::path::Path;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::line::SignatureLine;
use crate::ledger::{LedgerError, hex, unhex};
use crate::system::files::{open_regular, why_not_secret};

/// The key by which a host signs, and the name of the host.
pub struct HostKey {
    host: String,
    key: SigningKey,
}

impl HostKey {
    /// Reads the secret key of `host`: 64 hexadecimal digits.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds something else.
    pub fn read(file: &Path, host: String) -> Result<Self, LedgerError> {
        let mut text = String::new();
        let read = open_regular(file).and_then(|open| match why_not_secret(&open.metadata()?) {
            Some(why) => Err(io::Error::other(why)),
            None => open.take(1024).read_to_string(&mut text),
        });
        let name = file.display();
        let refused = |why: &str| Err(LedgerError::Unfit(format!("the key file {name} {why}")));
        match (read, unhex(text.trim_end())) {
            (Err(source), _) if source.kind() != io::ErrorKind::InvalidData => {
                refused(&format!("is refused: {source}"))
            }
            (_, Some(secret)) => Ok(Self {
                host,
                key: SigningKey::from_bytes(&secret),
            }),
            (_, None) => refused(
                "holds no key: expected 64 hexadecimal digits (0-9, a-f) and nothing else, as `openssl rand -hex 32` \
                 prints them",
            ),
        }
    }

    /// The public key, in hexadecimal digits.
    pub fn public(&self) -> String {
        hex(self.key.verifying_key().as_bytes())
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
            key: self.public(),
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
