//! Processes whose CUDA driver is an interpreter of PTX (`tests/ptx_machine/`).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::program::{PROGRAM, isolated};
use tempfile::TempDir;

/// The folder with the library, built once.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Not a temporary folder: nothing would remove what a static holds.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ptx-machine");
        std::fs::create_dir_all(&folder).unwrap();
        let sources = Path::new(crate::common::ROOT).join("tests/ptx_machine");
        let build = |compiler: (&str, &str), flags: &[&str], names: &[&str], library: &str| {
            let (name, other) = compiler;
            let built = Command::new(std::env::var_os(name).unwrap_or_else(|| other.into()))
                .args(["-O2", "-march=native", "-shared", "-fPIC", "-w"])
                .args(names.iter().map(|name| sources.join(name)))
                .arg("-o")
                .arg(folder.join(library))
                .args(flags)
                .status();
            assert!(built.unwrap().success());
        };
        let flags = ["-std=c++17", "-fvisibility=hidden", "-pthread"];
        let parts = ["ptx.cpp", "machine.cpp", "driver.cpp"];
        build(("CXX", "c++"), &flags, &parts, "libcuda.so.1");
        build(("CC", "cc"), &["-ldl"], &["slow_clock.c"], "slow_clock.so");
        folder
    })
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

/// Processes on the machine, and the folder in which they run.
pub struct Machine {
    pub folder: TempDir,
    /// What fails: see `driver.cpp`.
    pub fake: &'static str,
    pub devices: u32,
    /// The number of the launch that fails.
    pub launch: u32,
    /// Whether the lanes of a warp run apart, and meet where they have to alone.
    pub chaos: bool,
    /// KiB of a multiprocessor: room for several blocks of the colour kernel, or for one.
    pub shared_memory: &'static str,
    pub multiprocessors: &'static str,
    /// How much slower time passes: a launch takes a thousand times as long as on a GPU, and no patience may end.
    pub slow: &'static str,
}

impl Machine {
    pub fn new(fake: &'static str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            fake,
            devices: 1,
            launch: 2,
            chaos: false,
            shared_memory: "228",
            // One block at a time, which counts all jobs of a launch.
            multiprocessors: "1",
            slow: "60",
        }
    }

    /// Lets a command run on the machine.
    pub fn on<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let library = library();
        let file = |name| self.folder.path().join(name);
        command
            .env("LD_LIBRARY_PATH", library)
            .env("LD_PRELOAD", library.join("slow_clock.so"))
            .env("SLOW", self.slow)
            .env("SIM_SMS", self.multiprocessors)
            .env("SIM_SHARED", self.shared_memory)
            .env("SIM_CHAOS", u8::from(self.chaos).to_string())
            .env("SIM_REPORT", file("report"))
            .env("FAKE", self.fake)
            .env("FAKE_DEVICES", self.devices.to_string())
            .env("FAKE_LAUNCH", self.launch.to_string())
            .env("FAKE_ONCE", file("once"))
            .env("FAKE_LOG", file("log"))
    }

    /// The program on the machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = isolated(PROGRAM);
        command.args(arguments).current_dir(self.folder.path());
        self.on(&mut command);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// An ignored test of this test program in a process of its own on the machine.
    pub fn child(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--nocapture"]);
        self.on(&mut command);
        command
    }

    /// The numbers of the calls of the driver of this name, in their order.
    pub fn calls(&self, what: &str) -> Vec<u32> {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines = log.lines().filter_map(|line| line.split_once(' '));
        let values = lines.filter_map(|(name, value)| (name == what).then_some(value));
        values.map(|value| value.parse().unwrap()).collect()
    }

    /// What the machine found wrong: a line each.
    pub fn defects(&self) -> Vec<String> {
        let report = std::fs::read_to_string(self.folder.path().join("report")).unwrap();
        assert!(report.contains(" launches, "), "{report}");
        let lines = report.lines().filter(|line| line.contains(" x "));
        let unexplained = lines.filter(|line| !EXPLAINED.iter().any(|known| known(line)));
        unexplained.map(|line| line.trim().to_owned()).collect()
    }
}
