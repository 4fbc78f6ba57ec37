//! The status of a run or of a job array.

use serde_json::Value as Json;

use crate::telemetry::{Fact, printable};

/// The status of a run or an array at one moment.
pub struct StatusReport {
    /// What it is about, in a line.
    pub title: String,
    /// The same for programs: an object.
    pub json: Json,
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
        let mut json = self.json.clone();
        for (key, value) in self.facts.iter().flat_map(|fact| &fact.json) {
            json[*key] = value.clone();
        }
        json
    }
}
