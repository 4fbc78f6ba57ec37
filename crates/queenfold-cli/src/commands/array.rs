//! `queenfold array`: divides a board into shards for the hosts of a cluster, with a script for their scheduler.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::args::boards::Boards;
use crate::commands::gather::array::gathered;
use crate::config::{duration, engine, named, whole};
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::print::array_report::{script_word, submit_again};
use crate::shell::{command_on, is_plain, read_by, word};
use crate::telemetry::printable;
use queenfold::engine::{Engine, NoLauncher, seconds_per_cost};
use queenfold::job::{fastest_on_cpu, plan};
use queenfold::simd::Isa;
use queenfold::words::{self, TimeUnit, several};
use queenfold_ledger::cluster::{Array, ArrayDirectory, Scheduler, Script, Submission, ask};
use queenfold_ledger::ledger::{DirLock, IndexList, Shard};
use queenfold_ledger::system::files::make_executable;

/// How many smaller shards come in the place of one.
const SMALLER: u64 = 8;

/// How long a shard may take on CPUs where GPUs count the larger ones.
const LONG: Duration = Duration::from_secs(3600);

/// The shortest time of an attempt, as schedulers count.
const SHORTEST: Duration = Duration::from_secs(60);

const HELP: &str = "\
Examples:
  queenfold array -n 24 --shards 512 --for slurm --time 2h
  array-n24/slurm.sh                   submit it, as often as it takes
  array-n24/slurm.sh 3,17-20           these shards alone
  queenfold status array-n24           how far the shards are, on which hosts
  queenfold gather array-n24           add up the shards, or name those that are missing
  queenfold array --rest array-n24     smaller shards in the place of what is missing
  queenfold array --again array-n24    shards that count all again, each on another host

With `--for hyperqueue`, `array-n24/hyperqueue.sh` submits it. With `--for shell`, any other scheduler \
starts `array-n24/shell.sh SHARD` for each shard, 0 to K-1.

The array divides the tasks of the board into shards that fall in size, so that no large one is the last. Each \
is counted into a run directory of its own, below DIR, which all hosts see; with --put, hosts see nothing of it. An array \
task takes the next shard that nobody counts, and goes on with it where an earlier one stopped, or was killed or lost with \
its host. Slurm starts an array task whose time is over again by itself.

The same command may be given again for another scheduler. With --replace, another time or other cores \
replace the script; what was counted stays. docs/CLUSTER.md has more.";

/// What is said of a new array alone.
const OF_NEW: [&str; 10] = [
    "scheduler",
    "dir",
    "engine",
    "time",
    "cpus",
    "gpus",
    "replace",
    "put",
    "options",
    "n",
];

/// Flags of `array`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP, mut_arg("n", |n| n.value_name("N").help("Board size, 1 to 32")))]
pub struct Args {
    #[command(flatten)]
    board: Boards,

    /// The shards that the board is divided into; the scheduler counts each by an array task
    #[arg(long, value_name = "K", value_parser = whole(0..=Shard::MAX_COUNT), allow_hyphen_values = true, required_unless_present_any = ["rest", "again"])]
    shards: Option<u64>,

    /// The scheduler that runs the array
    #[arg(long = "for", value_name = "SCHEDULER", value_parser = named(Scheduler::ALL, Scheduler::name, &[]), required_unless_present_any = ["rest", "again"])]
    scheduler: Option<Scheduler>,

