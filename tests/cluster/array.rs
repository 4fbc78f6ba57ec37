//! An array in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::common::program::{output, printed, stdout, words};

/// The largest board of the tests that run in seconds, and its solutions: 6.4 s of a core by the chain's
/// portable kernel, in 257 tasks.
pub const N: u32 = 17;
pub const TOTAL: &str = "95815104";

/// The directory of an array. It is removed with this.
pub struct Array {
    folder: tempfile::TempDir,
    name: String,
}

impl Array {
    /// Makes the array of the board `n` by the chain in so many shards.
    pub fn make(n: u32, shards: u64, scheduler: &str) -> Self {
        Self::given(n, shards, scheduler, &[])
    }

    /// The same with these flags.
    pub fn given(n: u32, shards: u64, scheduler: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("array").to_str().unwrap().to_owned();
        let array = Self { folder, name };
        array.make_again(n, shards, scheduler, flags);
        array
    }

    /// Makes it again, with more flags.
    pub fn make_again(&self, n: u32, shards: u64, scheduler: &str, more: &[&str]) {
        let (board, n, shards) = (n, n.to_string(), shards.to_string());
        let usual = words!(
            "array -n {} --shards {} --for {} --engine {} --replace --dir {}",
            &n,
            &shards,
            scheduler,
            // The chain would take an hour for larger ones.
            ["chain", "colour"][usize::from(board >= 20)],
            self.name()
        );
        stdout(&[&usual, more].concat());
    }

    /// The same array in another place.
    pub fn moved(self) -> Self {
        let name = self
            .folder
            .path()
            .join("moved")
            .to_str()
            .unwrap()
            .to_owned();
        std::fs::rename(self.path(), &name).unwrap();
        Self {
            folder: self.folder,
            name,
        }
    }

    pub fn path(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }

    /// Its name without links, as the scripts have it.
    pub fn real_name(&self) -> String {
        let path = self.path().canonicalize().unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Its name on a command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn script(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn shard(&self, index: u64) -> PathBuf {
        self.path().join("shards").join(index.to_string())
    }

    /// Counts a shard without its script.
    pub fn count(&self, index: u64) {
        let index = index.to_string();
        stdout(&["run", "--dir", self.name(), "--task", &index]);
    }

    pub fn gather(&self) -> Output {
        output(&["gather", self.name()])
    }

    /// Gathers the whole array.
    pub fn assert_total(&self, total: &str) {
        let out = stdout(&["gather", self.name()]);
        assert!(out.contains(total), "{out}");
    }

    /// Gathers what is there, which is not all. Returns the shards of the command that counts the others.
    pub fn missing(&self) -> String {
        let output = self.gather();
        let said = printed(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{said}");
        assert_eq!(printed(&output.stdout), "");
        if let Some((_, rest)) = said
            .split_once(".sh ")
            .filter(|_| !said.contains("for shard"))
        {
            return rest.split('`').next().unwrap().to_owned();
        }
        // A loop of a shell over the words of bash.
        let rest = said
            .split_once("for shard in ")
            .unwrap_or_else(|| panic!("no command in {said}"));
        let (words, _) = rest.1.split_once(';').unwrap();
        words
            .replace("..", "-")
            .replace(['{', '}'], "")
            .replace(' ', ",")
    }

    pub fn status(&self) -> Json {
        serde_json::from_str(&stdout(&["status", self.name(), "--json"])).unwrap()
    }

    /// Waits until a process has begun to work on a shard.
    pub fn wait_for(&self, index: u64) {
        let dir = self.shard(index);
        let since = Instant::now();
        let begun = || {
            let status = output(&["status", dir.to_str().unwrap(), "--json"]);
            let status = serde_json::from_slice::<Json>(&status.stdout).ok()?;
            status["sessions"].as_u64()
        };
        while begun().is_none_or(|sessions| sessions == 0) {
            assert!(
                since.elapsed() < Duration::from_secs(200),
                "shard {index} does not begin"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the program that works on a shard.
    pub fn kill(&self, index: u64) {
        let lock = std::fs::read_to_string(self.shard(index).join("lock")).unwrap();
        // `process N on HOST`
        let pid = lock.split(' ').nth(1).unwrap();
        let sent = Command::new("kill").args(["-KILL", pid]).status();
        assert!(sent.unwrap().success(), "{lock}");
    }

    /// Programs of a scheduler that print this, and note how they were called in the file `calls`. Returns the path that
    /// finds them first.
    pub fn stubs(&self, programs: &[(&str, &str)]) -> String {
        let bin = self.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for (name, text) in programs {
            let file = bin.join(name);
            let calls = self.path().join("calls");
            let script = format!(
                "#!/bin/sh\necho {name} \"$@\" >>{}\n{text}\n",
                calls.display()
            );
            std::fs::write(&file, script).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&file, mode).unwrap();
        }
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
    }

    /// How the [stubs](Self::stubs) were called since this was asked last.
    pub fn calls(&self) -> Vec<String> {
        let file = self.path().join("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        calls.lines().map(str::to_owned).collect()
    }

    /// What the shards and the scheduler printed, for the message of a test that fails.
    pub fn logs(&self) -> String {
        let files = std::fs::read_dir(self.path().join("logs")).unwrap();
        let files = files.map(|file| file.unwrap().path());
        files.map(|file| read(&file)).collect()
    }
}

fn read(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    format!("== {}\n{text}\n", file.display())
}
