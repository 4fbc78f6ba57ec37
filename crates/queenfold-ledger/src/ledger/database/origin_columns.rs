//! Where a result was counted, as the texts that rows and digests hold.

use queenfold::engine::{CountedBy, DeviceIdentity, DeviceKernel, Origin, WorkerId};

/// The column `device` of what a CPU counted.
const CPU: &str = "cpu";

/// An origin as the columns `backend`, `device` and `worker`. Digests have these texts
/// too.
pub(crate) struct OriginColumns<'a> {
    /// The kernel of the CPU or of the device: `avx512`, `cuda`.
    pub backend: &'a str,
    /// `cpu`, or the device by the name its maker gave it.
    pub device: &'a str,
    /// `worker-0`, `gpu-0`, ….
    pub worker: String,
}

impl<'a> OriginColumns<'a> {
    pub fn of(origin: &'a Origin) -> Self {
        Self {
            backend: origin.counted_by.backend(),
            device: match &origin.counted_by {
                CountedBy::Cpu(_) => CPU,
                CountedBy::Device(device) => &device.name,
            },
            worker: origin.worker.to_string(),
        }
    }

    /// The origin that these columns stand for; `None` if there is no such origin.
    pub fn read(&self) -> Option<Origin> {
        let worker: WorkerId = self.worker.parse().ok()?;
        let mut kernels = DeviceKernel::ALL.into_iter();
        let kernel = kernels.find(|kernel| kernel.name() == self.backend);
        let counted_by = match (kernel, worker) {
            (Some(kernel), WorkerId::Device(index)) => CountedBy::Device(DeviceIdentity {
                kernel,
                index,
                name: self.device.to_owned(),
            }),
            (None, _) if self.device == CPU => CountedBy::Cpu(self.backend.to_owned().into()),
            _ => return None,
        };
        Some(Origin { worker, counted_by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_it_is_written() {
        for (backend, device, worker) in [
            ("avx512", "cpu", "worker-3"),
            // The thread of a device counted what the device cannot.
            ("scalar", "cpu", "gpu-0"),
            ("cuda", "NVIDIA H100", "gpu-1"),
            ("cuda-transposed", "NVIDIA H100", "gpu-1"),
            ("cuda", "cpu", "gpu-0"),
        ] {
            let columns = OriginColumns {
                backend,
                device,
                worker: worker.to_owned(),
            };
            let origin = columns.read().unwrap();
            let again = OriginColumns::of(&origin);
            assert_eq!(
                (again.backend, again.device, again.worker.as_str()),
                (backend, device, worker)
            );
        }
    }

    #[test]
    fn columns_that_no_origin_gives_are_refused() {
        for (backend, device, worker) in [
            ("avx512", "NVIDIA H100", "worker-0"),
            ("cuda", "NVIDIA H100", "worker-0"),
            ("avx512", "cpu", "somebody"),
        ] {
            let worker = worker.to_owned();
            let columns = OriginColumns {
                backend,
                device,
                worker,
            };
            assert_eq!(columns.read(), None);
        }
    }
}
