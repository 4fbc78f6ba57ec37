/// The token of NEON.
#[derive(Clone, Copy, Debug)]
pub struct Neon(pub(super) ());
