//! The scripts that schedulers run.

use std::fmt::Write;
use std::time::Duration;

use super::array::DESCRIPTION;
use super::scheduler::{ARRAY_LINE, BLOCK, Scheduler};
use super::{ArrayDirectory, IndexList};
use crate::engine::PlanName;

/// What a task of an array asks for, and what it runs.
#[derive(Clone, Debug)]
pub struct Submission {
    /// This program, as a word of a shell.
    pub program: String,
    /// The cores of a task, at least 1. `None`: one, or with [`Scheduler::Shell`] what it finds.
    pub cpus: Option<u64>,
    /// The memory of a task, in MiB. `None`: what the cluster gives by default.
    pub memory: Option<u64>,
    /// The GPUs of a task.
    pub gpus: u64,
    /// The time of one attempt. `None`: what the cluster gives by default.
    pub time: Option<Duration>,
    /// Options of the scheduler, as words of a shell: `--partition=short`.
    pub options: Vec<String>,
}

impl Submission {
    /// The script for `scheduler`. The path of `directory` must need no quotes.
    pub fn script(&self, scheduler: Scheduler, directory: &ArrayDirectory) -> String {
        let mut text = String::from("#!/bin/bash\n");
        for line in self.introduction(scheduler, directory) {
            let blank = if line.is_empty() { "" } else { " " };
            let _ = writeln!(text, "#{blank}{line}");
        }
        text.push_str("#\n");
        let (prefix, options) = match scheduler {
            Scheduler::Slurm => ("SBATCH", self.slurm(directory)),
            Scheduler::HyperQueue => ("HQ", self.hyperqueue(directory)),
            Scheduler::Shell => ("", Vec::new()),
        };
        for (option, why) in options {
            if let Some(why) = why {
                let _ = writeln!(text, "# {why}");
            }
            let _ = writeln!(text, "#{prefix} {option}");
        }
        for option in &self.options {
            let _ = writeln!(text, "#{prefix} {option}");
        }
        text.push_str(&self.attempt(scheduler, directory));
        text.push_str(match scheduler {
            Scheduler::Slurm => SLURM_END,
            Scheduler::HyperQueue => HYPERQUEUE_END,
            Scheduler::Shell => SHELL_END,
        });
        text
    }

    fn introduction(&self, scheduler: Scheduler, directory: &ArrayDirectory) -> Vec<String> {
        let path = directory.path().display();
        let script = format!("{path}/{}", scheduler.script());
        let shards = directory.array().shards();
        let mut lines = vec![
            format!(
                "Counts {}. Written by `queenfold array`;",
                directory.array()
            ),
            "docs/CLUSTER.md of Queenfold says what is promised.".to_owned(),
            String::new(),
        ];
        let mut commands = Vec::new();
        if scheduler == Scheduler::Shell {
            let what = format!("counts a shard, 0 to {}", shards - 1);
            commands.push((format!("{script} SHARD"), what));
        } else {
            let how = match scheduler {
                Scheduler::HyperQueue => {
                    "a server and workers must run: `hq server start`, `hq worker start`"
                }
                _ => "--partition, --account and the like may be added",
            };
            let all = scheduler.submit_all(&script, shards);
            let (last, others) = all.split_last().unwrap_or((&script, &[]));
            let others = others
                .iter()
                .map(|command| (command.clone(), "and".to_owned()));
            commands.extend(others);
            commands.push((last.clone(), format!("counts all shards ({how})")));
            let some: IndexList = [3, 17, 18, 19, 20].into_iter().collect();
            let some = scheduler.submit(&script, &some).join("");
            commands.push((some, "counts these alone".to_owned()));
        }
        commands.push((
            format!("queenfold status {path}"),
            "shows how far the shards are, and on which hosts".to_owned(),
        ));
        commands.push((
            format!("queenfold gather {path}"),
            "adds up the shards, or names those that are missing".to_owned(),
        ));
        for (command, what) in commands {
            lines.extend([format!("  {command}"), format!("      {what}")]);
        }
        lines.extend([
            String::new(),
            "It may be started as often as you like: what is counted already is not counted again."
                .to_owned(),
        ]);
        lines
    }

