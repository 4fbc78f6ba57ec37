//! What was counted and when, a solution, and the result in detail.

use crate::report::clock::Clock;
use crate::report::markup::{facts, table, text, titled, utc};
use crate::report::{RunReport, board_svg};
use queenfold::board::Orbits;
use queenfold::solve::{Choice, solve};
use queenfold::words::{board_flags, grouped, several};

/// The seed of the random solution: everybody who draws it gets the same.
const SEED: u64 = 1;

impl RunReport {
    /// What was counted and when, in a line below the title of the page.
    pub(in crate::report) fn subtitle(&self, clock: &Clock) -> String {
        let (began, ended) = (clock.start as i64, clock.end as i64);
        let state = match (&self.outcome, self.runs) {
            (Ok(_), _) => format!("Counted from {} to {}.", utc(began), utc(ended)),
            (Err(why), runs) => {
                let state = match (self.status.is_done(), runs) {
                    (true, _) => "This shard is counted",
                    (false, true) => "The run goes on",
                    (false, false) => "The run is stopped",
                };
                format!(
                    "{state}, and there is no total yet: {why}. Begun {}, last checkpoint {}.",
                    utc(began),
                    utc(ended)
                )
            }
        };
        let board = &self.info.board;
        let given = match board.is_free() {
            true => String::new(),
            false => format!("Given on the board: {}. ", board.brief()),
        };
        format!("<p class=\"subtitle\">{}</p>\n", text(&(given + &state)))
    }

    /// One of the solutions that were counted; nothing if there is none.
    pub(in crate::report) fn solution_section(&self) -> String {
        if !self.outcome.as_ref().is_ok_and(|outcome| outcome.total > 0) {
            return String::new();
        }
        let board = self.info.board;
        let boards = solve(&board, 1, Choice::Random { seed: SEED }).boards;
        let (queens, one) = match board.is_free() {
            true => (format!("{} queens", board.size()), "One of the solutions"),
            false => (
                "The given board".to_owned(),
                "One of the completions; given queens are red",
            ),
        };
        let flags = board_flags(&board);
        let command = format!("queenfold solve {flags} --seed {SEED} --svg");
        format!(
            "<figure class=\"solution\">{}<figcaption>{one}, drawn at random: <code>{}</code></figcaption></figure>\n",
            titled(
                &board_svg(&board, &boards),
                "board",
                &format!("{queens}, none of which attacks another")
            ),
            text(&command)
        )
    }

    pub(in crate::report) fn symmetry_section(&self) -> String {
        let Ok(outcome) = &self.outcome else {
            return String::new();
        };
        let Some(symmetric) = outcome.symmetric else {
            return String::new();
        };
        let Orbits { c1, c2, c4, c8 } = symmetric.orbits;
        let free = outcome.given.is_free();
        let kinds = [
            (1, c1, "every turn and reflection"),
            (2, c2, "quarter turn"),
            (4, c4, "half turn"),
            (8, c8, "none"),
        ];
        let rows: Vec<_> = kinds
            .into_iter()
            .filter(|(_, unique, _)| *unique > 0)
            .map(|(images, unique, meaning)| {
                let mut row = vec![
                    grouped(unique),
                    images.to_string(),
                    grouped(unique * images),
                ];
                if free {
                    row.insert(0, meaning.to_owned());
                }
                row
            })
            .collect();
        let columns = ["symmetry", "unique", "boards each", "boards in all"];
        let columns = if free { &columns[..] } else { &columns[1..] };
        if rows.is_empty() {
            return String::new();
        }
        table(
            "Rotations and reflections make several boards of one unique solution",
            columns,
            rows,
        )
    }

    /// How to go on with a run that is not finished: `resume` is the command.
    pub(in crate::report) fn next_step(&self, resume: &str) -> String {
        match self.outcome.is_err() && !self.runs && !self.status.is_done() {
            true => format!("<p>To go on: <code>{}</code></p>\n", text(resume)),
            false => String::new(),
        }
    }

    pub(in crate::report) fn plan_facts(&self) -> String {
        let plans = self.info.plans.iter();
        let plans = plans.map(|plan| format!("{} ({})", plan.name, several(plan.tasks, "task")));
        let mut pairs = vec![(
            "how the work was divided",
            text(&plans.collect::<Vec<_>>().join(", ")),
        )];
        let board = &self.info.board;
        if !board.is_free() {
            let symmetries = board.symmetries().to_string();
            pairs.push(("symmetries of the given board", text(&symmetries)));
        }
        if self.info.shard.count() > 1 {
            let shard = self.info.shard;
            pairs.push(("part of a larger run", format!("shard {shard}")));
        }
        facts(&pairs)
    }
}
