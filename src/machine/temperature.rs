//! How hot processors and GPUs are.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use super::nvml::gpus;

/// Where Linux shows sensors, as files: <https://docs.kernel.org/hwmon/sysfs-interface.html>.
const HWMON: &str = "/sys/class/hwmon";

/// The drivers whose sensors are those of processors.
const PROCESSORS: [&str; 7] = [
    "coretemp",
    "cpu_thermal",
    "fam15h_power",
    "k10temp",
    "k8temp",
    "via_cputemp",
    "zenpower",
];

/// What a sensor that works can show of a chip that computes, in °C. The two ends of a signed byte, -128 and 127, are what a
/// sensor shows that does not work.
const BELIEVED: RangeInclusive<f64> = -40.0..=125.0;

/// What a sensor shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Temperature {
    /// In °C.
    pub celsius: f64,
    /// The driver and its sensor, such as `k10temp temp1`, or `GPU 0`.
    pub sensor: String,
}

impl Temperature {
    /// Whether a chip can be so warm.
    pub fn is_believed(&self) -> bool {
        BELIEVED.contains(&self.celsius)
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} °C of {}", self.celsius, self.sensor)
    }
}

/// The temperatures of processors and NVIDIA GPUs; none if the system shows none.
pub fn temperatures() -> Vec<Temperature> {
    let gpus = (0..).zip(gpus()).map(|(gpu, celsius)| Temperature {
        celsius,
        sensor: format!("GPU {gpu}"),
    });
    processors(Path::new(HWMON)).chain(gpus).collect()
}

/// Those of them that a chip can have.
pub fn believed_temperatures() -> Vec<Temperature> {
    let mut all = temperatures();
    all.retain(Temperature::is_believed);
    all
}

fn processors(sensors: &Path) -> impl Iterator<Item = Temperature> {
    let chips = fs::read_dir(sensors).into_iter().flatten().flatten();
    let chips = chips.filter_map(|chip| {
        let name = fs::read_to_string(chip.path().join("name")).ok()?;
        PROCESSORS
            .into_iter()
            .find(|known| *known == name.trim())
            .map(|driver| (chip, driver))
    });
    chips.flat_map(|(chip, driver)| {
        let files = fs::read_dir(chip.path()).into_iter().flatten().flatten();
        files.filter_map(move |file| {
            let name = file.file_name();
            let sensor = name.to_str()?.strip_suffix("_input")?;
            let text = fs::read_to_string(file.path()).ok()?;
            let thousandths: f64 = text.trim().parse().ok()?;
            sensor.starts_with("temp").then(|| Temperature {
                celsius: thousandths / 1000.0,
                sensor: format!("{driver} {sensor}"),
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sensor_of_a_processor_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let chip = |number: u32, name: &str, values: &[&str]| {
            let chip = folder.path().join(format!("hwmon{number}"));
            fs::create_dir(&chip).unwrap();
            fs::write(chip.join("name"), format!("{name}\n")).unwrap();
            for (sensor, value) in values.iter().enumerate() {
                fs::write(chip.join(format!("temp{}_input", sensor + 1)), value).unwrap();
            }
            fs::write(chip.join("temp1_crit"), "100000").unwrap();
        };
        let shown = || {
            let mut shown: Vec<_> = processors(folder.path())
                .map(|one| one.to_string())
                .collect();
            shown.sort();
            shown
        };
        assert_eq!(shown(), [""; 0]);
        chip(0, "nvme", &["95000\n"]);
        assert_eq!(shown(), [""; 0]);
        chip(1, "k10temp", &["61250\n", "damaged", "58000\n"]);
        chip(2, "coretemp", &["40000\n"]);
        let all = [
            "40 °C of coretemp temp1",
            "58 °C of k10temp temp3",
            "61 °C of k10temp temp1",
        ];
        assert_eq!(shown(), all);
        assert_eq!(processors(&folder.path().join("none")).count(), 0);
    }

    #[test]
    fn the_ends_of_a_byte_are_not_believed() {
        let is_believed = |celsius| {
            let sensor = String::new();
            Temperature { celsius, sensor }.is_believed()
        };
        assert!([-5.0, 0.0, 61.25, 125.0].into_iter().all(is_believed));
        assert!(
            ![-128.0, 127.0, 255.0, f64::NAN]
                .into_iter()
                .any(is_believed)
        );
    }
}
