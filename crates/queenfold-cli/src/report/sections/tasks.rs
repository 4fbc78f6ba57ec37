//! The tasks of the plan, and how long each took.

use crate::report::RunReport;
use crate::report::markup::{figure, key, text};
use crate::report::task_map::{self, TaskMap};

impl RunReport {
    pub(in crate::report) fn map_section(&self) -> String {
        let Some(TaskMap { svg, keys, each }) = task_map::by_time(self) else {
            return String::new();
        };
        let plan = self.info.plans.iter().find(|plan| plan.engine.counts_all());
        let plan = plan.map(|plan| plan.name.to_string()).unwrap_or_default();
        let cell = match each {
            1 => format!("Each cell is a task of the plan {plan}, in its order, row by row."),
            each => format!(
                "Each cell is {each} tasks of the plan {plan}, in its order, row by row; it is filled as far as they are counted."
            ),
        };
        let keys: String = keys
            .iter()
            .map(|(class, meaning)| key(class, meaning))
            .collect();
        let caption = format!("{}<br>Time of a task: {keys}", text(&cell));
        figure("How long each task took", &svg, "map", &caption)
    }
}
