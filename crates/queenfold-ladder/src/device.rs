//! The device of the styles that need one. It is tested before the clock starts, and its counts are used
//! only if it has done all of its jobs.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::watch::SearchControl;
use super::{Method, MethodRequest, StopReason, StopSearch, Style, Watch};
use queenfold_engines::board::{Size, known};
use queenfold_engines::engine::{Device, DeviceError, DeviceProgram, Launch, Ticket};

/// How long a device may take for its self-test, its kernel's compilation included.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lets the device count eight queens, which also compiles and loads its kernel.
pub(super) fn self_test(
    device: &mut dyn Device,
    method: &Method,
    style: Style,
) -> Result<(), StopReason> {
    let name = device.properties().identity.name.clone();
    let refused = |why: String| StopReason::NoDevice(format!("{name}: {why}"));
    let n = Size::new(8).map_err(|error| refused(error.to_string()))?;
    let request = MethodRequest { n, style };
    let never = AtomicBool::new(false);
    let control = SearchControl::new(Some(PATIENCE), &never, None);
    let count = (method.count_on)(device, &request, &mut Watch::new(&control));
    match (count, known(n)) {
        (Ok(count), Some(known)) if count.total != known.total => Err(refused(format!(
            "it counts {} solutions of {n} queens, not {}",
            count.total, known.total
        ))),
        (Ok(_), _) => Ok(()),
        (Err(StopSearch), _) => Err(refused(match control.stop_reason() {
            Some(StopReason::Failed(why)) => why,
            _ => "no answer to its self-test".to_owned(),
        })),
    }
}

/// How long to wait for a device between two looks at the clock.
const NAP: Duration = Duration::from_millis(20);

/// Launches of one program on one device, each with `SUMS` sums, which are added up.
pub(super) struct Launches<'d, const SUMS: usize> {
    device: &'d mut dyn Device,
    program: DeviceProgram,
    /// Launches that have not ended.
    under_way: Vec<(Ticket, Launch)>,
    sums: [u64; SUMS],
}

impl<'d, const SUMS: usize> Launches<'d, SUMS> {
    /// No launches so far.
    pub fn new(device: &'d mut dyn Device, program: DeviceProgram) -> Self {
        Self {
            device,
            program,
            under_way: Vec::new(),
            sums: [0; SUMS],
        }
    }

    /// Hands over a launch. Waits only while the device holds as many launches as it can.
    pub fn submit(
        &mut self,
        jobs: Vec<u32>,
        tables: Vec<u32>,
        watch: &mut Watch<'_>,
    ) -> Result<(), StopSearch> {
        while self.under_way.len() >= self.device.slots() {
            self.wait(watch)?;
        }
        let launch = Launch::new(self.program, jobs, tables)
            .map_err(|error| watch.fail(error.to_string()))?;
        let ticket = loop {
            match self.device.submit(&launch) {
                Err(DeviceError::Busy) if !self.under_way.is_empty() => self.wait(watch)?,
                submitted => break submitted,
            }
        };
        let ticket = ticket.map_err(|error| watch.fail(error.to_string()))?;
        self.under_way.push((ticket, launch));
        Ok(())
    }

    /// The sums of all launches, once they have ended.
    pub fn finish(mut self, watch: &mut Watch<'_>) -> Result<[u64; SUMS], StopSearch> {
        while !self.under_way.is_empty() {
            self.wait(watch)?;
        }
        Ok(self.sums)
    }

    /// Waits for a launch to end, for a short time at most.
    fn wait(&mut self, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        watch.check()?;
        let completed = self.device.poll(NAP);
        let Some(completed) = completed.map_err(|error| watch.fail(error.to_string()))? else {
            return Ok(());
        };
        let mut under_way = self.under_way.iter();
        let Some(at) = under_way.position(|(ticket, _)| *ticket == completed.ticket) else {
            return Err(watch.fail("the device reported a launch it did not have".to_owned()));
        };
        let (_, launch) = self.under_way.swap_remove(at);
        let returned = launch.returned(Some(&completed));
        let returned = returned.map_err(|wrong| watch.fail(wrong.to_string()))?;
        for (sum, term) in self.sums.iter_mut().zip(returned) {
            *sum += term;
        }
        Ok(())
    }
}

impl<const SUMS: usize> Drop for Launches<'_, SUMS> {
    fn drop(&mut self) {
        if !self.under_way.is_empty() {
            self.device.cancel();
        }
    }
}
