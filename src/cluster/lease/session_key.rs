//! Who says what: each message of a worker is signed by a key that its process alone has.
//!
//! The name of a session is the beginning of its public key, so there is nothing to agree on beforehand, and nothing
//! that others who may speak to the coordinator, or hear it, must not hear.

use std::io;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::protocol::{Unreadable, Up, behind_version, decode, encode};
use crate::ledger::hex;

/// What is signed begins with this, so that nothing else that is ever signed is a message.
const CONTEXT: &[u8] = b"queenfold message of a worker\n";

/// How many bytes of its public key a session is called by. Each record of a ledger has that name, so it is short; and to
/// find another key that begins so takes 2^96 tries.
const NAMED: usize = 12;

/// The key of a session.
pub struct SessionKey(SigningKey);

impl SessionKey {
    /// A key that nobody else has.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn make() -> io::Result<Self> {
        random_secret().map(Self::from_secret)
    }

    /// The key of this secret.
    pub fn from_secret(secret: [u8; 32]) -> Self {
        Self(SigningKey::from_bytes(&secret))
    }

    /// What makes the same key again. Who knows it can speak for the session.
    pub fn secret(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The name of the session.
    pub fn session(&self) -> String {
        name(&self.0.verifying_key())
    }

    /// A message as bytes, signed.
    pub fn seal(&self, up: &Up) -> Vec<u8> {
        let mut bytes = encode(up);
        let signature = self.0.sign(&[CONTEXT, &bytes].concat());
        bytes.extend(self.0.verifying_key().as_bytes());
        bytes.extend(signature.to_bytes());
        bytes
    }
}

/// Bytes that nobody else has.
///
/// # Errors
/// The system has no random numbers.
pub fn random_secret() -> io::Result<[u8; 32]> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(secret)
}

/// The message in `bytes`, if the session has signed it.
///
/// # Errors
/// It is of another version, of somebody else, or no message.
pub fn unseal(session: &str, bytes: &[u8]) -> Result<Up, Unreadable> {
    behind_version(bytes)?;
    let (rest, signature) = bytes.split_last_chunk().ok_or(Unreadable::Garbage)?;
    let (message, key) = rest.split_last_chunk().ok_or(Unreadable::Garbage)?;
    let is_signed = || {
        let key = VerifyingKey::from_bytes(key).ok()?;
        let key = (name(&key) == session).then_some(key)?;
        let signed = [CONTEXT, message].concat();
        key.verify_strict(&signed, &Signature::from_bytes(signature))
            .ok()
    };
    is_signed().ok_or(Unreadable::Forged)?;
    decode(message)
}

fn name(key: &VerifyingKey) -> String {
    hex(&key.as_bytes()[..NAMED])
}

#[cfg(test)]
mod tests {
    use super::super::protocol::PROTOCOL;
    use super::*;

    #[test]
    fn a_session_speaks_for_itself_alone() {
        let [own, other] = [SessionKey::make(), SessionKey::make()].map(Result::unwrap);
        assert_ne!(own.session(), other.session());
        let sealed = own.seal(&Up::Leave);
        assert_eq!(unseal(&own.session(), &sealed), Ok(Up::Leave));
        let again = SessionKey::from_secret(own.secret());
        assert_eq!(again.seal(&Up::Leave), sealed);
        assert_eq!(unseal(&other.session(), &sealed), Err(Unreadable::Forged));
        let upper = own.session().to_uppercase();
        for name in ["", "a", &upper, &own.session()[1..]] {
            assert_eq!(unseal(name, &sealed), Err(Unreadable::Forged), "{name}");
        }
    }

    #[test]
    fn no_bit_of_a_message_may_change() {
        let own = SessionKey::make().unwrap();
        let sealed = own.seal(&Up::Leave);
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&own.session(), &changed).is_err(), "bit {bit}");
        }
        for cut in 0..sealed.len() {
            assert!(unseal(&own.session(), &sealed[..cut]).is_err(), "{cut}");
        }
        // Who speaks another version signs in another way.
        let other = [(PROTOCOL + 1) as u8];
        let version = Err(Unreadable::Version(PROTOCOL + 1));
        assert_eq!(unseal(&own.session(), &other), version);
    }
}
