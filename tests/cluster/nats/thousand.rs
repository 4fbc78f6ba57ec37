//! A simulation of the largest runs: a thousand workers that count nothing, through the real protocol, server and
//! coordinator, on this host; for the plan of 28 queens, whose ledger has millions of tasks.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_nats::Client;
use futures_util::StreamExt;
use queenfold::actors::Finding;
use queenfold::actors::Step;
use queenfold::board::Size;
use queenfold::cluster::lease::{Down, Holder, LeaseTimes, RunKey, Up, decode};
use queenfold::colour::ColourPlan;
use queenfold::engine::{CountedBy, Engine, Origin, Plan, Tally, TaskResult, WorkerId};
use queenfold::ledger::{Facts, Intake, RunInfo, Shard};

use super::process::{Process, recorded};
use super::raw::{RawWorker, session_of};
use super::server::NatsServer;

// Thousands of notes would fill the pipe that nobody reads.
const COUNT: [&str; 6] = ["-n", "28", "--engine", "colour", "--no-unique", "-q"];

/// Tasks that a core counts in a second, of 28 queens.
const SLOW: f64 = 1.0 / 24.0;

/// How often a fake worker counts and speaks.
const TICK: Duration = Duration::from_millis(200);

fn plan() -> Arc<dyn Plan> {
    Arc::new(ColourPlan::new(Size::new(28).unwrap()))
}

fn info(plan: &Arc<dyn Plan>) -> RunInfo {
    RunInfo::new(
        plan.size(),
        &[Arc::clone(plan)],
        Shard::WHOLE,
        String::new(),
    )
}

/// A result like those of 28 queens, which have about so many solutions in a task.
fn result(plan: &dyn Plan, task: u64) -> TaskResult {
    let mut tally = Tally {
        partitions: 5,
        nodes: 40_000_000_000 + task,
        ..Tally::default()
    };
    tally.completions.add(8, 2_000_000_000 + u128::from(task));
    TaskResult {
        key: plan.key(task),
        tally,
        origin: Origin {
            worker: WorkerId::Cpu(0),
            counted_by: CountedBy::Cpu("avx512".into()),
        },
        audited_by: None,
        duration: Duration::from_secs(24),
    }
}

#[derive(Default)]
struct Traffic {
    welcome: AtomicU64,
    leases: AtomicU64,
    /// Bytes of messages of workers, and to them.
    up: AtomicU64,
    down: AtomicU64,
    receipts: AtomicU64,
}

/// A worker that counts so many tasks a second, without counting.
async fn fake(
    url: String,
    name: String,
    plan: Arc<dyn Plan>,
    key: RunKey,
    speed: f64,
    traffic: Arc<Traffic>,
) {
    let client: Client = async_nats::connect(&url).await.unwrap();
    let host = name;
    let session = session_of(&host);
    let name = session.session();
    let mut down = client
        .subscribe(format!("queenfold.test.down.any.{name}"))
        .await
        .unwrap();
    let mut is_welcome = false;
    let mut holder = Holder::new(vec![Arc::clone(&plan)], key, 1, 0);
    let facts = Facts {
        host,
        workers: 1,
        ..Facts::default()
    };
    let facts = serde_json::to_string(&facts).unwrap();
    let start = Instant::now();
    // Not all at the same moment.
    let mut due = fastrand::f64();
    let mut hello: Option<Instant> = None;
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let mut said = Vec::new();
        tokio::select! {
            Some(message) = down.next() => {
                traffic.down.fetch_add(message.payload.len() as u64, Ordering::Relaxed);
                match decode::<Down>(&message.payload).unwrap() {
                    Down::Welcome { lease_ms, work_ms } if !is_welcome => {
                        holder.set_times(LeaseTimes {
                            lease: Duration::from_millis(lease_ms),
                            work: Duration::from_millis(work_ms),
                        });
                        is_welcome = true;
                        traffic.welcome.fetch_add(1, Ordering::Relaxed);
                    }
                    Down::Lease(lease) => {
                        traffic.leases.fetch_add(1, Ordering::Relaxed);
                        holder.take(&lease);
                    }
                    Down::Receipt(number) => {
                        let before = holder.first();
                        holder.receipt(start.elapsed(), number);
                        traffic.receipts.fetch_add(holder.first() - before, Ordering::Relaxed);
                    }
                    Down::Revoked(ids) => holder.revoke(&ids),
                    Down::Unknown => hello = None,
                    _ => {}
                }
            }
            _ = ticks.tick() => {
                due = (due + speed * TICK.as_secs_f64()).min((speed * 5.0).max(1.0));
                while due >= 1.0 {
                    let Step::Task(task) = holder.step(Engine::Colour) else { break };
                    due -= 1.0;
                    let mut result = result(plan.as_ref(), task);
                    result.duration = Duration::from_secs_f64(1.0 / speed);
                    holder.measure(&result);
                    holder.record(start.elapsed(), Finding::Result(result.clone()));
                }
                if is_welcome {
                    said = holder.speak(start.elapsed());
                }
                if (!is_welcome && hello.is_none_or(|at| at.elapsed().as_secs() >= 5)) || hello.is_none() {
                    hello = Some(Instant::now());
                    let names = vec![plan.name().to_string()];
                    said = vec![Up::Hello(holder.hello(facts.clone(), names))];
                }
            }
        }
        for up in said {
            let bytes = session.seal(&up);
            traffic.up.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            let subject = format!("queenfold.test.up.any.{name}");
            client.publish(subject, bytes.into()).await.unwrap();
        }
    }
}