    fn name(directory: &ArrayDirectory) -> String {
        format!("queenfold-{}", directory.array().short_name())
    }

    fn slurm(&self, directory: &ArrayDirectory) -> Vec<(String, Option<&'static str>)> {
        let shards = directory.array().shards();
        let path = directory.path().display();
        let width = directory.name_width();
        let mut options = vec![
            (format!("--job-name={}", Self::name(directory)), None),
            (
                format!("--array=0-{}", shards.min(BLOCK) - 1),
                Some(
                    "Too many for the MaxArraySize of the cluster (1001 by default) are an `Invalid job array \
                     specification`: submit parts. `sbatch --array=0-9 slurm.sh 10` counts the shards 10 to 19.",
                ),
            ),
            ("--nodes=1 --ntasks=1".to_owned(), None),
            (format!("--cpus-per-task={}", self.cpus.unwrap_or(1)), None),
        ];
        if let Some(memory) = self.memory {
            options.push((format!("--mem={memory}M"), None));
        }
        if self.gpus > 0 {
            options.push((format!("--gpus={}", self.gpus), None));
        }
        if let Some(time) = self.time {
            options.push((format!("--time={}", clock(time)), None));
        }
        options.extend([
            (
                format!("--signal=B:USR1@{}", self.margin().as_secs()),
                Some(
                    "So many seconds before the time is over (or up to a minute earlier), Slurm signals this \
                     script.",
                ),
            ),
            (
                "--requeue".to_owned(),
                Some("Slurm starts a task again if its host fails or somebody with priority takes it."),
            ),
            (
                "--open-mode=append".to_owned(),
                Some("What an earlier attempt printed stays."),
            ),
            (format!("--output={path}/logs/%A-%{width}a.log"), None),
        ]);
        options
    }

    fn hyperqueue(&self, directory: &ArrayDirectory) -> Vec<(String, Option<&'static str>)> {
        let last = directory.array().shards() - 1;
        let path = directory.path().display();
        // HyperQueue empties a file that is there.
        let log = "%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}";
        let mut options = vec![
            (format!("--name={}", Self::name(directory)), None),
            (format!("--array=0-{last}"), None),
            (format!("--cpus={}", self.cpus.unwrap_or(1)), None),
        ];
        if let Some(memory) = self.memory {
            options.push((format!("--resource mem={memory}"), None));
        }
        if self.gpus > 0 {
            options.push((format!("--resource gpus/nvidia={}", self.gpus), None));
        }
        if let Some(time) = self.time {
            let seconds = time.as_secs();
            options.push((
                format!("--time-request={seconds}s --time-limit={seconds}s"),
                Some(
                    "Only workers that live for so long get the task. Past the limit they end it.",
                ),
            ));
        }
        options.extend([
            (
                "--crash-limit=unlimited".to_owned(),
                Some("A task whose worker is lost is started again, however often."),
            ),
            (
                format!("--stdout={path}/logs/{log}.out --stderr={path}/logs/{log}.err"),
                None,
            ),
        ]);
        options
    }

