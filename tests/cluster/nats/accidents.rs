//! Workers, coordinator and server that are killed, a server that is away, a network that is cut, a disk that is full.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::process::{Process, recorded, signature, signature_of_one, wait_for_tasks};
use super::proxy::Proxy;
use super::runs::{COUNT, N, ONE_SLOW_CORE, TOTAL, assert_done};
use super::server::NatsServer;
use crate::skip::skipped;

/// A run of which anything may be killed.
struct Run {
    server: NatsServer,
    dir: PathBuf,
    journals: PathBuf,
    serve: Process,
    workers: Vec<Process>,
    random: fastrand::Rng,
}

impl Run {
    fn start(server: NatsServer, count: &[&str], workers: usize) -> Self {
        let dir = server.folder().join("run");
        let journals = server.folder().join("journals");
        let count = [count, &["--lease", "3s", "--work", "2s"]].concat();
        let serve = Process::serve(&server.url(), &dir, &count);
        let mut run = Self {
            serve,
            workers: Vec::new(),
            dir,
            journals,
            server,
            random: fastrand::Rng::with_seed(41),
        };
        for _ in 0..workers {
            let worker = run.worker();
            run.workers.push(worker);
        }
        wait_for_tasks(&run.dir, 1);
        run
    }

    fn worker(&self) -> Process {
        Process::work(&self.server.url(), &self.journals, &ONE_SLOW_CORE)
    }

    /// Kills something, and starts it again after a while. Returns whether the run goes on.
    fn kill(&mut self) -> bool {
        let pause = Duration::from_millis(self.random.u64(0..1500));
        match self.random.u32(0..4) {
            0 => {
                if self.serve.has_ended() {
                    return false;
                }
                self.serve.kill();
                std::thread::sleep(pause);
                let again = ["--lease", "3s", "--work", "2s"];
                self.serve = Process::serve(&self.server.url(), &self.dir, &again);
            }
            1 => {
                self.server.kill();
                std::thread::sleep(pause);
                self.server.run();
            }
            _ => {
                let at = self.random.usize(0..self.workers.len());
                self.workers[at].kill();
                std::thread::sleep(pause);
                self.workers[at] = self.worker();
            }
        }
        !self.serve.has_ended()
    }

    /// Kills something so many times at random moments, and asserts that the run is that of one machine.
    fn survive(mut self, kills: u32, between: Duration, (n, engine, total): (&str, &str, &str)) {
        for kill in 0..kills {
            std::thread::sleep(between.mul_f64(self.random.f64() * 2.0));
            assert!(self.kill(), "the run had ended before kill {kill}");
        }
        let done = recorded(&self.dir);
        assert_done(self.serve, total);
        drop(self.workers);
        assert!(done > 0);
        let one = signature_of_one(self.server.folder(), n, engine);
        assert_eq!(signature(&self.dir), one);
    }
}

#[test]
fn kills_change_nothing() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let run = Run::start(server, &COUNT, 2);
    run.survive(5, Duration::from_millis(100), (N, "chain", TOTAL));
}

#[test]
#[ignore = "takes ten minutes"]
fn forty_kills_during_19_queens_change_nothing() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let count = ["-n", "19", "--engine", "chain"];
    let run = Run::start(server, &count, 3);
    run.survive(40, Duration::from_secs(2), ("19", "chain", "4968057848"));
}

#[test]
fn a_server_that_is_away_is_told_of_and_waited_for() {
    let Some(mut server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let serve = Process::serve(
        &server.url(),
        &dir,
        &[&COUNT[..], &["--work", "1s"]].concat(),
    );
    let worker = Process::work(&server.url(), server.folder(), &ONE_SLOW_CORE);
    wait_for_tasks(&dir, 10);
    server.kill();
    // A worker may be started before the server is there.
    let early = Process::work(&server.url(), server.folder(), &ONE_SLOW_CORE);
    std::thread::sleep(Duration::from_secs(2));
    server.run();
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    for word in ["the server is away", "the server is back"] {
        assert!(said.contains(word), "{said}");
    }
    let (code, _, said) = worker.end();
    assert!(
        code == 0 && said.contains("is away: this worker counts"),
        "{said}"
    );
    assert!(said.contains(" is back"), "{said}");
    let (code, _, said) = early.end();
    assert!(
        code == 0 && said.contains("waiting for the server"),
        "{said}"
    );
    assert_eq!(
        signature(&dir),
        signature_of_one(server.folder(), N, "chain")
    );
}

/// Half of the workers are cut off for so long.
fn cut(count: &[&str], total: &str, long: Duration) {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let proxy = Proxy::to(server.port());
    let dir = server.folder().join("run");
    let serve = Process::serve(&server.url(), &dir, count);
    let work = |url: &str| Process::work(url, server.folder(), &ONE_SLOW_CORE);
    let mut workers = vec![work(&server.url()), work(&proxy.url())];
    wait_for_tasks(&dir, 20);
    proxy.cut();
    let since = Instant::now();
    while since.elapsed() < long {
        std::thread::sleep(Duration::from_millis(50));
    }
    proxy.mend();
    assert_done(serve, total);
    let connected = workers.remove(0);
    assert_eq!(connected.end().0, 0);
    let sessions = sessions(&dir);
    assert_eq!(sessions, 2, "the worker that was cut off counted nothing");
}

fn sessions(dir: &Path) -> usize {
    let store = queenfold::ledger::Store::open_to_read(dir).unwrap();
    store.sessions().unwrap().len()
}

#[test]
fn a_cut_that_is_longer_than_a_lease_changes_nothing() {
    let count = [&COUNT[..], &["--lease", "2s"]].concat();
    cut(&count, TOTAL, Duration::from_secs(3));
}

#[test]
#[ignore = "takes two minutes"]
fn a_cut_of_30_seconds_for_half_of_the_workers_changes_nothing() {
    let count = ["-n", "18", "--engine", "chain"];
    cut(&count, "666090624", Duration::from_secs(30));
}

/// A small file system, which only root can mount. The write-ahead log of a ledger has up to 4 MB.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
            .arg(folder.path())
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skipped("only root can mount a file system");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_at_the_coordinator_costs_time_alone() {
    let Some(mut server) = NatsServer::start() else {
        return;
    };
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let dir = disk.0.path().join("run");
    let serve = Process::serve(&server.url(), &dir, &COUNT);
    let worker = Process::work(&server.url(), server.folder(), &ONE_SLOW_CORE);
    wait_for_tasks(&dir, 5);
    let filler = disk.0.path().join("filler");
    std::fs::write(&filler, vec![1; 8 << 20]).unwrap_err();
    let (code, out, said) = serve.end();
    assert_eq!((code, out.as_str()), (1, ""), "{said}");
    assert!(said.contains("disk is full"), "{said}");
    std::fs::remove_file(filler).unwrap();
    // The worker has kept what the ledger could not take.
    let serve = Process::serve(&server.url(), &dir, &[]);
    assert_done(serve, TOTAL);
    assert_eq!(worker.end().0, 0);
    assert_eq!(
        signature(&dir),
        signature_of_one(server.folder(), N, "chain")
    );
    server.kill();
}
