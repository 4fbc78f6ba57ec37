//! Who may connect, and what mistakes are told.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::process::Process;
use super::raw::RawWorker;
use super::runs::assert_done;
use super::server::NatsServer;
use crate::program::{queenfold, refusal};
use crate::skip::skipped;

const COUNT: [&str; 2] = ["-n", "12"];
const TOTAL: &str = "14200";

fn shipped(name: &str) -> String {
    format!("{}/config/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn file(server: &NatsServer, name: &str, text: &str) -> String {
    let path = server.folder().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn users_may_do_what_their_part_takes_and_nothing_else() {
    let users = format!("include \"{}\"\n", shipped("nats-users.conf"));
    // The server resolves the name from the folder of its configuration.
    let Some(server) = NatsServer::with_config(&relative(&users)) else {
        return;
    };
    let coordinator = file(&server, "coordinator.txt", "coordinator:one\n");
    let worker = file(&server, "worker.txt", "worker:two\n");
    let dir = server.folder().join("run");
    let serve = [&COUNT[..], &["--credentials", &coordinator]].concat();
    let serve = Process::serve(&server.url(), &dir, &serve);
    let work = Process::work(&server.url(), server.folder(), &["--credentials", &worker]);
    assert_done(serve, TOTAL);
    assert_eq!(work.end().0, 0);

    let may = |subject| RawWorker::may_publish(&server.url(), ("worker", "two"), subject);
    assert!(may("queenfold.test.up.worker.abc"));
    for subject in [
        "queenfold.test.up.other.abc",
        "queenfold.test.down.worker.abc",
        "$JS.API.STREAM.DELETE.any",
    ] {
        assert!(!may(subject), "{subject}");
    }

    let said = refused(
        &server.url(),
        &["--credentials", &file(&server, "bad", "worker:wrong")],
    );
    assert!(said.contains("authorization violation"), "{said}");
    let said = refused(
        &server.url(),
        &["--credentials", &file(&server, "odd", "what")],
    );
    assert!(said.contains("expected NAME:PASSWORD"), "{said}");
}

#[test]
fn each_host_has_a_user_of_its_own_and_two_of_them_count_each_task() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let hosts = ["hosts", "add", "anna", "bob", "--folder", &place("")];
    let made = queenfold(&hosts).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let users = std::fs::read_to_string(place("hosts.conf")).unwrap();
    let Some(server) = NatsServer::with_config(&users) else {
        return;
    };
    let dir = server.folder().join("run");
    let serve = [
        &COUNT[..],
        &[
            "--twice",
            "--credentials",
            &place("coordinator.credentials"),
        ],
    ];
    let mut first = Process::serve(&server.url(), &dir, &serve.concat());
    let since = Instant::now();
    while !dir.join("twice").exists() {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "it does not begin"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    first.kill();
    // The directory knows that each task is to be counted by two.
    let again = ["--credentials", &place("coordinator.credentials")];
    let serve = Process::serve(&server.url(), &dir, &again);
    let workers = ["anna", "bob"].map(|name| {
        let credentials = place(&format!("{name}.credentials"));
        let journals = server.folder().join(name);
        Process::work(&server.url(), &journals, &["--credentials", &credentials])
    });
    let (code, out, said) = serve.end();
    assert!(code == 0 && out.contains(TOTAL), "{out}{said}");
    assert!(said.contains("twice (100.0 %)"), "{said}");
    for worker in workers {
        assert_eq!(worker.end().0, 0);
    }

    let secret = std::fs::read_to_string(place("anna.credentials")).unwrap();
    let secret = secret.trim().split_once(':').unwrap().1;
    let may = |subject| RawWorker::may_publish(&server.url(), ("anna", secret), subject);
    assert!(may("queenfold.test.up.anna.abc"));
    for subject in [
        "queenfold.test.up.bob.abc",
        "queenfold.test.down.anna.abc",
        "$JS.API.STREAM.DELETE.any",
    ] {
        assert!(!may(subject), "{subject}");
    }
    let hears = |subject| RawWorker::may_hear(&server.url(), ("anna", secret), subject);
    assert!(hears("queenfold.test.down.anna.*"));
    for subject in [
        "queenfold.test.down.*.*",
        "queenfold.test.down.bob.*",
        "_INBOX.>",
        "queenfold.>",
    ] {
        assert!(!hears(subject), "{subject}");
    }
}

/// The path of an include is relative to the configuration, so an absolute one climbs to the root.
fn relative(include: &str) -> String {
    include.replacen("include \"/", "include \"../../../../../../../../", 1)
}

fn refused(url: &str, more: &[&str]) -> String {
    let usual = ["work", "--nats", url, "--run", "test", "--gpu", "off"];
    refusal(&mut queenfold(&[&usual, more].concat()), 1)
}

#[test]
fn the_connection_may_be_encrypted() {
    let config = format!("include \"{}\"\n", shipped("nats-tls.conf"));
    let folder = tempfile::tempdir().unwrap();
    if !certificate(folder.path()) {
        skipped("no openssl, which makes a certificate");
        return;
    }
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let tls = std::fs::read_to_string(shipped("nats-tls.conf")).unwrap();
    assert!(config.contains("nats-tls.conf"));
    let tls = tls.replace("server.pem", &place("server.pem"));
    let tls = tls.replace("server.key", &place("server.key"));
    let Some(server) = NatsServer::with_config(&tls) else {
        return;
    };
    let url = format!("tls://localhost:{}", server.port());
    let authority = ["--authority", &place("server.pem")];
    let dir = server.folder().join("run");
    let serve = Process::serve(&url, &dir, &[&COUNT[..], &authority].concat());
    let work = Process::work(&url, server.folder(), &authority);
    assert_done(serve, TOTAL);
    assert_eq!(work.end().0, 0);
    // Somebody else's server.
    let said = refused(&url, &[]);
    assert!(said.to_lowercase().contains("certificate"), "{said}");
    let said = refused(&url, &["--authority", "/no/such.pem"]);
    assert!(said.contains("/no/such.pem"), "{said}");
}

fn certificate(folder: &Path) -> bool {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
        ])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "server.key", "-out", "server.pem"])
        .current_dir(folder)
        .output();
    made.is_ok_and(|output| output.status.success())
}