    /// The part that does not depend on the scheduler, except for the number of the shard and two flags.
    fn attempt(&self, scheduler: Scheduler, directory: &ArrayDirectory) -> String {
        let array = directory.array();
        let index = match scheduler {
            Scheduler::Slurm => SLURM_INDEX,
            Scheduler::HyperQueue => HYPERQUEUE_INDEX,
            Scheduler::Shell => SHELL_INDEX,
        };
        let unique = if array.is_unique() {
            "--unique"
        } else {
            "--no-unique"
        };
        let mut how = String::new();
        // HyperQueue gives no signal before it ends a task, and others may give none, so the program ends in time by
        // itself.
        if let (Scheduler::HyperQueue | Scheduler::Shell, Some(time)) = (scheduler, self.time) {
            let time = time.saturating_sub(self.margin());
            let _ = write!(how, " --time-limit {}", time.as_secs().max(1));
        }
        if let (Scheduler::Shell, Some(cpus)) = (scheduler, self.cpus) {
            let _ = write!(how, " --workers {cpus}");
        }
        let names = array.board().names();
        let [queens, holes] = names.map(|names| match names.is_empty() {
            true => "none".to_owned(),
            false => names,
        });
        let gpu = if self.gpus > 0 { "cuda" } else { "off" };
        let PlanName { engine, .. } = array.plans()[0].name();
        format!(
            "\nset -eu\n\n{index}\
             {ARRAY_LINE}{path}'\n\
             if [ ! -e \"$array/{DESCRIPTION}\" ]; then\n    \
                 echo \"$array holds no job array: if it was moved, give its queenfold array command again, \
                 with --replace and the new place as --dir\" >&2\n    \
                 exit 2\n\
             fi\n\
             shard=$(printf '%s/shards/%0{width}d' \"$array\" \"$index\")\n\n\
             # The cores and the memory are those that the scheduler grants; the program asks for them itself.\n\
             how='--gpu {gpu} --no-tui{how}'\n\
             if [ -e \"$shard/ledger.db\" ]; then\n    \
                 # An earlier attempt was here. A finished shard ends at once.\n    \
                 set -- resume \"$shard\"\n\
             else\n    \
                 # This board, whatever a configuration says.\n    \
                 set -- run -n {n} --queens {queens} --holes {holes} --board none --engine {engine} {unique} \
                 --shard \"$index/{shards}\" --dir \"$shard\"\n\
             fi\n",
            width = directory.name_width(),
            path = directory.path().display(),
            n = array.board().size(),
            shards = array.shards(),
        ) + &format!("program={}\n", self.program)
    }

    /// How long before the end of its time a task is asked to stop: a minute, or a quarter of a shorter time.
    /// It takes two seconds and a commit.
    fn margin(&self) -> Duration {
        let minute = Duration::from_secs(60);
        let margin = self.time.map_or(minute, |time| minute.min(time / 4));
        Duration::from_secs(margin.as_secs().max(1))
    }
}

/// A time as Slurm reads it: days-hours:minutes:seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{}-{:02}:{:02}:{:02}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}

const SLURM_INDEX: &str = "\
index=$((${SLURM_ARRAY_TASK_ID:?is not set: submit this script with sbatch} + ${1:-0}))
";

const HYPERQUEUE_INDEX: &str = "\
index=${HQ_TASK_ID:?is not set: submit this script with hq submit}
";

const SHELL_INDEX: &str = r#"case ${1:-} in
    '' | *[!0-9]*)
        echo "give the number of a shard: $0 SHARD" >&2
        exit 2
        ;;
