//! A real HyperQueue over hosts that share nothing: each is a user and has a name, a home and programs of its own, and sees
//! neither the others' files nor the array. The commands are those of docs/CLUSTER.md.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::hyperqueue::program;
use crate::common::program::{PROGRAM, Running, printed, tells, wait_until};
use crate::common::skip::skipped;

/// The section of the page.
const SECTION: &str = "## Hosts that share nothing, from nothing to a total\n";

const HEAD: &str = "head";
const HOSTS: [&str; 4] = ["anna", "bert", "cleo", "dora"];

/// The head, and hosts that count.
struct Apart {
    folder: tempfile::TempDir,
    /// The first of the users.
    user: u32,
    n: u32,
    shards: u64,
    /// For clients, and for workers.
    ports: [u16; 2],
    children: Vec<Child>,
}

impl Apart {
    /// Gives each its home, and starts the server. `None` if that cannot be done here.
    fn start(n: u32, shards: u64) -> Option<Self> {
        static USERS: AtomicU32 = AtomicU32::new(0);
        let hq = program()?;
        let found = Command::new("sh")
            .args(["-c", "command -v \"$0\"", &hq])
            .output();
        let hq = printed(&found.unwrap().stdout);
        let mut unshare = Command::new("unshare");
        let tried = unshare
            .args(["-u", "setpriv", "--reuid=1", "true"])
            .output();
        if !tried.is_ok_and(|output| output.status.success()) {
            skipped("hosts that share nothing need root");
            return None;
        }
        let users = USERS.fetch_add(8, Ordering::Relaxed);
        let apart = Self {
            folder: tempfile::tempdir().unwrap(),
            // Nobody else's.
            user: (1 << 20) + std::process::id() * 64 + users,
            n,
            shards,
            ports: [(); 2].map(|()| {
                let free = TcpListener::bind(("localhost", 0)).unwrap();
                free.local_addr().unwrap().port()
            }),
            children: Vec::new(),
        };
        let open = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        open(apart.folder.path(), 0o711).unwrap();
        for host in [HEAD].iter().chain(&HOSTS) {
            let (home, user) = (apart.home(host), Some(apart.user_of(host)));
            fs::create_dir_all(home.join("bin")).unwrap();
            fs::copy(PROGRAM, home.join("bin/queenfold")).unwrap();
            fs::copy(hq.trim_end(), home.join("bin/hq")).unwrap();
            // Shorter, so that nobody waits.
            fs::write(home.join("bin/sleep"), "#!/bin/sh\nexec /bin/sleep 0.4\n").unwrap();
            open(&home.join("bin/sleep"), 0o755).unwrap();
            chown(&home, user, user).unwrap();
            open(&home, 0o700).unwrap();
        }
        // Where `scp` would bring files to: everybody adds files, and only the head reads.
        let (inbox, user) = (apart.inbox(), Some(apart.user_of(HEAD)));
        fs::create_dir(&inbox).unwrap();
        chown(&inbox, user, user).unwrap();
        open(&inbox, 0o1733).unwrap();
        symlink(&inbox, apart.home(HEAD).join("inbox")).unwrap();
        Some(apart)
    }

    fn home(&self, host: &str) -> PathBuf {
        self.folder.path().join(host)
    }

    fn inbox(&self) -> PathBuf {
        self.folder.path().join("inbox")
    }

    fn user_of(&self, host: &str) -> u32 {
        let at = HOSTS.iter().position(|other| *other == host);
        self.user + at.map_or(0, |at| at as u32 + 1)
    }

    /// A command of a shell on a host.
    fn on(&self, host: &str, command: &str) -> Command {
        let (home, user) = (self.home(host), self.user_of(host));
        let become_host = "hostname \"$1\" && cd \"$2\" && exec setpriv --reuid=$3 --regid=$3 \
                           --clear-groups env -i HOME=\"$2\" PATH=\"$2/bin:/usr/bin:/bin\" bash -c \"$4\"";
        let mut on = Command::new("unshare");
        on.args(["-u", "sh", "-c", become_host, "sh", host])
            .arg(home)
            .args([&user.to_string(), command])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        on
    }

