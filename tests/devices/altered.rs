//! An emulated device that reports results other than those it found.

use std::time::{Duration, Instant};

use queenfold::device::{Device, DeviceError, Emulated, EmulatedSettings, Properties};
use queenfold::engine::{Completed, Launch, Ticket};

/// The device, and the change to each launch that it completes.
pub struct Altered {
    device: Emulated,
    alter: fn(&mut Completed),
}

impl Altered {
    pub fn new(alter: fn(&mut Completed)) -> Self {
        Self {
            device: Emulated::new(EmulatedSettings::default()),
            alter,
        }
    }
}

impl Device for Altered {
    fn properties(&self) -> &Properties {
        self.device.properties()
    }

    fn opened(&self) -> Instant {
        self.device.opened()
    }

    fn slots(&self) -> usize {
        self.device.slots()
    }

    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError> {
        self.device.submit(launch)
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        let mut completed = self.device.poll(patience)?;
        if let Some(completed) = &mut completed {
            (self.alter)(completed);
        }
        Ok(completed)
    }

    fn cancel(&mut self) {
        self.device.cancel();
    }
}