esac
index=$((10#$1))
"#;

const SLURM_END: &str = r#"
# This shell passes signals on: USR1 when the time is nearly over, TERM when the job is cancelled or preempted,
# which the program may get from the scheduler too. It commits what it has counted, and ends with code 4.
time_is_over=
pid=
# A signal may come when the program has just ended; then there is nobody to pass it to.
trap 'time_is_over=1; [ -z "$pid" ] || kill -USR1 "$pid" 2>/dev/null || true' USR1
trap '[ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null || true' TERM

# shellcheck disable=SC2086 # the words of $how are flags
"$program" "$@" $how &
pid=$!
[ -z "$time_is_over" ] || kill -USR1 "$pid" 2>/dev/null || true
# A trap ends `wait` before the program has ended.
code=0
wait "$pid" || code=$?
while kill -0 "$pid" 2>/dev/null; do
    code=0
    wait "$pid" || code=$?
done

# Not done when the time was over: back into the queue, to continue. Codes above 128 are signals, which may
# come before the program listens for them. A cancelled job stays cancelled.
if [ -n "$time_is_over" ] && { [ "$code" -eq 4 ] || [ "$code" -gt 128 ]; }; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
"#;

const SHELL_END: &str = r#"
# In place of this shell, so that signals reach the program: it commits what it has counted, and ends with code 4, as it
# does when its time is over. To continue the shard, start it again. Whoever starts this keeps what it prints: nothing
# is written to the folder logs.
# shellcheck disable=SC2086 # the words of $how are flags
exec "$program" "$@" $how
"#;

const HYPERQUEUE_END: &str = r#"
# In place of this shell, so that HyperQueue's signals reach the program: it commits what it has counted. The
# code 4 says that the shard is not done. To continue it, submit it again.
# shellcheck disable=SC2086 # the words of $how are flags
exec "$program" "$@" $how
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::cluster::Array;
    use crate::engine::Engine;

    fn submission(seconds: Option<u64>) -> Submission {
        Submission {
            program: "/opt/queenfold".to_owned(),
            cpus: Some(4),
            memory: Some(2048),
            gpus: 0,
            time: seconds.map(Duration::from_secs),
            options: vec!["--account=anna".to_owned()],
        }
    }

    fn script(scheduler: Scheduler, submission: &Submission) -> String {
        let folder = tempfile::tempdir().unwrap();
        let n = Size::new(16).unwrap();
        let array = Array::new(n, Engine::Colour, true, 20).unwrap();
        let directory = ArrayDirectory::make(&folder.path().join("array"), &array).unwrap();
        submission.script(scheduler, &directory)
    }

    /// The directives of a script.
    fn directives(text: &str, prefix: &str) -> Vec<String> {
        let lines = text.lines();
        let lines = lines.filter_map(|line| line.strip_prefix(prefix));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn slurm_is_asked_for_what_a_task_needs() {
        let text = script(Scheduler::Slurm, &submission(Some(7200)));
        let asked = directives(&text, "#SBATCH ");
        for option in [
            "--array=0-19",
            "--cpus-per-task=4",
            "--mem=2048M",
            "--time=0-02:00:00",
            "--signal=B:USR1@60",
            "--requeue",
        ] {
            assert!(asked.iter().any(|line| line == option), "{option}: {text}");
        }
        assert!(asked.contains(&"--account=anna".to_owned()), "{text}");
        assert!(text.contains("'--gpu off --no-tui'"), "{text}");
        let short = script(Scheduler::Slurm, &submission(Some(60)));
        assert!(short.contains("--signal=B:USR1@15"), "{short}");
        let free = Submission {
            memory: None,
            gpus: 2,
            ..submission(None)
        };
        let text = script(Scheduler::Slurm, &free);
        assert!(
            !text.contains("--time") && !text.contains("--mem="),
            "{text}"
        );
        assert!(text.contains("--gpus=2\n") && text.contains("'--gpu cuda --no-tui'"));
    }

    #[test]
    fn hyperqueue_is_asked_for_what_a_task_needs() {
        let text = script(Scheduler::HyperQueue, &submission(Some(7200)));
        let asked = directives(&text, "#HQ ");
        for option in [
            "--array=0-19",
            "--cpus=4",
            "--resource mem=2048",
            "--time-request=7200s --time-limit=7200s",
            "--crash-limit=unlimited",
        ] {
            assert!(asked.iter().any(|line| line == option), "{option}: {text}");
        }
        assert!(text.contains("--time-limit 7140'"), "{text}");
        // HyperQueue reads directives up to the first line that is neither empty nor a comment.
        let mut lines = text.lines();
        let code = lines.position(|line| !line.is_empty() && !line.starts_with('#'));
        let rest: Vec<_> = text.lines().skip(code.unwrap()).collect();
        assert!(rest.iter().all(|line| !line.starts_with("#HQ")), "{text}");
    }

    #[test]
    fn a_shell_is_asked_for_nothing() {
        let none = Submission {
            options: Vec::new(),
            ..submission(Some(7200))
        };
        let text = script(Scheduler::Shell, &none);
        let mut lines = text.lines().take_while(|line| line.starts_with('#'));
        assert!(
            lines.all(|line| line.starts_with("# ") || line.len() == 1 || line == "#!/bin/bash")
        );
        assert!(
            text.contains("--no-tui --time-limit 7140 --workers 4'"),
            "{text}"
        );
    }

    #[test]
    fn days_are_written_as_slurm_reads_them() {
        assert_eq!(clock(Duration::from_secs(90_061)), "1-01:01:01");
        assert_eq!(clock(Duration::from_secs(60)), "0-00:01:00");
    }
}
