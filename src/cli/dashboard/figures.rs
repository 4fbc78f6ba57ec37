//! The figures of a run.

use std::time::Duration;

use super::canvas::{Line, Span};
use super::parts::{figure_lines, figures_of, plain, safe};
use super::picture::View;
use crate::machine::Activity;
use crate::telemetry::{Fact, Snapshot, duration, grouped};

/// Figures with their names, as many on each line as fit.
pub fn figures(view: &View<'_>, width: u16) -> Vec<Line> {
    let Snapshot {
        progress,
        directory,
        machine,
        ..
    } = view.of;
    let facts = view.of.facts();
    let solutions = Fact::new("solutions so far", grouped(progress.solutions));
    let queue = Fact::new("queue", format!("{} batches", progress.queued));
    let mut figures = vec![plain(solutions)];
    figures.extend(figures_of(view.theme, &facts));
    figures.push(plain(queue));
    if directory.is_some() {
        figures.push(plain(facts.checkpoint()));
    }
    if progress.paused > Duration::ZERO {
        let paused = Fact::new("paused", duration(progress.paused));
        figures.push((paused, view.theme.waiting()));
    }
    figures.extend(of_machine(machine).into_iter().map(plain));
    let mut lines = figure_lines(view.theme, figures, width);
    if let Some(reason) = &progress.failure {
        lines.push(vec![Span::styled(
            safe(view.theme, reason),
            view.theme.bad(),
        )]);
    }
    lines
}

/// What the machine does, as far as its system tells.
fn of_machine(machine: &Activity) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(shares) = machine.shares {
        let mut had = format!(
            "{:.0} % this run, {:.0} % others",
            100.0 * shares.own,
            100.0 * shares.others
        );
        if shares.steal >= 0.005 {
            had += &format!(
                ", {:.0} % the host of this virtual machine",
                100.0 * shares.steal
            );
        }
        facts.push(Fact::new("CPU", had));
    }
    if let Some(mhz) = machine.mhz {
        facts.push(Fact::new("clock", format!("{:.2} GHz", mhz / 1000.0)));
    }
    if let Some(celsius) = machine.celsius {
        facts.push(Fact::new("hottest", format!("{celsius:.0} °C")));
    }
    facts
}
