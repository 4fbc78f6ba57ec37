//! `queenfold verify`: checks the records of a run and counts a share of its tasks again, counts all of it a second time, or
//! compares two runs.

mod again;
mod against;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use self::again::again;
use self::against::against;
use crate::args::flags::HowAgain;
use crate::config::{share, whole};
use crate::exit::{Failure, complete_shard};
use crate::output::{print, print_json, say};
use crate::print::count_report::verify_command;
use crate::session::recount::{self, by_name, percentage, second_method, tell_outcome};
use crate::shell::{again_command, command};
use crate::telemetry::printable;
use queenfold::engine::CheckedBy;
use queenfold::job::outcome;
use queenfold::outcome::Outcome;
use queenfold::words::several;
use queenfold_ledger::ledger::{
    Division, Entry, LedgerError, OriginName, RecountChoice, Store, chance_missed,
};
use queenfold_ledger::run_directory::{Findings, Verification, WrongTask};

const HELP: &str = "\
Examples:
  queenfold verify n20                   one task in a hundred
  queenfold verify n20 --sample 0.1      a tenth of them; 1 is every task
  queenfold verify n20 --by oracle       by a simpler method, which takes some fifty times as long
  queenfold verify n20 --origin gpu-0    everything that this device counted
  queenfold verify --again n20           count what is recorded a second time, and record that
  queenfold verify n20 --against elsewhere/n20    which tasks differ in two runs

The command reads every record and checks its digest. It then counts a random share of the tasks, one in a hundred unless \
--sample says otherwise, a second time, by another kernel than the recorded one. With --by oracle, the oracle \
of their engine counts them, which is a simpler and slower method. For a whole run it \
also checks the identities between the counts, and compares them with the table of known counts. \
The exit code is 3 if anything differs, and 4 if tasks of the run, or of its shard, are missing.

--again counts each recorded task without a second count by another worker or device, and by another \
kernel where that takes at most four times as long as the widest one. It keeps these counts in the directory, can be stopped \
and given again. Where the counts differ, a third one decides, and all of them are kept.

--against writes nothing. It says of each task that differs what each run has, by which kernel or device, worker and \
host; in the place of a directory may be the certificate of a shard.";

/// Flags of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    /// The share of the tasks to count again, above 0 and up to 1
    #[arg(long, value_name = "P", value_parser = sample, allow_hyphen_values = true)]
    sample: Option<f64>,

    /// What counts them again: another kernel, or the oracle of the engine, which is slow and simple
    #[arg(long, value_name = "METHOD", default_value = "kernel", value_parser = second_method())]
    by: CheckedBy,

    /// Seed of the sample; random unless given
    #[arg(long, value_name = "S", value_parser = whole(0..=u64::MAX), allow_hyphen_values = true)]
    seed: Option<u64>,

    /// Count again everything that this host, device or worker did: its name as `status` shows it, or both
    /// as in `node7/worker-3`. With --sample, a share of it
    #[arg(long, value_name = "HOST|DEVICE|WORKER")]
    origin: Option<OriginName>,

    /// List the tasks whose counts differ in the run of this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sample", "by", "seed", "origin"])]
    against: Option<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,

    /// Count the recorded tasks a second time, by other workers and kernels, and keep these counts
    #[arg(long, conflicts_with_all = ["sample", "by", "seed", "origin", "against"])]
    again: bool,

    #[command(flatten, next_help_heading = "With --again")]
    how: HowAgain,
}

fn sample(text: &str) -> Result<f64, String> {
    let share = share().parse(text)?;
    let some = (share > 0.0).then_some(share);
    some.ok_or_else(|| "expected a share above 0".to_owned())
}

/// Checks a run in the way that is asked for.
pub fn run(args: &Args) -> Result<(), Failure> {
    match &args.against {
        Some(other) => against([&args.dir, other], args.json),
        None if args.again => again(&args.dir, args.how.settings()?, args.json),
        None => recount_sample(args),
    }
}

/// Counts recorded tasks again.
fn recount_sample(args: &Args) -> Result<(), Failure> {
    let store = Store::open_to_read(&args.dir)?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let share = args.sample.unwrap_or(match args.origin {
        Some(_) => 1.0,
        None => 0.01,
    });
    let choice = match share {
        1.0 => RecountChoice::All,
        _ => RecountChoice::Sample { share, seed },
    };
    let report = recount::listen()?;
    let drawn = Verification::draw(&store, choice, args.origin.as_ref())?;
    let plans = drawn.tasks.plans.clone();
    let compared = recount::count(&drawn.tasks, args.by, report, progress)?;
    let findings = drawn.findings(compared);
    let coverage = &findings.sums.coverage;
    let wrong = &findings.wrong;
    let outcome = match plans.first() {
        Some(plan) if wrong.is_empty() && coverage.is_whole() => {
            store.check_decided()?;
            let tallies = &findings.sums.tallies;
            Some(outcome(plan.as_ref(), |engine| tallies.get(&engine))?)
        }
        _ => None,
    };
    if args.json {
        print_json(&to_json(&findings, choice, args.by, outcome.as_ref()))?;
    } else {
        tell(&findings, choice)?;
    }
    if !wrong.is_empty() {
        for line in proposals(&args.dir, &findings) {
            say(&printable(&line));
        }
        for line in gathered_from(&args.dir, &store, wrong)? {
            say(&printable(&line));
        }
        // A line for each task that differs.
        return Err(Failure::counts_differ(wrong));
    }
    let shard = store.info().shard;
    let division = Division::new(shard, &plans);
    let missing = coverage.missing(&division);
    if !coverage.is_whole_for(shard, &division) {
        let what = "what is recorded is good, but the plan is not covered";
        return Err(Failure::incomplete(what, &missing));
    }
    if args.json {
        return Ok(());
    }
    let Some(outcome) = outcome else {
        let complete = complete_shard(&args.dir, shard, &missing);
        return print(&format!("covered   {complete}"));
    };
    let names: Vec<_> = plans.iter().map(|plan| plan.name().to_string()).collect();
    print(&format!(
        "covered   every task of {} once",
        names.join(" and ")
    ))?;
    tell_outcome(&outcome)
}

