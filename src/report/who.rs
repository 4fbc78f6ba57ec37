//! Those who counted, and the colour that each of them has in every drawing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::RunReport;

/// The most that have colours of their own; if there are more, the last one is that of all others.
pub const COLOURS: usize = 7;

/// The machines that counted, or the workers and devices if there is one machine.
pub struct Who {
    /// Their names and how many tasks they counted, those with colours of their own in the order of these.
    pub own: Vec<(String, u64)>,
    /// How many others there are, and their tasks.
    pub others: (usize, u64),
    /// The colour of each lane of the report, below [`COLOURS`].
    pub of_lanes: Vec<usize>,
}

impl Who {
    /// Those who counted a run. Tasks are those of the plan that counts all solutions.
    pub fn of(report: &RunReport) -> Self {
        let lanes = &report.lanes;
        let several = lanes.windows(2).any(|pair| pair[0].host != pair[1].host);
        let names: Vec<String> = lanes
            .iter()
            .map(|lane| match several {
                true => lane.host.clone(),
                false => lane.worker.to_string(),
            })
            .collect();
        let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
        for task in report.tasks.iter().filter(|task| task.engine.counts_all()) {
            *counted.entry(&names[task.lane]).or_default() += 1;
        }
        // Those who counted most have colours of their own.
        let mut order: Vec<_> = counted.into_iter().collect();
        order.sort_by_key(|(_, tasks)| Reverse(*tasks));
        let own = match order.len() {
            ..COLOURS => order.len(),
            _ => COLOURS - 1,
        };
        let colour = |name: &String| {
            let place = order.iter().take(own).position(|(other, _)| other == name);
            place.unwrap_or(COLOURS - 1)
        };
        Self {
            of_lanes: names.iter().map(colour).collect(),
            others: (
                order.len() - own,
                order.iter().skip(own).map(|(_, tasks)| tasks).sum(),
            ),
            own: order
                .iter()
                .take(own)
                .map(|(name, tasks)| ((*name).to_owned(), *tasks))
                .collect(),
        }
    }
}
