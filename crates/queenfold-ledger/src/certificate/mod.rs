//! A certificate: the result of a run as a text that a stranger can check without this program.
//!
//! `docs/FORMATS.md` has the format, and `docs/TRUST.md` what it proves. `docs/check_certificate.py` checks it
//! without anything of this crate.
//!
//! * [`certify`]: writes the certificate of a finished run.
//! * [`check`](fn@check): reads one, and believes nothing of it.
//! * [`challenge`](fn@challenge): tasks that nobody could choose, counted again.
//! * [`HostKey`]: signs a certificate for a host.
//! * `line`: the lines; `tree`: the Merkle root.

mod challenge;
mod check;
mod line;
mod signing;
mod source;
mod tree;
mod write;

pub use challenge::{challenge, most_wrong};
pub use check::{CheckError, Checked, Part, Signed, check};
pub use signing::HostKey;
pub use source::open_source;
pub use write::certify;
