//! The emulated device, as a run is given it.

use std::sync::Arc;

use queenfold::actors::DeviceSpec;
use queenfold::device::{Device, Emulated, EmulatedSettings, OwnerSettings, Trouble};

/// A device on which `trouble` strikes.
pub fn device(trouble: Arc<Trouble>, settings: OwnerSettings) -> DeviceSpec {
    DeviceSpec {
        index: 0,
        name: "emulated".to_owned(),
        open: Arc::new(move || {
            Ok(Box::new(Emulated::new(EmulatedSettings {
                fault: Arc::clone(&trouble),
                ..EmulatedSettings::default()
            })) as Box<dyn Device>)
        }),
        settings,
    }
}
