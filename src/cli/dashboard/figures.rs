//! The figures of a run.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::Line;

use super::parts::{Figure, figure_lines, safe, speed};
use crate::machine::Activity;
use crate::telemetry::{Snapshot, duration, grouped};

/// A run as it is drawn.
type View<'a> = super::picture::View<'a, Snapshot>;

/// Figures with their names, as many on each line as fit.
pub fn figures(view: &View<'_>, width: u16) -> Vec<Line<'static>> {
    let Snapshot {
        progress,
        directory,
        machine,
        ..
    } = view.of;
    let tasks = match progress.tasks_total {
        Some(total) => format!("{} of {}", grouped(progress.tasks_done), grouped(total)),
        None => grouped(progress.tasks_done),
    };
    let speed = speed(progress.speed.nodes_per_second());
    let mut figures = match &progress.hosts {
        // What was found before the coordinator began is not added up.
        Some(hosts) => {
            let held: u64 = hosts.iter().map(|host| host.tasks_held).sum();
            let mut figures = vec![
                ("hosts", hosts.len().to_string(), Style::new()),
                ("speed", speed, Style::new()),
                ("tasks", tasks, Style::new()),
                ("held by hosts", grouped(held), Style::new()),
            ];
            if !progress.gone.is_empty() {
                let gone = progress.gone.len().to_string();
                figures.insert(1, ("gone", gone, view.theme.bad()));
            }
            figures
        }
        None => vec![
            (
                "solutions so far",
                grouped(progress.solutions),
                Style::new(),
            ),
            ("speed", speed, Style::new()),
            ("tasks", tasks, Style::new()),
            (
                "queue",
                format!("{} batches", progress.queued),
                Style::new(),
            ),
            ("audits", grouped(progress.audited), Style::new()),
        ],
    };
    if directory.is_some() {
        let age = progress
            .checkpoint
            .map(|at| progress.elapsed.saturating_sub(at));
        let age = age.map_or("none yet".to_owned(), |age| {
            format!("{} ago", duration(age))
        });
        figures.push(("checkpoint", age, Style::new()));
    }
    if progress.paused > Duration::ZERO {
        figures.push(("paused", duration(progress.paused), view.theme.waiting()));
    }
    if progress.corrected > 0 {
        figures.push(("corrected", grouped(progress.corrected), view.theme.bad()));
    }
    for sick in &progress.taken_out {
        figures.push(("counted wrongly", sick.worker.to_string(), view.theme.bad()));
    }
    let own = match view.of.served {
        Some(_) => "this coordinator",
        None => "this run",
    };
    figures.extend(of_machine(machine, own));
    let mut lines = figure_lines(view.theme, figures, width);
    if let Some(reason) = &progress.failure {
        lines.push(Line::styled(safe(view.theme, reason), view.theme.bad()));
    }
    lines
}

/// What the machine does, as far as its system tells. `own`: whose share of the processors is told.
fn of_machine(machine: &Activity, own: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(shares) = machine.shares {
        let mut had = format!(
            "{:.0} % {own}, {:.0} % others",
            100.0 * shares.own,
            100.0 * shares.others
        );
        if shares.steal >= 0.005 {
            had += &format!(
                ", {:.0} % the host of this virtual machine",
                100.0 * shares.steal
            );
        }
        figures.push(("CPU", had, Style::new()));
    }
    if let Some(mhz) = machine.mhz {
        figures.push(("clock", format!("{:.2} GHz", mhz / 1000.0), Style::new()));
    }
    if let Some(celsius) = machine.celsius {
        figures.push(("hottest", format!("{celsius:.0} °C"), Style::new()));
    }
    figures
}