    /// Divide what is missing of the array in this directory, and neither runs nor waits in a queue, into smaller shards
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_NEW)]
    rest: Option<PathBuf>,

    /// Add shards to the array in this directory that count what is counted once: each on another host than the first time,
    /// and by another kernel
    #[arg(long, value_name = "DIR", conflicts_with_all = OF_NEW, conflicts_with = "rest")]
    again: Option<PathBuf>,

    /// Hosts share nothing: this command brings home the file {} that a shard is, such as 'scp {} head:n24/shards/'
    #[arg(long, value_name = "COMMAND", value_parser = put)]
    put: Option<String>,

    /// The directory of the array, which all hosts must see; `array-nN` by default, `array-nN-given` where something is given on the board
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// The engine; `auto` chooses the one that is fastest on CPUs like that of this machine
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine().or("auto"))]
    engine: Choice,

    /// The time of one attempt, from `1m`; what is not done by then is continued by the next one
    #[arg(long, value_name = "D", value_parser = attempt_time, allow_hyphen_values = true)]
    time: Option<Duration>,

    /// Cores of each array task; 1 by default, and with `--for shell` those that it may use
    #[arg(long, value_name = "C", value_parser = whole(1..=1024_u64), allow_hyphen_values = true)]
    cpus: Option<u64>,

    /// GPUs of each array task
    #[arg(long, value_name = "G", default_value = "0", value_parser = whole(0..=64_u64), allow_hyphen_values = true)]
    gpus: u64,

    /// Replace a script of the scheduler that differs from the new one, with the lines that you added to it
    #[arg(long)]
    replace: bool,

    /// Options of the scheduler, which the script keeps: `-- --partition=short --mem=8G`
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

/// An engine, or `auto`.
type Choice = Option<Engine>;

/// A number alone is minutes for Slurm, and seconds elsewhere in this program.
fn attempt_time(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0);
    if let Some(number) = number.filter(|_| text.ends_with(|c: char| c.is_ascii_digit())) {
        // An attempt has no less than a minute.
        let seconds = (number >= SHORTEST.as_secs_f64()).then(|| format!("{text}s or "));
        let seconds = seconds.unwrap_or_default();
        return Err(format!("seconds or minutes? write {seconds}{text}min"));
    }
    let time = duration().parse(text);
    time.map_err(|error| error.replace(", or a number of seconds", ""))
}

/// A command that brings a file home.
fn put(text: &str) -> Result<String, &'static str> {
    let is_line = printable(text) == text;
    let quoted = ["'{}", "\"{}", "{}'", "{}\""];
    let names_file = is_line && text.contains("{}") && !quoted.iter().any(|of| text.contains(of));
    names_file
        .then(|| text.to_owned())
        .ok_or("write {} where the file stands, without quotes, as in 'scp {} head:n24/shards/'")
}

/// Writes the submission of a job array, or adds shards to it.
pub fn run(args: &Args) -> Result<(), Failure> {
    match (&args.rest, &args.again, args.scheduler, args.shards) {
        (Some(dir), ..) => more_shards(dir, args.shards, More::Rest),
        (_, Some(dir), ..) => more_shards(dir, args.shards, More::Again),
        (_, _, Some(scheduler), Some(shards)) => new_array(args, scheduler, shards),
        _ => Err(Failure::usage("give --shards and --for")),
    }
}

/// Which shards are added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    /// Smaller ones, of what is missing.
    Rest,
    /// Second counts.
    Again,
}

/// Adds shards to the array in `dir`, about so many.
fn more_shards(dir: &Path, shards: Option<u64>, more: More) -> Result<(), Failure> {
    ArrayDirectory::open(dir)?;
    // Two at once would give the same numbers to different shards.
    let _lock = DirLock::take(dir)?;
    let mut directory = ArrayDirectory::open(dir)?;
    let gathered = gathered(&directory, &[])?;
    let array = directory.array().clone();
    let old = array.shards();
    let (new, why) = match more {
        More::Rest => {
            let queued = ask(&directory);
            if directory.shares_nothing()
                && queued.is_none()
                && !Script::all(&directory).any(|of| of.scheduler == Scheduler::Shell)
            {
                let what = "the queue does not answer, and nothing else tells which shards are being counted";
                return Err(Failure::new(Exit::Error, what));
            }
            let missing = queued.unwrap_or_default().others(&gathered.to_submit());
            let shards = shards.unwrap_or(missing.len() * SMALLER);
            (
                array.with_rest(&missing, &gathered.lacking, shards),
                "what is missing is being counted, waits in a queue, or cannot be divided",
            )
        }
        More::Again => {
            let shards = shards.unwrap_or(array.to_count().count() as u64);
            (
                array.with_again(&gathered.lacking, shards),
                "no part is counted by one host alone, unless a shard for its second count is there",
            )
        }
    };
    let added: IndexList = (old..new.shards()).collect();
    let name = printable(&dir.display().to_string());
    if added.is_empty() {
        return print(&format!("{name}: no shards added: {why}"));
    }
    directory.replace(new)?;
    let mut text = format!("{name}: {} more, {added}", several(added.len(), "shard"));
    for command in submit_again(&directory, dir, &added) {
        text += &format!("\nsubmit it  {}", printable(&command));
    }
    print(&text)
}

