//! The status of a run or of a job array.

use serde_json::Value as Json;

use crate::telemetry::{Fact, printable};

/// The status of a run or an array at one moment.
pub struct StatusReport {
    /// What it is about, in a line.
    pub title: String,
    /// The same for programs.
    pub about: Fact,
    /// The lines below the title.
    pub facts: Vec<Fact>,
    /// Whether nothing will change any more.
    pub is_last: bool,
}

impl StatusReport {
    /// For people. Some of it says what the directory of a stranger says.
    pub fn text(&self) -> String {
        let facts = self.facts.iter().flat_map(Fact::lines);
        let lines = std::iter::once(self.title.clone()).chain(facts);
        let lines: Vec<_> = lines.map(|line| printable(&line)).collect();
        lines.join("\n")
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let facts = std::iter::once(&self.about).chain(&self.facts);
        let values = facts.flat_map(|fact| fact.json.iter().cloned());
        values.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
