//! The scripts that schedulers run.

use std::fmt::Write;
use std::time::Duration;

use super::ArrayDirectory;
use super::queue::job_name;
use super::scheduler::{Scheduler, Script};

/// What a task of an array asks for, and what it runs.
#[derive(Clone, Debug)]
pub struct Submission {
    /// This program, as a word of a shell.
    pub program: String,
    /// The cores of a task, at least 1. `None`: one, or with [`Scheduler::Shell`] what it finds.
    pub cpus: Option<u64>,
    /// The GPUs of a task.
    pub gpus: u64,
    /// The time of one attempt. `None`: what the cluster gives by default.
    pub time: Option<Duration>,
    /// Options of the scheduler, as words of a shell: `--partition=short`.
    pub options: Vec<String>,
    /// The command that brings a file home, in which `{}` stands for the file, where hosts share nothing. `None`: they see the
    /// directory of the array.
    pub put: Option<String>,
}

impl Submission {
    /// The script for `scheduler`. The path of `directory` must need no quotes.
    pub fn script(&self, scheduler: Scheduler, directory: &ArrayDirectory) -> String {
        let template = match scheduler {
            Scheduler::Slurm => include_str!("scripts/slurm.sh"),
            Scheduler::HyperQueue => include_str!("scripts/hyperqueue.sh"),
            Scheduler::Shell => include_str!("scripts/shell.sh"),
        };
        let (head, end) = template.split_once("{{attempt}}\n").unwrap_or_default();
        let template = match &self.put {
            None => [head, include_str!("scripts/attempt.sh"), end].concat(),
            Some(_) => [head, include_str!("scripts/apart.sh")].concat(),
        };
        let template = template
            .replace("{{list}}\n", include_str!("scripts/list.sh"))
            .replace("{{wait}}\n", include_str!("scripts/wait.sh"));
        let lines = template.lines();
        let lines = lines.filter_map(|line| self.filled(line, scheduler, directory));
        lines.map(|line| line + "\n").collect()
    }

    /// A line of a template with the values that it names as `{{value}}`; `None` if one of them is not asked for.
    fn filled(
        &self,
        line: &str,
        scheduler: Scheduler,
        directory: &ArrayDirectory,
    ) -> Option<String> {
        let mut pieces = line.split("{{");
        let mut filled = pieces.next()?.to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once("}}")?;
            filled += &self.value(name, scheduler, directory)?;
            filled += rest;
        }
        Some(filled)
    }

    /// A value of the templates.
    fn value(
        &self,
        name: &str,
        scheduler: Scheduler,
        directory: &ArrayDirectory,
    ) -> Option<String> {
        let array = directory.array();
        let path = directory.path().display();
        let lines = |lines: Vec<String>| (!lines.is_empty()).then(|| lines.join("\n"));
        Some(match name {
            "array" => array.to_string(),
            "path" => path.to_string(),
            "script" => {
                let gpus = self.gpus > 0;
                format!("{path}/{}", Script { scheduler, gpus }.name())
            }
            "program" => self.program.clone(),
            "name" => job_name(directory),
            "most" => (array.shards() - 1).to_string(),
            "shards" => array.shards().to_string(),
            "width" => (array.shards() - 1).to_string().len().to_string(),
            "logs" => self.put.is_none().then(|| format!("{path}/logs"))?,
            "if shared" => self.put.is_none().then(String::new)?,
            "if apart" => self.put.is_some().then(String::new)?,
            "put" => self.put.as_ref()?.replace("{}", "\"$file\""),
            "id" => blake3::hash(directory.key().ok()?.as_bytes()).to_hex()[..8].to_owned(),
            "description" => directory.description_line(),
            "key" => format!("key={}", directory.key().ok()?),
            "cpus" => self.cpus.unwrap_or(1).to_string(),
            "gpus" => (self.gpus > 0).then_some(self.gpus)?.to_string(),
            "gpu" => if self.gpus > 0 { "cuda" } else { "off" }.to_owned(),
            "clock" => clock(self.time?),
            "seconds" => self.time?.as_secs().to_string(),
            "if time" => self.time.map(|_| String::new())?,
            // Where hosts share nothing, the program ends in time by itself.
            "margin" if self.put.is_some() => return None,
            "margin" => self.margin().as_secs().to_string(),
            "options" => {
                let prefix = match scheduler {
                    Scheduler::Slurm => "#SBATCH",
                    Scheduler::HyperQueue | Scheduler::Shell => "#HQ",
                };
                let options = self.options.iter();
                lines(options.map(|option| format!("{prefix} {option}")).collect())?
            }
            "how" => self.how(scheduler),
            _ => return None,
        })
    }

    /// Flags of the program where the scheduler does not do what they ask for.
    fn how(&self, scheduler: Scheduler) -> String {
        let mut how = String::new();
        // HyperQueue gives no signal before it ends a task, and others may give none, so the program ends in time by
        // itself.
        let is_told = scheduler == Scheduler::Slurm && self.put.is_none();
        if let (false, Some(time)) = (is_told, self.time) {
            let time = time.saturating_sub(self.margin());
            let _ = write!(how, " --time-limit {}", time.as_secs().max(1));
        }
        if let (Scheduler::Shell, Some(cpus)) = (scheduler, self.cpus) {
            let _ = write!(how, " --workers {cpus}");
        }
        how
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Array;
    use queenfold::board::Size;
    use queenfold::engine::Engine;

    fn submission(seconds: Option<u64>) -> Submission {
        Submission {
            program: "/opt/queenfold".to_owned(),
            cpus: Some(4),
            gpus: 0,
            time: seconds.map(Duration::from_secs),
            options: vec!["--account=anna".to_owned()],
            put: None,
        }
    }

    fn script(scheduler: Scheduler, submission: &Submission) -> String {
        let folder = tempfile::tempdir().unwrap();
        let n = Size::new(16).unwrap();
        let array = Array::new(n, Engine::Colour, 20).unwrap();
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
            gpus: 2,
            ..submission(None)
        };
        let text = script(Scheduler::Slurm, &free);
        assert!(!text.contains("--time"), "{text}");
        assert!(text.contains("--gpus=2\n") && text.contains("'--gpu cuda --no-tui'"));
    }

    #[test]
    fn hyperqueue_is_asked_for_what_a_task_needs() {
        let text = script(Scheduler::HyperQueue, &submission(Some(7200)));
        let asked = directives(&text, "#HQ ");
        for option in [
            "--array=0-19",
            "--cpus=4",
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
