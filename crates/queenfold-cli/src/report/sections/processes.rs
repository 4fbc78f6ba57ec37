//! The processes that worked on the run, what happened to them, and what they were told.

use crate::report::RunReport;
use crate::report::markup::{name, table, text, utc};
use queenfold::words::duration;

impl RunReport {
    pub(in crate::report) fn processes_section(&self) -> String {
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|session| session.facts.started);
        let columns = [
            "began",
            "took",
            "host",
            "processor",
            "workers",
            "devices",
            "program",
        ];
        let rows: Vec<Vec<String>> = sessions
            .into_iter()
            .map(|session| {
                let facts = &session.facts;
                let devices = match facts.devices.as_slice() {
                    [] => "–".to_owned(),
                    devices => name(&devices.join(", ")),
                };
                let is_told = facts.is_of_certificate();
                let known = |text: String| if is_told { "–".to_owned() } else { text };
                vec![
                    utc(facts.started),
                    known(duration(session.elapsed)),
                    name(&facts.host),
                    name(&facts.processor),
                    known(format!("{} × {}", facts.workers, text(&facts.isa))),
                    devices,
                    text(&facts.program),
                ]
            })
            .collect();
        table("Processes that worked on the run", &columns, rows)
    }

    pub(in crate::report) fn incidents_section(&self) -> String {
        if self.timeline.incidents.is_empty() {
            return String::new();
        }
        let rows = self.timeline.incidents.iter();
        let rows = rows.map(|(at, what)| vec![utc(*at as i64), text(what)]);
        table("Events of the run", &["when", "what"], rows)
    }

    pub(in crate::report) fn configuration_section(&self) -> String {
        // The latest process that has one: `resume` may change settings.
        let told = self.sessions.iter().map(|session| &session.facts);
        let told = told.filter(|facts| !facts.config.is_empty());
        let latest = told.max_by_key(|facts| facts.number);
        let config = latest.map_or(&self.info.config, |facts| &facts.config);
        let lines: Vec<_> = config.lines().map(text).collect();
        match lines.is_empty() {
            true => String::new(),
            false => format!("<pre>{}</pre>\n", lines.join("\n")),
        }
    }
}
