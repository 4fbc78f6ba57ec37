//! The page around the sections: one file, nothing loaded from elsewhere.

use std::fmt::Write;

use super::RunReport;
use super::clock::Clock;
use super::markup::{text, utc};
use super::over_time;

/// Colours, for light and dark screens and for paper.
const COLOURS: &str = include_str!("colours.css");

/// How the page looks.
const STYLE: &str = include_str!("page.css");

/// What a page begins with, up to its mark.
const PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
     <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
     <meta name=\"color-scheme\" content=\"light dark\">\n\
     <meta name=\"queenfold-run\" content=\"";

impl RunReport {
    /// The page. `resume` is the command that continues the run, `again` the one that counts it a second time.
    pub fn html(&self, resume: &str, again: &str) -> String {
        let n = self.info.n();
        let clock = Clock::new(self);
        let mut html = format!(
            "{PAGE}{}\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{n} queens: report of a run</title>\n<style>\n{COLOURS}{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{n} queens</h1>\n{}{}{}",
            self.marks().next().unwrap_or_default(),
            self.subtitle(&clock),
            self.tiles_section(&clock),
            self.next_step(resume),
        );
        let mut section = |title: &str, body: String| {
            if !body.is_empty() {
                let _ = write!(html, "<section>\n<h2>{title}</h2>\n{body}</section>\n");
            }
        };
        let solutions = self.solution_section() + &self.symmetry_section();
        if !solutions.is_empty() {
            section(
                "Solutions",
                format!("<div class=\"beside\">{solutions}</div>\n"),
            );
        }
        let share = match clock.is_drawn() || self.tasks.is_empty() {
            true => self.measured_section(
                &clock,
                over_time::share,
                "Share of the work that is done, over time",
                "share of the work that is done",
            ),
            false => "<p>The run is too short for drawings over time: tasks are recorded to the second.</p>\n".to_owned(),
        };
        section("Share done over time", share);
        let speed = self.measured_section(
            &clock,
            over_time::speed,
            "Nodes per second, over time",
            "nodes per second, of all workers together",
        );
        section("Speed over time", speed);
        section("Time left, as it was predicted", self.eta_section(&clock));
        section("Map of the tasks", self.plan_facts() + &self.map_section());
        section("Who counted", self.lanes_section(&clock));
        section("How it was checked", self.checks_section(again));
        section("Processes", self.processes_section());
        section("What happened", self.incidents_section());
        // Long, and seldom read.
        let configuration = self.configuration_section();
        if !configuration.is_empty() {
            let _ = write!(
                html,
                "<section>\n<details><summary>Configuration</summary>\n{configuration}</details>\n</section>\n"
            );
        }
        let _ = write!(
            html,
            "</main>\n<footer>Made by {} from {} on {}.</footer>\n</body>\n</html>\n",
            text(&queenfold_ledger::ledger::program()),
            text(&self.directory.display().to_string()),
            utc(self.read_at)
        );
        html
    }

    /// What tells a page of this run from those of others: its first process has a name like no other. When a page was made,
    /// the run may have had no process yet, or another one that was the first, so that there are several.
    fn marks(&self) -> impl Iterator<Item = String> {
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| (session.facts.started, &session.id));
        let (key, shard) = (self.info.key(), self.info.shard);
        let names = sessions.into_iter().map(|session| session.id.as_str());
        let mark = move |name| format!("queenfold run {key} {} {shard}", text(name));
        names.chain([""]).map(mark)
    }

    /// What the pages of this run begin with.
    pub fn beginnings(&self) -> Vec<String> {
        let marks = self.marks();
        marks.map(|mark| format!("{PAGE}{mark}\"")).collect()
    }
}
