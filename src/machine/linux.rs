//! Main memory and the processor, from files of `/proc` and `/sys`.

use std::{collections::BTreeSet, fs, path::Path};

use super::memory_limit::of_address_space;
use super::proc_files::{field, read};
use super::processor::{Cache, Processor};

/// Main memory in bytes.
pub(super) fn memory() -> Option<u64> {
    main_memory(&read("/proc/meminfo")?)
}

/// The limit on the address space of the process, in bytes.
pub(super) fn address_space() -> Option<u64> {
    of_address_space(&read("/proc/self/limits")?)
}

/// The processor's own name, family and model.
pub(super) fn processor() -> Option<String> {
    let processor = named(&read("/proc/cpuinfo")?);
    processor.name.is_some().then(|| processor.title())
}

fn main_memory(meminfo: &str) -> Option<u64> {
    let kib = field(meminfo, "MemTotal")?.strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn named(cpuinfo: &str) -> Processor {
    let number = |name: &str| field(cpuinfo, name)?.parse().ok();
    Processor {
        name: field(cpuinfo, "model name").map(str::to_owned),
        family_model: number("cpu family")
            .zip(number("model"))
            .map(|(family, model)| [family, model]),
        ..Processor::default()
    }
}

/// The mean clock of the processors, in MHz.
pub(super) fn clock() -> Option<f64> {
    mean_clock(&read("/proc/cpuinfo")?)
}

fn mean_clock(cpuinfo: &str) -> Option<f64> {
    let clocks = cpuinfo.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "cpu MHz").then(|| value.trim().parse::<f64>().ok())?
    });
    let clocks: Vec<_> = clocks.collect();
    (!clocks.is_empty()).then(|| clocks.iter().sum::<f64>() / clocks.len() as f64)
}

/// The processors, as the files below `root` tell: those of the kernel's pages `cputopology`, `sysfs-devices-system-cpu`
/// and `numa`.
pub(super) fn described(root: &Path) -> Processor {
    let cpuinfo = read(root.join("proc/cpuinfo")).unwrap_or_default();
    let system = root.join("sys/devices/system");
    let of_cpus = |file: &str| -> BTreeSet<String> {
        let cpus = fs::read_dir(system.join("cpu")).into_iter().flatten();
        let files = cpus
            .flatten()
            .map(|cpu| cpu.path().join("topology").join(file));
        files.filter_map(read).collect()
    };
    let known = |number: usize| (number > 0).then_some(number);
    let first = system.join("cpu/cpu0");
    let kilohertz = read(first.join("cpufreq/cpuinfo_max_freq"));
    Processor {
        threads: read(system.join("cpu/online")).and_then(|list| listed(&list)),
        cores: known(of_cpus("thread_siblings_list").len()),
        packages: known(of_cpus("physical_package_id").len()),
        numa_nodes: read(system.join("node/online")).and_then(|list| listed(&list)),
        mhz: field(&cpuinfo, "cpu MHz").and_then(|mhz| mhz.parse().ok()),
        max_mhz: kilohertz.and_then(|text| Some(text.trim().parse::<f64>().ok()? / 1000.0)),
        caches: (0..)
            .map_while(|index| cache(&first.join(format!("cache/index{index}"))))
            .collect(),
        ..named(&cpuinfo)
    }
}

fn cache(folder: &Path) -> Option<Cache> {
    let text = |name: &str| Some(read(folder.join(name))?.trim().to_owned());
    Some(Cache {
        level: text("level")?.parse().ok()?,
        kind: text("type")?,
        kib: text("size")?.strip_suffix('K')?.parse().ok()?,
        shared_by: listed(&text("shared_cpu_list")?)?,
    })
}

/// How many numbers a list such as `0-3,8` has.
fn listed(list: &str) -> Option<usize> {
    let parts = list.trim().split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    parts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processors_are_read_as_far_as_they_are_told() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(described(root.path()), Processor::default());
        file(
            "proc/cpuinfo",
            "cpu family\t: 25\nmodel\t\t: 97\nmodel name\t: Some CPU\ncpu MHz\t\t: 2445.430\n",
        );
        let cpu = "sys/devices/system/cpu";
        for (name, siblings) in [
            ("cpu0", "0,2\n"),
            ("cpu1", "1,3\n"),
            ("cpu2", "0,2\n"),
            ("cpu3", "1,3\n"),
        ] {
            file(
                &format!("{cpu}/{name}/topology/thread_siblings_list"),
                siblings,
            );
            file(&format!("{cpu}/{name}/topology/physical_package_id"), "0\n");
        }
        file(&format!("{cpu}/online"), "0-3\n");
        file(&format!("{cpu}/cpu0/cpufreq/cpuinfo_max_freq"), "3600000\n");
        for (name, text) in [
            ("level", "1\n"),
            ("type", "Data\n"),
            ("size", "32K\n"),
            ("shared_cpu_list", "0,2\n"),
        ] {
            file(&format!("{cpu}/cpu0/cache/index0/{name}"), text);
        }
        file("sys/devices/system/node/online", "0-1\n");
        let found = described(root.path());
        let expected = Processor {
            name: Some("Some CPU".to_owned()),
            family_model: Some([25, 97]),
            threads: Some(4),
            cores: Some(2),
            packages: Some(1),
            numa_nodes: Some(2),
            mhz: Some(2445.43),
            max_mhz: Some(3600.0),
            caches: vec![Cache {
                level: 1,
                kind: "Data".to_owned(),
                kib: 32,
                shared_by: 2,
            }],
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_list_of_numbers_is_counted() {
        assert_eq!(listed("0\n"), Some(1));
        assert_eq!(listed("0-3,8,10-11"), Some(7));
        assert_eq!(listed("3-0"), None);
        assert_eq!(listed(""), None);
    }

    #[test]
    fn the_size_of_main_memory_is_read() {
        assert_eq!(
            main_memory("MemTotal:       16 kB\nMemFree: 3 kB"),
            Some(16384)
        );
        assert_eq!(main_memory("MemTotal: much"), None);
    }

    #[test]
    fn the_clock_is_the_mean_of_all_processors() {
        let cpuinfo = "cpu MHz\t\t: 2000.5\nflags : a\n\ncpu MHz\t\t: 3000.5\n";
        assert_eq!(mean_clock(cpuinfo), Some(2500.5));
        assert_eq!(mean_clock("processor : 0\n"), None);
    }

    #[test]
    fn the_name_of_the_processor_is_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\nflags : a b\n";
        assert_eq!(named(cpuinfo).name, Some("Some CPU @ 2.0GHz".into()));
        assert_eq!(named("processor : 0\n"), Processor::default());
    }
}