/// Megabytes that a process holds in memory, at its highest.
fn peak_memory(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<u64>()
        .unwrap()
        / 1024
}

/// Seconds of a core that a process has used.
fn cpu_seconds(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let after = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<_> = after.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    ticks as f64 / 100.0
}

/// Lets so many workers of this speed work for a while, and says what that took.
fn simulate(
    server: &NatsServer,
    dir: &Path,
    serve: &Process,
    (workers, speed): (usize, f64),
    long: Duration,
) -> f64 {
    let plan = plan();
    let key = RunKey::from(info(&plan).key());
    let traffic = Arc::new(Traffic::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let rows = runtime.block_on(async {
        for number in 0..workers {
            let name = format!("w{number}x{}", speed as u64);
            tokio::spawn(fake(
                server.url(),
                name,
                Arc::clone(&plan),
                key,
                speed,
                Arc::clone(&traffic),
            ));
        }
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let since = Instant::now();
        while get(&traffic.welcome) < workers as u64 {
            tokio::time::sleep(TICK).await;
            assert!(since.elapsed().as_secs() < 120, "{} are welcome", get(&traffic.welcome));
        }
        let joined = since.elapsed();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let now = || {
            let all = [
                get(&traffic.leases),
                get(&traffic.receipts),
                get(&traffic.up),
                get(&traffic.down),
            ];
            (all.map(|count| count as f64), cpu_seconds(serve.id()), Instant::now())
        };
        let (first, cpu, begun) = now();
        tokio::time::sleep(long).await;
        let (last, cpu_later, ended) = now();
        let seconds = (ended - begun).as_secs_f64();
        let [leases, rows, up, down] = std::array::from_fn(|at| (last[at] - first[at]) / seconds);
        println!(
            "{workers} workers of {speed} tasks/s: all joined in {:.1} s; {leases:.0} leases/s, {rows:.0} rows/s; \
             on the wire {:.0} bytes a task from workers and {:.0} to them; coordinator: {:.0} % of a core, \
             {} MB at most; {} tasks recorded",
            joined.as_secs_f64(),
            up / rows,
            down / rows,
            100.0 * (cpu_later - cpu) / seconds,
            peak_memory(serve.id()),
            recorded(dir),
        );
        rows
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    rows
}

#[test]
#[ignore = "takes a minute; `ulimit -n 20000`"]
fn ten_thousand_workers() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let serve = Process::serve(&server.url(), &dir, &COUNT);
    RawWorker::join_any(&server.url());
    let rows = simulate(
        &server,
        &dir,
        &serve,
        (10_000, SLOW),
        Duration::from_secs(60),
    );
    assert!(rows > 200.0, "{rows}");
}

#[test]
#[ignore = "takes three minutes and 1 GB of disk"]
fn a_thousand_workers_and_ten_million_tasks() {
    let Some(server) = NatsServer::start() else {
        return;
    };
    let dir = server.folder().join("run");
    let plan = plan();
    let serve = Process::serve(&server.url(), &dir, &COUNT);
    RawWorker::join_any(&server.url());
    // As fast as cores are at 28 queens, and much faster.
    let real = simulate(&server, &dir, &serve, (1000, SLOW), Duration::from_secs(30));
    assert!(real > 20.0, "{real}");
    let fast = simulate(&server, &dir, &serve, (1000, 20.0), Duration::from_secs(30));
    assert!(fast > 1000.0, "{fast}");
    drop(serve);

    let full = server.folder().join("full");
    let begun = Instant::now();
    let tasks = fill(&full, &plan);
    let filled = begun.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(full.join("ledger.db")).unwrap().len();
    println!(
        "{tasks} tasks written in {filled:.0} s, {:.0} rows/s, {} bytes each",
        tasks as f64 / filled,
        bytes / tasks
    );
    let begun = Instant::now();
    let serve = Process::serve(&server.url(), &full, &["-q"]);
    RawWorker::join_any(&server.url());
    let took = begun.elapsed();
    let memory = peak_memory(serve.id());
    println!(
        "the coordinator of {tasks} recorded tasks answers after {took:.1?}, and holds {memory} MB"
    );
    simulate(
        &server,
        &full,
        &serve,
        (1000, SLOW),
        Duration::from_secs(20),
    );
    let memory = peak_memory(serve.id());
    assert!(memory < 1000, "{memory} MB");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// Records all tasks of a plan but the last hundred thousand.
fn fill(dir: &Path, plan: &Arc<dyn Plan>) -> u64 {
    let mut intake = Intake::create(dir, &info(plan), &[Arc::clone(plan)]).unwrap();
    intake.join("0123456789abcdef", Facts::default()).unwrap();
    let tasks = plan.tasks() - 100_000;
    let mut next = 0;
    while next < tasks {
        let end = tasks.min(next + 100_000);
        let results = (next..end).map(|task| Finding::Result(result(plan.as_ref(), task)));
        let batch = [("0123456789abcdef".to_owned(), results.collect())];
        intake.write(&batch).unwrap();
        next = end;
    }
    intake.close().unwrap();
    tasks
}
