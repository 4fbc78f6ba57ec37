//! The tasks of the plan: who counted each, and how long that took.

use std::error::Error;

use crate::report::RunReport;
use crate::report::estimates;
use crate::report::markup::{figure, key, text, titled};
use crate::report::task_map::{self, TaskMap};

impl RunReport {
    pub(in crate::report) fn map_section(&self) -> String {
        let mut html = String::new();
        let plan = self.info.plans.iter().find(|plan| plan.engine.counts_all());
        let plan = plan.map(|plan| plan.name.to_string()).unwrap_or_default();
        for (map, title, what) in [
            (
                task_map::by_time(self),
                "How long each task took",
                "Time of a task:",
            ),
            (
                task_map::by_whom(self),
                "Who counted each task",
                "Counted by:",
            ),
        ] {
            let Some(TaskMap { svg, keys, each }) = map else {
                continue;
            };
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
            html += &format!(
                "<figure>{}<figcaption>{}<br>{what} {keys}</figcaption></figure>\n",
                titled(&svg, "map", title),
                text(&cell)
            );
        }
        html
    }

    pub(in crate::report) fn cost_section(&self) -> Result<String, Box<dyn Error>> {
        let Some(drawn) = estimates::costs(self)? else {
            return Ok(String::new());
        };
        let caption = format!(
            "{}{} On the line, a task took as long as the plan expected.",
            key("measured", "a task"),
            key("expected", "as expected")
        );
        Ok(figure("Expected and real time of tasks", &drawn, &caption))
    }
}
