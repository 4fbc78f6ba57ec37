//! A device on which something goes wrong.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::test_device::TestDevice;
use queenfold::device::{Device, DeviceError, Properties};
use queenfold::engine::{Completed, Launch, Ticket};

/// Something that goes wrong with a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory for it.
    OutOfMemory,
    /// No kernel can be made for it.
    NoKernel,
    /// The device takes it and is then lost.
    Lost,
    /// The device takes it, and it never ends.
    Hangs,
    /// One of its sums is wrong: the last one, which belongs to the sampled job.
    WrongSum,
    /// One of its jobs is left out.
    JobMissing,
}

/// Decides what goes wrong with a submission: its number, counted from 0 since the device was
/// opened, and the launch.
pub type Trouble = dyn Fn(u64, &Launch) -> Option<Fault> + Send + Sync;

/// The device.
pub struct Faulty {
    device: TestDevice,
    trouble: Arc<Trouble>,
    submitted: u64,
    is_lost: bool,
    /// What goes wrong with launches that end.
    wrong: HashMap<Ticket, Fault>,
    /// What becomes of every launch that ends.
    pub alter: fn(&mut Completed),
}

impl Faulty {
    pub fn new(trouble: Arc<Trouble>) -> Self {
        Self::with_slots(4, trouble)
    }

    pub fn with_slots(slots: usize, trouble: Arc<Trouble>) -> Self {
        Self::of(TestDevice::new(slots), trouble)
    }

    pub fn of(device: TestDevice, trouble: Arc<Trouble>) -> Self {
        Self {
            device,
            trouble,
            submitted: 0,
            is_lost: false,
            wrong: HashMap::new(),
            alter: |_| (),
        }
    }
}

fn asked_for() -> String {
    "a test asked for this".to_owned()
}

impl Device for Faulty {
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
        let fault = (self.trouble)(self.submitted, launch);
        self.submitted += 1;
        match fault {
            Some(Fault::OutOfMemory) => Err(DeviceError::OutOfMemory),
            Some(Fault::NoKernel) => Err(DeviceError::NoKernel(asked_for())),
            Some(fault @ (Fault::Lost | Fault::Hangs)) => {
                self.is_lost |= fault == Fault::Lost;
                // None that the device gives to others.
                Ok(Ticket(u64::MAX - self.submitted))
            }
            fault => {
                let ticket = self.device.submit(launch)?;
                self.wrong.extend(fault.map(|fault| (ticket, fault)));
                Ok(ticket)
            }
        }
    }

    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError> {
        if std::mem::take(&mut self.is_lost) {
            return Err(DeviceError::Lost(asked_for()));
        }
        let mut completed = self.device.poll(patience)?;
        if let Some(completed) = &mut completed {
            match self.wrong.remove(&completed.ticket) {
                Some(Fault::WrongSum) => completed
                    .sums
                    .iter_mut()
                    .rev()
                    .take(1)
                    .for_each(|sum| *sum += 1),
                Some(_) => completed.jobs_done = completed.jobs_done.saturating_sub(1),
                None => {}
            }
            (self.alter)(completed);
        }
        Ok(completed)
    }

    fn cancel(&mut self) {
        self.device.cancel();
    }
}
