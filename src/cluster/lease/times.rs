use std::time::Duration;

/// How leases are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTimes {
    /// How long a lease lasts that is not renewed.
    pub lease: Duration,
    /// How much work one is, while much is left.
    pub work: Duration,
}

impl LeaseTimes {
    /// How often a worker gives a sign of life.
    pub const fn beat(&self) -> Duration {
        Duration::from_nanos((self.lease.as_nanos() / 6) as u64)
    }
}
