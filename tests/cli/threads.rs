//! The threads of a program that a test has started, as Linux shows them.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waits until `child` has a thread with this name that has used as much CPU time, in hundredths of a second,
/// or has ended. Where the system shows no threads, waits two seconds.
pub fn wait_for_thread(child: &mut Child, name: &str, used: u64) {
    let since = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if there_is(child.id(), name, used).unwrap_or(since.elapsed() > Duration::from_secs(2)) {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(300), "no {name}");
        sleep(Duration::from_millis(10));
    }
}

/// `None` if the system does not report it.
fn there_is(process: u32, name: &str, used: u64) -> Option<bool> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let is_it = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        let time = stat
            .split_once(&format!("({name}) "))?
            .1
            .split(' ')
            .nth(11)?;
        Some(time.parse::<u64>().ok()? >= used)
    };
    Some(threads.flatten().filter_map(is_it).any(|found| found))
}
