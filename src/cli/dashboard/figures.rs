//! The figures of a run.

use std::time::Duration;

use ratatui::text::Line;

use super::parts::{figure_lines, figures_of, plain, safe};
use crate::machine::Activity;
use crate::telemetry::{Fact, Snapshot, duration, grouped};

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
    let facts = view.of.facts();
    let (first, waiting) = match &progress.hosts {
        // What was found before the coordinator began is not added up.
        Some(hosts) => {
            let held: u64 = hosts.iter().map(|host| host.tasks_held).sum();
            (facts.by(), Fact::new("held by hosts", grouped(held)))
        }
        None => (
            Fact::new("solutions so far", grouped(progress.solutions)),
            Fact::new("queue", format!("{} batches", progress.queued)),
        ),
    };
    let mut figures = vec![plain(first)];
    if !progress.gone.is_empty() {
        let gone = Fact::new("gone", progress.gone.len().to_string());
        figures.push((gone, view.theme.bad()));
    }
    figures.extend(figures_of(view.theme, &facts));
    figures.push(plain(waiting));
    if directory.is_some() {
        figures.push(plain(facts.checkpoint()));
    }
    if progress.paused > Duration::ZERO {
        let paused = Fact::new("paused", duration(progress.paused));
        figures.push((paused, view.theme.waiting()));
    }
    let own = match view.of.served {
        Some(_) => "this coordinator",
        None => "this run",
    };
    figures.extend(of_machine(machine, own).into_iter().map(plain));
    let mut lines = figure_lines(view.theme, figures, width);
    if let Some(reason) = &progress.failure {
        lines.push(Line::styled(safe(view.theme, reason), view.theme.bad()));
    }
    lines
}

/// What the machine does, as far as its system tells. `own`: whose share of the processors is told.
fn of_machine(machine: &Activity, own: &str) -> Vec<Fact> {
    let mut facts = Vec::new();
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