/// Writes the submission of a new array.
fn new_array(args: &Args, scheduler: Scheduler, shards: u64) -> Result<(), Failure> {
    let board = args.board.one()?;
    // The hosts may have other hardware than this one.
    let fastest = || fastest_on_cpu(board, Isa::best());
    let engine = args.engine.unwrap_or_else(fastest);
    if args.gpus > 0
        && let Err(why) = plan(engine, board).launcher()
    {
        let n = board.size();
        return Err(Failure::usage(match why {
            NoLauncher::Engine => format!("--gpus: GPUs do not count by the engine {engine}"),
            NoLauncher::Board(sizes) => {
                let (first, last) = sizes.into_inner();
                format!("--gpus: GPUs count boards of {first} to {last} queens, not of {n}")
            }
        }));
    }
    let array = Array::new(board, engine, shards)?;
    let is_sent = args.put.is_some();
    let refused = if args.time.is_some_and(|time| time < SHORTEST) {
        Some("--time: an attempt takes a minute at least, as schedulers count")
    } else if is_sent && scheduler == Scheduler::Slurm {
        Some("--put: the hosts of Slurm share a file system: give --for hyperqueue or shell")
    } else if is_sent && array.parts() == 1 {
        Some("--put: what hosts send are shards, so give --shards 2 or more")
    } else {
        None
    };
    refused.map_or(Ok(()), |why| Err(Failure::usage(why)))?;
    let path = args.dir.clone();
    let path = path.unwrap_or_else(|| format!("array-{}", array.short_name()).into());
    // The scripts name it where nothing can be quoted.
    let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
    if !is_plain(absolute.as_os_str()) || absolute.to_string_lossy().contains('%') {
        return Err(Failure::usage(format!(
            "{}: schedulers take no path with such characters: only letters, digits and /._+-,:@=",
            absolute.display()
        )));
    }
    let directory = ArrayDirectory::make(&path, &array)?;
    let division = directory.division(&array.plans());
    if directory.array().is_done(&directory.so_far(&division)?.1) {
        return Err(Failure::usage(format!(
            "{} is gathered, and nothing of it is left to count: `{}` prints the result",
            path.display(),
            command_on("gather", &path)
        )));
    }
    let begun = Script::all(&directory).next().is_some();
    if begun && directory.shares_nothing() != is_sent {
        let (name, with) = (path.display(), if is_sent { "without" } else { "with" });
        let what = format!("{name} was made {with} --put: name another directory");
        return Err(Failure::usage(what));
    }
    let program = env::current_exe()
        .map_err(|error| Failure::new(Exit::Error, format!("cannot find this program: {error}")))?;
    let submission = Submission {
        program: word(program.as_os_str()),
        cpus: args.cpus,
        gpus: args.gpus,
        time: args.time,
        options: options(args, scheduler)?,
        put: args.put.clone(),
    };
    if is_sent {
        directory.key()?;
    }
    let gpus = args.gpus > 0;
    let script = Script { scheduler, gpus };
    let name = script.name();
    let text = submission.script(scheduler, &directory);
    let there = directory.read(&name)?;
    // Where there is no bash, nobody knows.
    let is_bash = || read_by("bash", &["-n"], text.as_bytes()).map_or(true, |end| end.success());
    if is_sent && !is_bash() {
        let what = "--put: the command is none of bash, as in 'scp {} head:n24/shards/'";
        return Err(Failure::usage(what));
    }
    if !args.replace && there.is_some_and(|there| there != text) {
        return Err(Failure::usage(format!(
            "{} is there and differs: --replace writes it anew, without lines of your own",
            path.join(&name).display()
        )));
    }
    match is_sent {
        true => directory.write_secret(&name, &text)?,
        false => directory.write(&name, &text)?,
    }
    // HyperQueue starts a script as a program.
    make_executable(&directory.file(&name))
        .map_err(|error| Failure::new(Exit::Error, format!("{name}: {error}")))?;
    // It may have got more shards since it was made.
    let array = directory.array();
    let tasks: u64 = array.plans().iter().map(|plan| plan.tasks()).sum();
    let mut lines = vec![format!(
        "{}: {array}, {}",
        path.display(),
        several(tasks, "task")
    )];
    let cores = args.cpus.unwrap_or(1);
    let time = |parts| part_time(array).map(|time| time.mul_f64(parts as f64 / cores as f64));
    let about = |time: Duration| {
        let seconds = time.as_secs_f64();
        let (time, cores) = (
            TimeUnit::of_wall(seconds).of(seconds),
            several(cores, "core"),
        );
        format!("about {time} on {cores} like those of this machine")
    };
    let parts = |index| {
        array
            .shard(index)
            .map_or(0, |of| of.shard.parts().count() as u64)
    };
    // What devices take is not known beforehand.
    if let Some(whole) = time(array.parts()).filter(|_| !gpus) {
        let first = time(parts(0)).unwrap_or_default();
        lines.push(match whole < SHORTEST {
            true => format!("no array is needed: `queenfold run` takes {}", about(whole)),
            false => format!("first shards {} each", about(first)),
        });
        if let Some(limit) = args.time.filter(|limit| first > *limit) {
            let (first, limit) = (about(first), words::duration(limit));
            say(&format!(
                "the first shards take {first} each, and --time {limit} ends each attempt: more --shards make them shorter"
            ));
        }
    }
    // GPUs begin with the large shards, and CPUs with those that take them an hour at most.
    let (mut scripts, word) = (Script::all(&directory), script_word(script, &path));
    let divided = scripts.any(|of| of.scheduler == scheduler && of.gpus != gpus);
    let is_short = |index: &u64| time(parts(*index)).is_none_or(|time| time <= LONG);
    let all = array.shards();
    let first = (0..all).find(is_short).unwrap_or(all - 1);
    let own = match (divided && first > 0, gpus) {
        (true, false) => Some(first..all),
        (true, true) if directory.shares_nothing() => Some(0..first),
        _ => None,
    };
    let submit = match own {
        Some(shards) => scheduler.submit(&word, &shards.collect()),
        None => scheduler.submit_all(&word, all),
    };
    lines.push(format!("submit it  {submit}"));
    lines.push(format!("look at it {}", command_on("status", &path)));
    lines.push(format!("add it up  {}", command_on("gather", &path)));
    print(&lines.join("\n"))
}

