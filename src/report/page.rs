//! The page around the drawings: one file, nothing loaded from elsewhere.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use jiff::Timestamp;

use super::charts;
use super::{DoneTask, RunReport};
use crate::telemetry::board_flags;
use crate::telemetry::{duration, grouped, printable, rate, several};

/// How the page looks. The colours of the drawings, which `charts` gives, are replaced on dark screens.
const STYLE: &str = include_str!("page.css");

/// The most lines of a table whose length a stranger can choose.
const MOST_ROWS: usize = 200;

/// A moment in UTC: `2026-11-23 18:30:05 UTC`.
pub fn utc(unix: i64) -> String {
    match Timestamp::from_second(unix) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{unix} s after 1970"),
    }
}

/// Text that is shown as it is: characters of markup and those that are not printable are escaped.
fn text(of: &str) -> String {
    let mut safe = String::new();
    for c in printable(of).chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

/// A table: its columns, and rows of cells that are markup already.
fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = "<div class=\"wide\"><table><thead><tr>".to_owned();
    for column in columns {
        let _ = write!(html, "<th>{}</th>", text(column));
    }
    html += "</tr></thead><tbody>\n";
    for row in rows.iter().take(MOST_ROWS) {
        html += "<tr>";
        for cell in row {
            let _ = write!(html, "<td>{cell}</td>");
        }
        html += "</tr>\n";
    }
    html += "</tbody></table></div>\n";
    let more = rows.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        let _ = writeln!(html, "<p>… and {more} more.</p>");
    }
    html
}

/// Names and values, one pair on each line. Values are markup.
fn facts(of: &[(&str, String)]) -> String {
    let mut html = "<dl>\n".to_owned();
    for (name, value) in of {
        let _ = writeln!(html, "<dt>{}</dt><dd>{value}</dd>", text(name));
    }
    html + "</dl>\n"
}

/// A drawing with a line below it.
fn figure(svg: &str, caption: &str) -> String {
    format!("<figure><div class=\"wide\">{svg}</div><figcaption>{caption}</figcaption></figure>\n")
}

