//! Everything that one origin did.

use std::fmt;
use std::str::FromStr;

use queenfold::engine::{CountedBy, Origin, WorkerId};

/// Names who counted: a host, a device by the name that its maker gave it, a worker of any host
/// (`worker-3`, `gpu-0`), or a worker of a host (`node7/gpu-0`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginName(String);

impl OriginName {
    /// The worker that counted on a host: the narrowest name of it.
    pub fn of(host: &str, worker: WorkerId) -> Self {
        Self(format!("{host}/{worker}"))
    }

    /// Whether it names this origin on this host.
    pub fn names(&self, host: &str, origin: &Origin) -> bool {
        let device = match &origin.counted_by {
            CountedBy::Device(device) => self.0 == device.name,
            CountedBy::Cpu(_) => false,
        };
        device
            || self.0 == host
            || self.0 == origin.worker.to_string()
            || *self == Self::of(host, origin.worker)
    }
}

impl fmt::Display for OriginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for OriginName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("expected a host, a device or a worker such as `node7/gpu-0`".to_owned()),
            _ => Ok(Self(text.to_owned())),
        }
    }
}