/// How long a part takes by the costs of its plan, on a core like those of this machine.
fn part_time(array: &Array) -> Option<Duration> {
    let plan = plan(array.engine(), *array.board());
    let per_cost = seconds_per_cost(plan.engine(), plan.size(), Isa::best())?;
    Duration::try_from_secs_f64(plan.total_cost() * per_cost / array.parts() as f64).ok()
}

/// The options of the scheduler as lines of its script, each with its value.
fn options(args: &Args, scheduler: Scheduler) -> Result<Vec<String>, Failure> {
    if scheduler == Scheduler::Shell && !args.options.is_empty() {
        return Err(Failure::usage(
            "options behind `--`: `--for shell` knows no scheduler: give them to the one that starts shell.sh",
        ));
    }
    let mut lines: Vec<String> = Vec::new();
    for option in &args.options {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let wrong = match name {
            _ if printable(option) != *option => "an option of a scheduler is one line of text",
            "-a" | "--array" => "--shards says which shards there are",
            "-J" | "--job-name" | "--name" => "`queenfold status` finds the array by its name",
            _ if !option.starts_with('-') && lines.is_empty() => {
                "an option of a scheduler begins with a hyphen, as --partition=short"
            }
            _ => "",
        };
        if !wrong.is_empty() {
            return Err(Failure::usage(format!("{option}: {wrong}")));
        }
        match (option.starts_with('-'), lines.last_mut()) {
            (false, Some(line)) => *line = format!("{line} {}", word(option.as_ref())),
            _ if value.is_empty() => lines.push(option.clone()),
            _ => lines.push(format!("{name}={}", word(value.as_ref()))),
        }
    }
    Ok(lines)
}