/// For programs: what was checked, and what it adds up to if everything is there and right.
fn to_json(
    findings: &Findings,
    choice: RecountChoice,
    by: CheckedBy,
    outcome: Option<&Outcome>,
) -> Json {
    let coverage = &findings.sums.coverage;
    let kernels = findings.kernels.iter();
    let kernels = kernels.map(|((engine, recorded, counted), tasks)| {
        json!({"engine": engine, "recorded_by": recorded, "counted_by": counted, "tasks": tasks})
    });
    let wrong = |wrong: &WrongTask| {
        json!({
            "plan": format!("{}-{}", wrong.task.engine, wrong.task.version),
            "task": wrong.task.index,
            "recorded": wrong.said,
            "found": wrong.found,
            "origin": wrong.origin.as_ref().map(OriginName::to_string),
        })
    };
    let seed = match choice {
        RecountChoice::All => None,
        RecountChoice::Sample { seed, .. } => Some(seed.to_string()),
    };
    json!({
        "tasks_total": coverage.tasks(),
        "tasks_done": coverage.done(),
        "recounted": findings.checked,
        "by": by_name(by),
        "seed": seed,
        "kernels": kernels.collect::<Vec<_>>(),
        "wrong": findings.wrong.iter().map(wrong).collect::<Vec<_>>(),
        "known": outcome.map(|outcome| outcome.is_known),
        "result": outcome,
    })
}

/// What to do after a difference: count again what the same workers did, and correct what is wrong.
fn proposals(dir: &Path, findings: &Findings) -> Vec<String> {
    let origins = findings
        .wrong
        .iter()
        .filter_map(|wrong| wrong.origin.as_ref());
    let origins: BTreeSet<_> = origins.map(OriginName::to_string).collect();
    let propose = |origin: &String| {
        let command = verify_command(dir, origin);
        format!("count again everything that {origin} did: `{command}`")
    };
    let again = again_command(dir);
    let decide = format!("let a third count decide, and correct the record: `{again}`");
    origins.iter().map(propose).chain([decide]).collect()
}

/// Where the sessions were gathered from that counted wrongly, and how each is taken out.
fn gathered_from(
    dir: &Path,
    store: &Store,
    wrong: &[WrongTask],
) -> Result<BTreeSet<String>, LedgerError> {
    let sessions = store.sessions()?;
    let mut lines = BTreeSet::new();
    for wrong in wrong {
        let entry = store.get(wrong.task)?;
        let counted = sessions.iter().filter(|of| {
            let is_of = |entry: &Entry| entry.session == of.id;
            entry.as_ref().is_some_and(is_of) && !of.facts.merged.is_empty()
        });
        lines.extend(counted.map(|of| {
            let from = match of.facts.merged.split_once(' ') {
                Some(("key", key)) => format!("a certificate that the key {key} signed"),
                Some(_) => of.facts.merged.clone(),
                None => "another directory".to_owned(),
            };
            let options = [("--take-out", of.id.as_ref()), ("--into", dir.as_os_str())];
            let take_out = command("gather", &options, None);
            format!(
                "session {} was gathered from {from}: `{take_out}` takes it out",
                of.id
            )
        }));
    }
    Ok(lines)
}

/// What was found so far.
fn progress(done: u64, wrong: u64) -> String {
    let done = several(done, "task");
    match wrong {
        0 => format!("{done} counted again, all equal to their records"),
        _ => format!("{done} counted again, {wrong} of them different from their records"),
    }
}

/// Prints what was checked, and how much that proves.
fn tell(findings: &Findings, choice: RecountChoice) -> Result<(), Failure> {
    let (done, checked) = (findings.sums.coverage.done(), findings.checked);
    let sampled = match choice {
        RecountChoice::All => String::new(),
        RecountChoice::Sample { seed, .. } => format!(", sampled with seed {seed}"),
    };
    print(&format!(
        "records   {done} of {}, every digest good",
        several(findings.sums.coverage.tasks(), "task")
    ))?;
    print(&format!(
        "recounted {} of {done}{sampled}",
        several(checked, "task")
    ))?;
    for ((engine, recorded, counted), times) in &findings.kernels {
        print(&printable(&format!(
            "          {engine}: {} by {counted}, recorded by {recorded}",
            several(*times, "task")
        )))?;
    }
    if checked == done {
        return Ok(());
    }
    for rate in [0.1, 0.01, 0.001] {
        let (chance, rate) = (percentage(chance_missed(checked, rate)), 100.0 * rate);
        print(&format!(
            "chance    {chance} to have missed faults in {rate} % of the tasks"
        ))?;
    }
    let chance = percentage(1.0 - checked as f64 / done as f64);
    print(&format!(
        "chance    {chance} to have missed a single faulty task"
    ))
}
