//! The dashboard of a run over many hosts, on a real terminal.

use super::process::{Process, wait_for_tasks};
use super::runs::{ONE_SLOW_CORE, assert_done};
use super::server::NatsServer;
use crate::tmux::Tmux;

const PROGRAM: &str = env!("CARGO_BIN_EXE_queenfold");

#[test]
fn the_hosts_of_a_run_are_shown_paused_and_left() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let Some(tmux) = Tmux::start(120, 30) else {
        return;
    };
    let dir = server.folder().join("run");
    let serve = || Process::serve(&server.url(), &dir, &[]);
    let count = ["-n", "18", "--engine", "chain", "--lease", "2s"];
    let first = Process::serve(&server.url(), &dir, &count);
    let journals = server.folder().join("journals");
    let work = || Process::work(&server.url(), &journals, &ONE_SLOW_CORE);
    let mut workers = [work(), work()];
    wait_for_tasks(&dir, 5);
    let watch = format!("clear; {PROGRAM} watch {}; echo code $?", dir.display());
    tmux.type_line(&watch);
    let rows = |screen: &str, does: &str| screen.matches(does).count();
    let screen = tmux.see_that("two hosts", |screen| {
        rows(screen, "counts by portable") == 2
    });
    for text in [
        "18 queens · running",
        "by 2 workers on 1 host",
        "1,034 tasks, 2 a cell",
        "joined (1 CPU worker)",
        "queenfold serve --nats nats://",
        "--run test ",
    ] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
    tmux.press("p");
    let paused =
        |screen: &str| screen.contains("paused (asked for)") && rows(screen, " waits ") == 2;
    tmux.see_that("a pause", paused);
    tmux.press("p");
    tmux.see_that("no pause", |screen| rows(screen, "counts by portable") == 2);
    // One that is killed stays in sight until another one takes its place.
    workers[1].kill();
    let lost = |screen: &str| screen.contains(" lost for ") && screen.contains("gone 1 ");
    tmux.see_that("a lost host", lost);
    workers[1] = work();
    tmux.see_that("another one in its place", |screen| {
        rows(screen, "counts by portable") == 2 && !screen.contains(" lost for ")
    });
    tmux.press("?");
    tmux.see("give out no tasks, or go on");
    tmux.press("q");
    tmux.press("d");
    tmux.see("press d again to stop");
    tmux.press("d");
    // The coordinator ends; its workers wait for the next one.
    tmux.see("code 0");
    let (code, _, said) = first.end();
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("paused: no tasks are given out"), "{said}");
    assert!(said.contains("goes on"), "{said}");
    let second = serve();
    tmux.type_line(&watch);
    tmux.see_that("both again", |screen| {
        rows(screen, "counts by portable") == 2
    });
    tmux.press("q");
    tmux.see("q leaves");
    tmux.press("q");
    tmux.see("code 0");
    assert_done(second, "666090624");
    for worker in workers {
        let (code, _, said) = worker.end();
        assert_eq!(code, 0, "{said}");
    }
}
