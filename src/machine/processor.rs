//! What a benchmark says of the processors of a machine.

use serde::Serialize;

use crate::words::several;

/// The processors of this machine, as far as the system tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Processor {
    /// The processor's own name, such as `AMD EPYC 9654`.
    pub name: Option<String>,
    /// Family and model of an x86 processor: virtual machines often hide the number of its name.
    pub family_model: Option<[u32; 2]>,
    /// Hardware threads that are on.
    pub threads: Option<usize>,
    /// Cores of these threads.
    pub cores: Option<usize>,
    /// Packages: the sockets that hold one.
    pub packages: Option<usize>,
    /// NUMA nodes: parts of the memory that are near to some cores.
    pub numa_nodes: Option<usize>,
    /// The clock of the first thread when it was asked, in MHz.
    pub mhz: Option<f64>,
    /// The highest clock, in MHz.
    pub max_mhz: Option<f64>,
    /// The caches of the first thread.
    pub caches: Vec<Cache>,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size in KiB.
    pub kib: u64,
    /// Hardware threads that share it.
    pub shared_by: usize,
}

impl Processor {
    /// Name, family and model.
    pub fn title(&self) -> String {
        let name = self.name.as_deref().unwrap_or("an unknown processor");
        match self.family_model {
            Some([family, model]) => format!("{name} (family {family}, model {model})"),
            None => name.to_owned(),
        }
    }

    /// Cores, threads, packages, NUMA nodes and clock, as far as they are known.
    pub fn layout(&self) -> String {
        let several = |number: Option<usize>, of: &str| Some(several(number? as u64, of));
        let smt = match (self.cores, self.threads) {
            (Some(cores), Some(threads)) if threads > cores => Some("SMT on".to_owned()),
            (Some(_), Some(_)) => Some("SMT off".to_owned()),
            _ => None,
        };
        let clock = match (self.mhz, self.max_mhz) {
            (Some(now), Some(most)) => Some(format!("{now:.0} MHz now, {most:.0} at most")),
            (Some(now), None) => Some(format!("{now:.0} MHz now")),
            (None, Some(most)) => Some(format!("{most:.0} MHz at most")),
            (None, None) => None,
        };
        let parts = [
            several(self.packages, "package"),
            several(self.cores, "core"),
            several(self.threads, "thread"),
            smt,
            several(self.numa_nodes, "NUMA node"),
            clock,
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => "unknown".to_owned(),
            false => parts.join(", "),
        }
    }

    /// The caches, each with the number of threads that share it if these are several.
    pub fn caches_in_words(&self) -> String {
        let caches = self.caches.iter().map(|cache| {
            let kind = match cache.kind.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let size = match cache.kib {
                kib if kib >= 1024 && kib.is_multiple_of(1024) => format!("{} MiB", kib / 1024),
                kib => format!("{kib} KiB"),
            };
            let shared = match cache.shared_by {
                ..=1 => String::new(),
                threads => format!(" for {threads} threads"),
            };
            format!("L{}{kind} {size}{shared}", cache.level)
        });
        let caches: Vec<_> = caches.collect();
        match caches.is_empty() {
            true => "unknown".to_owned(),
            false => caches.join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said_and_the_rest_left_out() {
        let nothing = Processor::default();
        assert_eq!(nothing.title(), "an unknown processor");
        assert_eq!(
            (nothing.layout(), nothing.caches_in_words()),
            ("unknown".to_owned(), "unknown".to_owned())
        );
        let cache = |level, kind: &str, kib, shared_by| Cache {
            level,
            kind: kind.to_owned(),
            kib,
            shared_by,
        };
        let known = Processor {
            name: Some("Some CPU".to_owned()),
            family_model: Some([25, 1]),
            threads: Some(16),
            cores: Some(8),
            packages: Some(1),
            numa_nodes: Some(2),
            mhz: Some(2445.4),
            max_mhz: Some(3600.0),
            caches: vec![cache(1, "Data", 32, 2), cache(3, "Unified", 32_768, 16)],
        };
        assert_eq!(known.title(), "Some CPU (family 25, model 1)");
        assert_eq!(
            known.layout(),
            "1 package, 8 cores, 16 threads, SMT on, 2 NUMA nodes, 2445 MHz now, 3600 at most"
        );
        assert_eq!(
            known.caches_in_words(),
            "L1d 32 KiB for 2 threads, L3 32 MiB for 16 threads"
        );
    }
}
