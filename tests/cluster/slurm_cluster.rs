//! A Slurm cluster on this machine: its daemons in a folder of their own, with a key of their own. Each node has a name of its
//! own, as programs see it.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::array::Array;
use crate::common::program::{isolated, printed};
use crate::common::skip::skipped;

pub struct Slurm {
    /// That of the key, those of the nodes, and the controller, which is ended first.
    daemons: Vec<Child>,
    folder: tempfile::TempDir,
    nodes: usize,
}

impl Slurm {
    /// Starts a cluster of so many nodes. `None` if there is no Slurm, or it does not start here.
    pub fn start(nodes: usize) -> Option<Self> {
        let programs = ["munged", "slurmd", "slurmctld", "sbatch"];
        if !programs.iter().all(|name| is_installed(name)) {
            skipped("no Slurm: install slurmctld, slurmd, slurm-client and munge");
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skipped("only root can start slurmd");
            return None;
        }
        let mut cluster = Self {
            daemons: Vec::new(),
            folder: tempfile::tempdir().unwrap(),
            nodes,
        };
        cluster.configure();
        let path = cluster.folder.path().to_owned();
        let of = |option: &str, name: &str| format!("--{option}={}", path.join(name).display());
        cluster.daemon(Command::new("munged").args([
            "--foreground",
            "--force",
            &of("key-file", "munge.key"),
            &of("socket", "munge.socket"),
            &of("pid-file", "munged.pid"),
            &of("log-file", "munged.log"),
            &of("seed-file", "munge.seed"),
        ]));
        for node in 1..=nodes {
            let named = format!("hostname node{node} && exec slurmd -D");
            cluster.daemon(Command::new("unshare").args(["--uts", "sh", "-c", &named]));
        }
        cluster.daemon(Command::new("slurmctld").args(["-D", "-c"]));
        let idle = || {
            cluster
                .ask("sinfo", &["-h", "-o", "%t"])
                .is_some_and(|s| s.trim() == "idle")
        };
        let since = Instant::now();
        while !idle() {
            if since.elapsed() > Duration::from_secs(60) {
                skipped("Slurm is installed, and does not start here");
                return None;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(cluster)
    }

    fn configure(&self) {
        let path = self.folder.path();
        let home = path.display();
        let head = Command::new("uname").arg("-n").output().unwrap();
        let head = printed(&head.stdout);
        // Ports that are free now.
        let ports = (0..=self.nodes).map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports: Vec<_> = ports.collect();
        let port = |of: usize| ports[of].local_addr().unwrap().port();
        fs::create_dir(path.join("state")).unwrap();
        let key: Vec<u8> = (0..1024).map(|at| (at * 7 + 3) as u8).collect();
        let file = path.join("munge.key");
        fs::write(&file, key).unwrap();
        let only_owner = std::os::unix::fs::PermissionsExt::from_mode(0o400);
        fs::set_permissions(&file, only_owner).unwrap();
        let mut text = format!(
            "ClusterName=test\n\
             SlurmctldHost={}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             SlurmUser=root\n\
             AuthType=auth/munge\n\
             AuthInfo=socket={home}/munge.socket,cred_expire=5\n\
             StateSaveLocation={home}/state\n\
             SlurmdSpoolDir={home}/spool-%n\n\
             SlurmctldPidFile={home}/slurmctld.pid\n\
             SlurmdPidFile={home}/slurmd-%n.pid\n\
             SlurmctldLogFile={home}/slurmctld.log\n\
             SlurmdLogFile={home}/slurmd-%n.log\n\
             ProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\n\
             AccountingStorageType=accounting_storage/none\n\
             JobAcctGatherType=jobacct_gather/none\n\
             SwitchType=switch/none\n\
             MpiDefault=none\n\
             ReturnToService=2\n\
             KillWait=5\n\
             MaxArraySize=11\n\
             SchedulerParameters=sched_interval=1,bf_interval=1\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            head.trim(),
            port(0)
        );
        if self.nodes > 1 {
            // One that fails is soon taken for one.
            text += "SlurmdTimeout=3\nMessageTimeout=4\n";
        }
        let cpus = 2_usize.div_ceil(self.nodes);
        for node in 1..=self.nodes {
            text += &format!(
                "NodeName=node{node} NodeAddr=127.0.0.1 Port={} CPUs={cpus} State=UNKNOWN\n",
                port(node)
            );
        }
        fs::write(self.configuration(), text).unwrap();
    }

    fn configuration(&self) -> std::path::PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn daemon(&mut self, command: &mut Command) {
        let child = command
            .env("SLURM_CONF", self.configuration())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.daemons.push(child.unwrap());
    }

    /// What a command of Slurm prints; `None` if it fails.
    pub fn ask(&self, command: &str, args: &[&str]) -> Option<String> {
        let output = isolated(command)
            .args(args)
            .env("SLURM_CONF", self.configuration())
            .env("QUEENFOLD_RUN_ISA", "portable")
            .output()
            .unwrap();
        output.status.success().then(|| printed(&output.stdout))
    }

    /// Runs a command of Slurm.
    pub fn tell(&self, command: &str, args: &[&str]) -> String {
        let told = self.ask(command, args);
        told.unwrap_or_else(|| panic!("{command} {args:?} failed"))
    }

    /// Submits the script of an array, with these options. Returns the number of the job.
    pub fn submit(&self, array: &Array, options: &[&str]) -> String {
        let script = array.script("slurm.sh");
        let usual = ["--parsable", script.to_str().unwrap()];
        let id = self.tell("sbatch", &[options, &usual].concat());
        id.trim().to_owned()
    }

    /// Takes the nodes out of service, or puts them back.
    pub fn node(&self, state: &str) {
        let state = format!("State={state}");
        self.tell(
            "scontrol",
            &["update", "NodeName=ALL", &state, "Reason=test"],
        );
    }

    /// Sends a signal to all processes of a node.
    pub fn signal(&self, node: usize, signal: &str) {
        // What runs there has its name.
        let name = |process: &str| fs::read_link(format!("/proc/{process}/ns/uts")).ok();
        let of = name(&self.daemons[node].id().to_string());
        assert!(
            of.is_some() && of != name("self"),
            "node{node} does not run"
        );
        let processes = fs::read_dir("/proc").unwrap();
        let processes = processes.map(|of| of.unwrap().file_name().into_string().unwrap());
        let processes = processes.filter(|process| name(process) == of);
        // Some have ended by now.
        let _ = Command::new("kill").arg(signal).args(processes).status();
    }

    /// The tasks in the queue: each a line of its state and index.
    pub fn queue(&self) -> String {
        self.ask("squeue", &["-h", "-r", "-o", "%t %K"])
            .unwrap_or_default()
    }

    /// Waits until the queue is as it should be.
    pub fn wait(&self, what: &str, array: &Array, mut is: impl FnMut(&str) -> bool) {
        let since = Instant::now();
        loop {
            let queue = self.queue();
            if is(&queue) {
                return;
            }
            assert!(
                since.elapsed() < Duration::from_secs(400),
                "{what}: {queue}\n{}\n{}",
                array.logs(),
                fs::read_to_string(self.folder.path().join("slurmctld.log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.ask("scancel", &["--user=root"]);
        while let Some(mut daemon) = self.daemons.pop() {
            // SIGTERM, so that their own children end too.
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let since = Instant::now();
            while daemon.try_wait().is_ok_and(|ended| ended.is_none()) {
                if since.elapsed() > Duration::from_secs(20) {
                    let _ = daemon.kill();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Daemons are often not on the path of a user.
    let folders = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_owned()]);
    folders
        .map(|folder| folder.join(name))
        .any(|file| file.is_file())
}
