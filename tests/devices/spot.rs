//! A run on eight devices that is killed again and again, as on spot machines, and begun again by the same command. The
//! devices only pretend to count.
//!
//! The long test: `cargo test --release --test it -- --ignored --nocapture devices::spot::a_hundred`

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::eight::Pretended;
use queenfold::actors::{Control, EventKind, Observer, RunEvent, RunSpec, run};
use queenfold::engine::{Engine, Plan};
use queenfold_ledger::ledger::{
    COMMIT_EVERY, Confirmation, Division, FILE, Facts, Recording, RunInfo, Shard, Store, merge,
};

/// What a process is told: its directory, and how many times slower than an H100 each of its devices is.
const DIRECTORY: &str = "SPOT_DIRECTORY";
const SLOWER: &str = "SPOT_SLOWER";

/// Half of 20 queens: a total that is made up would differ from the known one.
fn half() -> Arc<Pretended> {
    let shard = half_shard();
    Pretended::new(20, 0.106, |plan| {
        let division = Division::new(shard, &[Arc::clone(plan) as _]);
        let tasks = 0..plan.tasks();
        tasks
            .filter(|&task| division.holds(shard, plan.key(task)))
            .collect()
    })
}

fn half_shard() -> Shard {
    Shard::new(1, 2).unwrap()
}

/// Says on stdout how many tasks this process has reported.
#[derive(Default)]
struct Reported(AtomicU64);

impl Observer for Reported {
    fn event(&self, event: &RunEvent) {
        if let EventKind::LaunchDone(launch) = &event.kind {
            let before = self.0.fetch_add(launch.tasks as u64, Ordering::Relaxed);
            println!("reported {}", before + launch.tasks as u64);
        }
    }
}

#[test]
#[ignore = "the other tests start it"]
fn in_the_child() {
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).unwrap());
    let slower = std::env::var(SLOWER).unwrap().parse().unwrap();
    let pretended = half();
    let plans = [Arc::clone(&pretended.plan) as _];
    let facts = Facts::default();
    let recording = match directory.join(FILE).exists() {
        true => Recording::resume(&directory, &plans, &facts),
        false => {
            let info = RunInfo::new(pretended.plan.size(), &plans, half_shard(), String::new());
            Recording::create(&directory, &info, &plans, &facts)
        }
    };
    let recording = Arc::new(recording.unwrap());
    let spec = RunSpec {
        source: Arc::clone(&recording) as _,
        recorder: Some(recording),
        observers: vec![Arc::new(Reported::default())],
        ..pretended.spec(0)
    };
    let devices: Vec<_> = (0..8)
        .map(|index| {
            let mut device = pretended.device(index, slower, None);
            device.settings.first_cost = 0.001;
            device.settings.batch_time = Duration::from_millis(200);
            device
        })
        .collect();
    let report = run(&spec, &devices, &Control::new()).unwrap();
    println!("counted {:?}", report.tallies[&Engine::Colour]);
}

/// Tasks that are recorded.
fn recorded(directory: &Path) -> u64 {
    let file = directory.join(FILE).exists();
    let sums = || Store::open_to_read(directory).unwrap().sums().unwrap();
    if file {
        sums().coverage.of(Engine::Colour).len()
    } else {
        0
    }
}

/// Runs it, and kills it so long after its first launch. Returns what it counted if it ends before.
fn live(directory: &Path, slower: f64, life: Option<Duration>) -> Option<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "devices::spot::in_the_child",
            "--ignored",
            "--nocapture",
        ])
        .env(DIRECTORY, directory)
        .env(SLOWER, slower.to_string())
        .stdout(Stdio::piped());
    let before = recorded(directory);
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (tell, told) = channel();
    let reader = std::thread::spawn(move || -> Vec<(Instant, String)> {
        let noted = lines.map(|line| (Instant::now(), line.unwrap()));
        let tell_launch = |(_, line): &(_, String)| {
            if line.starts_with("reported") {
                // Nobody hears of all but the first.
                let _ = tell.send(());
            }
        };
        noted.inspect(tell_launch).collect()
    });
    if let Some(life) = life {
        let _ = told.recv();
        std::thread::sleep(life);
        child.kill().unwrap();
    }
    let killed = Instant::now();
    assert!(child.wait().unwrap().success() || life.is_some());
    let said = reader.join().unwrap();
    // A commit waits for the disk, so twice the time.
    let safe = said.iter().rev().filter_map(|(at, line)| {
        let reported: u64 = line.strip_prefix("reported ")?.parse().unwrap();
        (*at + 2 * COMMIT_EVERY < killed).then_some(reported)
    });
    let (safe, after) = (safe.max().unwrap_or(0), recorded(directory));
    assert!(
        after >= before + safe,
        "{before} + {safe}, and {after} are recorded"
    );
    println!("{before} tasks, and {} more of {:?}", after - before, life);
    let counted = |(_, line): &(_, String)| line.strip_prefix("counted ").map(str::to_owned);
    said.iter().find_map(counted)
}

/// Two nodes count the board, and one of them is killed so many times, at most after so long. Then their directories
/// become one.
fn killed(times: u32, slower: f64, longest: Duration) {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, both] = ["first", "second", "both"].map(|name| folder.path().join(name));
    let expected = format!("{:?}", half().expected());
    let mut random = fastrand::Rng::with_seed(times.into());
    for _ in 0..times {
        let life = longest.mul_f64(random.f64());
        assert_eq!(live(&first, slower, Some(life)), None, "it was too fast");
    }
    for directory in [&first, &second] {
        assert_eq!(live(directory, 1.0, None), Some(expected.clone()));
    }
    let sources = [&first, &second].map(|directory| Store::open_to_read(directory));
    merge(sources, None, &both).unwrap();
    let confirmation = Store::open_to_read(&both)
        .unwrap()
        .sums()
        .unwrap()
        .who
        .confirmation;
    let Confirmation { tasks, twice, .. } = confirmation;
    assert!(
        tasks == recorded(&first) && twice == tasks,
        "{confirmation:?}"
    );
}

#[test]
fn a_run_that_is_killed_five_times_loses_what_was_in_flight_alone() {
    killed(5, 3000.0, Duration::from_millis(1300));
}

#[test]
#[ignore = "long: see the head of this file"]
fn a_hundred_kills_lose_what_was_in_flight_alone() {
    killed(100, 30_000.0, Duration::from_secs(5));
}