    /// The command of the page that begins like that, as the hosts here need it.
    fn page(&self, begins: &str) -> String {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/CLUSTER.md");
        let page = fs::read_to_string(page).unwrap();
        let (_, section) = page.split_once(SECTION).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let commands = section.lines().filter_map(|line| line.strip_prefix("$ "));
        let mut found = commands.filter(|command| command.starts_with(begins));
        let mut command = found.next().expect(begins).to_owned();
        let folder = self.folder.path().display();
        for (here, there) in [
            ("scp head.example.org:", &*format!("cp {folder}/")),
            (
                "scp -B {} head.example.org:",
                &format!("install -m 644 {{}} {folder}/"),
            ),
            ("head.example.org", "localhost"),
            ("6789", &self.ports[0].to_string()),
            ("6790", &self.ports[1].to_string()),
            ("worker start &", "worker start --cpus 1"),
            ("-n 20", &format!("-n {}", self.n)),
            ("--shards 24", &format!("--shards {}", self.shards)),
            ("mkdir inbox", "test -d inbox"),
        ] {
            command = command.replace(here, there);
        }
        command
    }

    /// Runs a command of the page on the head. Returns what it prints. It must succeed.
    fn run(&self, begins: &str) -> String {
        let output = self.on(HEAD, &self.page(begins)).output().unwrap();
        assert!(output.status.success(), "{begins}: {output:?}");
        printed(&output.stdout)
    }

    /// Starts a command of the page that goes on.
    fn begin(&mut self, host: &str, begins: &str) {
        let command = self.page(begins);
        let command = command.trim_end_matches(" &");
        let mut on = self.on(host, command);
        let child = on.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.children.push(child.unwrap());
    }

    /// Counts until nothing is missing.
    fn count(&self) -> Command {
        self.on(HEAD, &(self.page("count() ") + "\ncount"))
    }

    /// The same, to the end. Returns what is printed.
    fn counted(&self) -> String {
        let output = Running::of(&mut self.count()).output();
        printed(&output.stdout)
    }

    /// How many files came home.
    fn files(&self) -> usize {
        fs::read_dir(self.inbox()).unwrap().count()
    }

    /// Sends a signal to all processes of a host.
    fn signal(&self, host: &str, signal: &str) {
        // It spares the process that sends it.
        self.on(host, &format!("kill -{signal} -1"))
            .status()
            .unwrap();
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        for host in [HEAD].iter().chain(&HOSTS) {
            self.signal(host, "KILL");
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

/// Counts a board in the way of the page. Two hosts fail on the way and never come back, and one is slow.
fn from_nothing_to_a_total(n: u32, shards: u64, total: &str) {
    let Some(mut apart) = Apart::start(n, shards) else {
        return;
    };
    apart.run("hq server generate-access");
    let access = apart.folder.path().join("worker.json");
    fs::copy(apart.home(HEAD).join("worker.json"), &access).unwrap();
    fs::set_permissions(&access, Permissions::from_mode(0o644)).unwrap();
    apart.begin(HEAD, "hq server start");
    let server = || apart.on(HEAD, "hq server info").output().unwrap();
    wait_until(|| server().status.success());
    apart.run("mkdir inbox");
    for host in HOSTS {
        apart.begin(host, "umask 077");
    }
    apart.run("queenfold array -n");
    let array = apart.home(HEAD).join("n20");
    let sees = format!(
        "ls {0}/bert || ls {0}/head || ls {1}",
        apart.folder.path().display(),
        array.display()
    );
    assert!(!apart.on("anna", &sees).output().unwrap().status.success());

    let slow = "while :; do for signal in STOP CONT; do \
                setpriv --reuid=$0 --regid=$0 --clear-groups kill -$signal -1; sleep 0.2; done; done";
    let user = apart.user_of("cleo").to_string();
    let _slow = Running::of(Command::new("bash").args(["-c", slow, &user]));
    let mut count = apart.count();
    let mut count = count
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for (host, files) in [("anna", 1), ("bert", 3)] {
        wait_until(|| apart.files() >= files);
        apart.signal(host, "KILL");
    }
    wait_until(|| apart.files() as u64 >= shards * 2 / 3);
    count.kill().unwrap();
    count.wait().unwrap();
    apart.run("hq job cancel last");
    apart
        .on(HEAD, &apart.page("queenfold gather"))
        .output()
        .unwrap();
    apart.run("queenfold array --rest");
    let out = apart.counted();
    tells(&out, &[total]);
    apart.run("queenfold array --again");
    let out = apart.counted();
    tells(&out, &[total]);
    apart.run("queenfold certify");
    let out = apart.run("queenfold check");
    let tasks = out.split_whitespace().nth(1).unwrap();
    tells(
        &out,
        &[total, &format!("{tasks} twice ({tasks} on another host")],
    );
}

#[test]
fn hosts_that_share_nothing_count_a_small_board_twice() {
    from_nothing_to_a_total(15, 6, "2279184");
}

#[test]
#[ignore = "long: three minutes on two cores"]
fn hosts_that_share_nothing_count_twenty_queens_twice() {
    from_nothing_to_a_total(20, 24, "39029188884");
}
