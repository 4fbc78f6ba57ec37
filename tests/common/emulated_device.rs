//! The emulated device, as a run gets it.

use std::sync::Arc;
use std::time::Duration;

use queenfold::actors::DeviceSpec;
use queenfold::device::{Device, Emulated, EmulatedSettings, OwnerSettings};

/// The device with these settings.
pub fn device(settings: OwnerSettings) -> DeviceSpec {
    DeviceSpec {
        index: 0,
        name: "emulated".to_owned(),
        open: Arc::new(|| {
            Ok(Box::new(Emulated::new(EmulatedSettings::default())) as Box<dyn Device>)
        }),
        settings,
    }
}

/// Settings for small boards: short launches from the first one on, so that a run has many, and patience with a
/// busy machine.
pub fn short_launches() -> OwnerSettings {
    OwnerSettings {
        batch_time: Duration::from_millis(50),
        first_cost: 0.0005,
        least_patience: Duration::from_secs(600),
        ..OwnerSettings::default()
    }
}
