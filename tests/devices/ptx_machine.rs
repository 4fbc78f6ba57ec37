//! Processes whose CUDA driver is an interpreter of PTX (`tests/ptx_machine/`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::common::skip::skipped;
use tempfile::TempDir;

/// The folder with the library, built once; `None` without a C++ compiler.
pub fn library() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        // Not a temporary folder: nothing would remove what a static holds.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ptx-machine");
        std::fs::create_dir_all(&folder).unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx_machine");
        let compiler = |name: &str, other: &str| {
            let mut command = Command::new(std::env::var_os(name).unwrap_or_else(|| other.into()));
            command.args(["-O2", "-march=native", "-shared", "-fPIC", "-w", "-pthread"]);
            command
        };
        let machine = compiler("CXX", "c++")
            .args(["-std=c++17", "-fvisibility=hidden"])
            .args(["ptx.cpp", "machine.cpp", "driver.cpp"].map(|name| sources.join(name)))
            .arg("-o")
            .arg(folder.join("libcuda.so.1"))
            .status();
        let clock = compiler("CC", "cc")
            .arg(sources.join("slow_clock.c"))
            .arg("-o")
            .arg(folder.join("slow_clock.so"))
            .arg("-ldl")
            .status();
        let all = [machine, clock].into_iter().collect::<Result<Vec<_>, _>>();
        let all = all.ok()?;
        assert!(all.into_iter().all(|status| status.success()));
        Some(folder)
    });
    if folder.is_none() {
        skipped("no C++ compiler");
    }
    folder.as_deref()
}

/// What the machine reports and is no defect. A thread of the chain that has finished its job may step once more: it
/// loads from below its stack, where the row words of all lanes are, and does not use what it loaded.
const EXPLAINED: [fn(&str) -> bool; 1] = [|line| {
    let [load, store] =
        ["@!stay ld.shared.v4.u32", "st.shared.u32"].map(|what| line.contains(what));
    let races = [
        "read races with a write by another lane of the warp",
        "write races with a read by another lane of the warp",
    ];
    let [read, write] = races.map(|what| line.contains(what));
    line.contains(" x chain line") && (load && read || store && write)
}];

/// A process on the machine, and where its report is.
pub struct Machine {
    folder: TempDir,
    library: &'static Path,
    /// Whether the lanes of a warp run apart, and meet where they have to alone.
    chaos: bool,
    /// KiB of a multiprocessor: room for several blocks of the colour kernel, or for one.
    pub shared_memory: &'static str,
}

impl Machine {
    pub fn new(library: &'static Path, chaos: bool) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            library,
            chaos,
            shared_memory: if chaos { "228" } else { "39" },
        }
    }

    /// What the command says.
    pub fn output(&self, mut command: Command) -> Output {
        command
            .current_dir(self.folder.path())
            .env("LD_LIBRARY_PATH", self.library)
            // A launch takes a thousand times as long as on a GPU: no patience may end.
            .env("LD_PRELOAD", self.library.join("slow_clock.so"))
            .env("SLOW", "60")
            // One block at a time, which counts all jobs of a launch.
            .env("SIM_SMS", "1")
            .env("SIM_SHARED", self.shared_memory)
            .env("SIM_CHAOS", u8::from(self.chaos).to_string())
            .env("SIM_REPORT", self.report_file())
            .output()
            .unwrap()
    }

    fn report_file(&self) -> PathBuf {
        self.folder.path().join("report")
    }

    /// What the machine found wrong: a line each.
    pub fn defects(&self) -> Vec<String> {
        let report = std::fs::read_to_string(self.report_file()).unwrap();
        assert!(report.contains(" launches, "), "{report}");
        let lines = report.lines().filter(|line| line.contains(" x "));
        let unexplained = lines.filter(|line| !EXPLAINED.iter().any(|known| known(line)));
        unexplained.map(|line| line.trim().to_owned()).collect()
    }
}