#[test]
fn each_mistake_gets_one_line() {
    let nobody = "nats://127.0.0.1:1";
    let name = |run: &str| {
        let args = ["work", "--nats", nobody, "--run", run];
        queenfold(&args).output().unwrap()
    };
    let wrong = name("a.b");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("a run");
    let dir = dir.to_str().unwrap();
    let said = refusal(
        &mut queenfold(&["serve", dir, "-n", "8", "--nats", nobody]),
        2,
    );
    assert!(said.contains("`a run` names no run"), "{said}");
    let dir = folder.path().join("run");
    let dir = dir.to_str().unwrap();
    let said = refusal(&mut queenfold(&["serve", dir, "--nats", nobody]), 2);
    assert!(said.contains("no board"), "{said}");
    let said = refusal(
        &mut queenfold(&["serve", dir, "-n", "8", "--nats", nobody, "--quiet"]),
        1,
    );
    assert!(said.contains(nobody), "{said}");
    let said = refusal(
        &mut queenfold(&["serve", dir, "-n", "8", "--nats", nobody]),
        2,
    );
    assert!(said.contains("leave out -n"), "{said}");
    let short = ["serve", dir, "--nats", nobody, "--lease", "1s"];
    assert!(refusal(&mut queenfold(&short), 2).contains("at least 2 s"));
}

#[test]
fn two_coordinators_of_one_run_are_one_too_many() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let first = Process::serve(&server.url(), &server.folder().join("one"), &COUNT);
    super::raw::RawWorker::join_any(&server.url());
    let second = Process::serve(&server.url(), &server.folder().join("two"), &COUNT);
    let (code, out, said) = second.end();
    assert_eq!((code, out.as_str()), (1, ""), "{said}");
    let by = format!("process {} on ", first.id());
    assert!(
        said.contains("coordinated by") && said.contains(&by),
        "{said}"
    );
}