impl RunReport {
    /// The page. `resume` is the command that continues the run.
    ///
    /// # Errors
    /// Something could not be drawn.
    pub fn html(&self, resume: &str) -> Result<String, Box<dyn Error>> {
        let n = self.info.n();
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{n} queens: report of a run</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <h1>{n} queens</h1>\n"
        );
        let mut section = |title: &str, body: String| {
            if !body.is_empty() {
                let _ = write!(html, "<section>\n<h2>{title}</h2>\n{body}</section>\n");
            }
        };
        section("Result", self.result(resume));
        section("Verification", self.verification());
        section("Speed", self.speeds()?);
        section("Who counted when", self.lanes_section()?);
        section("ETA over time", self.eta_section()?);
        section("Expected and real cost of tasks", self.cost_section()?);
        section("Counts that differed", self.corrected_section());
        section("Hosts and processes", self.processes());
        section("What happened", self.incidents());
        section("Configuration", self.configuration());
        let _ = write!(
            html,
            "<footer>Made by {} from {} on {}.</footer>\n</body>\n</html>\n",
            text(&crate::ledger::program()),
            text(&self.directory.display().to_string()),
            utc(self.read_at)
        );
        Ok(html)
    }

    fn result(&self, resume: &str) -> String {
        let mut html = String::new();
        let (done, all) = self.status.shard_tasks;
        match &self.outcome {
            Ok(outcome) => {
                let _ = writeln!(html, "<p class=\"total\">{}</p>", grouped(outcome.total));
                html += match outcome.given.is_free() {
                    true => "<p>solutions in all",
                    false => "<p>completions in all",
                };
                if let Some(unique) = outcome.unique().map(grouped) {
                    html += &match outcome.given.is_free() {
                        true => {
                            format!(", {unique} that differ by more than a rotation or reflection")
                        }
                        false => format!(
                            ", {unique} of them up to the symmetries that fix the given board"
                        ),
                    };
                }
                html += ".</p>\n";
            }
            Err(why) => {
                let state = match (done == all, self.runs) {
                    (true, _) => "Its shard is counted",
                    (false, true) => "The run goes on",
                    (false, false) => "The run is stopped",
                };
                let _ = writeln!(
                    html,
                    "<p class=\"total\">{:.1} %</p>\n<p>{state}, and there is no total yet: {}.</p>",
                    (1000.0 * self.status.share).floor() / 10.0,
                    text(why)
                );
            }
        }
        let plans = self.info.plans.iter().map(|plan| plan.name.to_string());
        let (began, ended) = self.span();
        let mut pairs = vec![
            ("plans", text(&plans.collect::<Vec<_>>().join(", "))),
            ("tasks", format!("{done} of {all}")),
            ("began", utc(began)),
            (if self.runs { "last commit" } else { "ended" }, utc(ended)),
            ("wall time of all processes", duration(self.elapsed())),
            ("time of counting, all workers", duration(self.busy())),
        ];
        let board = &self.info.board;
        if !board.is_free() {
            let symmetries = board.symmetries();
            let given = format!(
                "{}; symmetries besides the identity: {symmetries}",
                board.brief()
            );
            pairs.insert(0, ("given on the board", text(&given)));
        }
        if self.info.shard.count() > 1 {
            pairs.push(("shard", self.info.shard.to_string()));
        }
        if let Ok(outcome) = &self.outcome
            && let Some(symmetric) = outcome.symmetric
        {
            let orbits = symmetric.orbits;
            let alone = match orbits.c1 {
                0 => String::new(),
                alone => format!("{} alone, ", grouped(alone)),
            };
            pairs.push((
                "fundamental solutions by images",
                format!(
                    "{alone}{} with 2, {} with 4, {} with 8",
                    grouped(orbits.c2),
                    grouped(orbits.c4),
                    grouped(orbits.c8)
                ),
            ));
        }
        html += &facts(&pairs);
        if self.outcome.is_err() && !self.runs && done < all {
            let _ = writeln!(html, "<p>To go on: <code>{}</code></p>", text(resume));
        }
        html
    }

    fn verification(&self) -> String {
        let counted = &self.status.counted;
        let known = match &self.outcome {
            Ok(outcome) => match outcome.is_known {
                true => "the total equals the published one",
                false => "no total of this board is published",
            },
            Err(_) => "there is no total to compare",
        };
        let checked = match &self.outcome {
            Ok(outcome) => counted.checked(outcome).to_string(),
            Err(_) => "-".to_owned(),
        };
        let engine = self.info.plans.first().map(|plan| plan.engine.name());
        let again = [
            format!(
                "queenfold run {} --engine {} --dir again",
                board_flags(&self.info.board),
                engine.unwrap_or("auto")
            ),
            "queenfold export again | tail -n 1".to_owned(),
        ];
        facts(&[
            ("checked", checked),
            ("known total", known.to_owned()),
            (
                "audited before they were recorded",
                several(self.status.audited, "task"),
            ),
            (
                "counted twice",
                format!(
                    "{} of {}, {} of them on another host, {} by another kernel",
                    counted.twice,
                    several(counted.tasks, "task"),
                    counted.on_other_host,
                    counted.by_other_kernel
                ),
            ),
            (
                "counts that differed",
                format!("{}, {} undecided", counted.corrections, counted.contested),
            ),
            (
                "sick workers",
                match self.status.sick.len() {
                    0 => "none".to_owned(),
                    _ => {
                        let sick = self.status.sick.iter();
                        let sick = sick.map(|(host, sick)| format!("{} on {host}", sick.worker));
                        text(&sick.collect::<Vec<_>>().join(", "))
                    }
                },
            ),
            (
                "signature",
                format!("<code class=\"long\">{}</code>", text(&self.signature)),
            ),
        ]) + &format!(
            "<p>The signature covers board, plans, tasks and counts, and nothing of time and place. Whoever \
             repeats the run gets the same one:</p>\n<pre>{}</pre>\n",
            again.map(|line| text(&line)).join("\n")
        )
    }

    fn speeds(&self) -> Result<String, Box<dyn Error>> {
        if self.tasks.is_empty() {
            return Ok(String::new());
        }
        let svg = charts::speed(self)?;
        Ok(figure(
            &svg,
            "Nodes per second of all workers. Yellow: pauses. Grey: no process worked on the run.",
        ) + &self.shares())
    }

    /// Share and speed by host, and by what counted.
    fn shares(&self) -> String {
        let lane = |task: &DoneTask| &self.lanes[task.lane];
        self.share_table("host", |task| lane(task).host.clone())
            + &self.share_table("kernel or device", |task| {
                lane(task).counted_by.name().to_owned()
            })
    }

    /// Share and speed of the groups into which `name` divides the tasks.
    fn share_table(&self, title: &str, name: impl Fn(&DoneTask) -> String) -> String {
        let all: f64 = self.tasks.iter().map(|task| task.nodes as f64).sum();
        let mut groups: BTreeMap<String, (u64, u64, f64)> = BTreeMap::new();
        for task in &self.tasks {
            let (tasks, nodes, seconds) = groups.entry(name(task)).or_default();
            *tasks += 1;
            *nodes += task.nodes;
            *seconds += task.seconds;
        }
        let rows = groups.into_iter().map(|(name, (tasks, nodes, seconds))| {
            let busy = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            vec![
                text(&name),
                tasks.to_string(),
                format!("{:.1} %", 100.0 * nodes as f64 / all.max(1.0)),
                rate(nodes, busy),
                duration(busy),
            ]
        });
        table(
            &[
                title,
                "tasks",
                "share of the nodes",
                "speed while counting",
                "time of counting",
            ],
            &rows.collect::<Vec<_>>(),
        )
    }

    fn lanes_section(&self) -> Result<String, Box<dyn Error>> {
        if self.lanes.is_empty() {
            return Ok(String::new());
        }
        let mut caption =
            "The darker, the more of the time a worker counted. Yellow: pauses. Grey: no \
                           process worked on the run."
                .to_owned();
        let more = self.lanes.len().saturating_sub(charts::MOST_LANES);
        if more > 0 {
            let _ = write!(caption, " {more} more workers are not drawn.");
        }
        let mut html = figure(&charts::lanes(self)?, &caption);
        if !self.timeline.pauses.is_empty() {
            let rows = self.timeline.pauses.iter().map(|(from, to, why)| {
                let took = Duration::try_from_secs_f64(to - from).unwrap_or_default();
                vec![utc(*from as i64), duration(took), text(why)]
            });
            html += &table(&["paused", "for", "because"], &rows.collect::<Vec<_>>());
        }
        Ok(html)
    }

    fn eta_section(&self) -> Result<String, Box<dyn Error>> {
        let Some(svg) = charts::eta(self)? else {
            return Ok(String::new());
        };
        Ok(figure(
            &svg,
            "Red: the time left that was told, with its 95 % interval. Blue: the true one, with pauses and \
             stops, once the run is done.",
        ))
    }

    fn cost_section(&self) -> Result<String, Box<dyn Error>> {
        let Some(svg) = charts::costs(self)? else {
            return Ok(String::new());
        };
        Ok(figure(
            &svg,
            "Each point is a task. On the red line, it took what its cost let expect.",
        ))
    }

    fn corrected_section(&self) -> String {
        if self.corrections.is_empty() {
            return String::new();
        }
        let rows = self.corrections.iter().map(|logged| {
            let by: Vec<_> = logged
                .correction
                .results()
                .map(|entry| {
                    let origin = &entry.result.origin;
                    format!("{} ({})", origin.worker, origin.counted_by)
                })
                .collect();
            let state = if logged.is_open() {
                "undecided"
            } else {
                "decided"
            };
            vec![
                text(&logged.task().to_string()),
                text(&by.join("; ")),
                state.to_owned(),
            ]
        });
        table(&["task", "counted by", ""], &rows.collect::<Vec<_>>())
    }

    fn processes(&self) -> String {
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.facts.started);
        let rows = sessions.into_iter().map(|session| {
            let facts = &session.facts;
            let devices = match facts.devices.as_slice() {
                [] => "–".to_owned(),
                devices => text(&devices.join(", ")),
            };
            vec![
                utc(facts.started),
                duration(session.elapsed),
                text(&facts.host),
                text(&facts.processor),
                format!("{} × {}", facts.workers, text(&facts.isa)),
                devices,
                text(&facts.program),
            ]
        });
        table(
            &[
                "began",
                "took",
                "host",
                "processor",
                "workers",
                "devices",
                "program",
            ],
            &rows.collect::<Vec<_>>(),
        )
    }

    fn incidents(&self) -> String {
        if self.timeline.incidents.is_empty() {
            return String::new();
        }
        let rows = self.timeline.incidents.iter();
        let rows = rows.map(|(at, what)| vec![utc(*at as i64), text(what)]);
        table(&["when", "what"], &rows.collect::<Vec<_>>())
    }

    fn configuration(&self) -> String {
        // The latest process that has one: `resume` may change settings.
        let latest = self
            .sessions
            .iter()
            .max_by_key(|session| session.facts.number);
        let latest = latest.map(|session| &session.facts.config);
        let config = latest.filter(|config| !config.is_empty());
        let config = config.unwrap_or(&self.info.config);
        let lines: Vec<_> = config.lines().map(text).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("<pre>{}</pre>\n", lines.join("\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_stranger_becomes_markup() {
        let bad = "<script>alert('x')</script>&\"\u{1b}[2J";
        let safe = text(bad);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{1b}']), "{safe}");
        let table = table(&["a"], &[vec![text(bad)]]);
        assert!(!table.contains("<script"), "{table}");
    }

    #[test]
    fn moments_are_readable() {
        assert_eq!(utc(1_700_000_000), "2023-11-14 22:13:20 UTC");
        assert_eq!(utc(i64::MAX), "9223372036854775807 s after 1970");
    }
}
