//! How hot processors and GPUs are.

use std::fs;
use std::path::Path;

#[cfg(feature = "cuda")]
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

/// The temperatures of the hottest processor sensor and of each NVIDIA GPU, in °C; none if the system shows
/// none.
pub fn temperatures() -> Vec<f64> {
    hottest(Path::new(HWMON))
        .into_iter()
        .chain(gpus())
        .collect()
}

#[cfg(not(feature = "cuda"))]
const fn gpus() -> Vec<f64> {
    Vec::new()
}

fn hottest(sensors: &Path) -> Option<f64> {
    let names = fs::read_dir(sensors).ok()?.flatten();
    let processors = names.filter(|chip| {
        fs::read_to_string(chip.path().join("name"))
            .is_ok_and(|name| PROCESSORS.contains(&name.trim()))
    });
    let files =
        processors.flat_map(|chip| fs::read_dir(chip.path()).into_iter().flatten().flatten());
    files
        .filter(|file| {
            let name = file.file_name();
            let name = name.to_string_lossy();
            name.starts_with("temp") && name.ends_with("_input")
        })
        .filter_map(|file| {
            fs::read_to_string(file.path())
                .ok()?
                .trim()
                .parse::<f64>()
                .ok()
        })
        .map(|thousandths| thousandths / 1000.0)
        .reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_sensor_of_a_processor_counts() {
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
        assert_eq!(hottest(folder.path()), None);
        chip(0, "nvme", &["95000\n"]);
        assert_eq!(hottest(folder.path()), None);
        chip(1, "k10temp", &["61250\n", "damaged", "58000\n"]);
        chip(2, "coretemp", &["40000\n"]);
        assert_eq!(hottest(folder.path()), Some(61.25));
        assert_eq!(hottest(&folder.path().join("none")), None);
    }
}
