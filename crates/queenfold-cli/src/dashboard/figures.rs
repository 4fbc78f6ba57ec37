//! The figures of a run.

use super::canvas::{Line, Span, Style};
use super::parts::{flow, safe};
use super::view::View;
use crate::telemetry::{Fact, RunFacts};
use queenfold::machine::Activity;

/// Figures with their names, as many on each line as fit.
pub fn figures(view: &View<'_>, width: u16) -> Vec<Line> {
    let (theme, progress) = (view.theme, &view.of.progress);
    let facts = RunFacts::of(progress, &view.of.host).table().into_iter();
    // They stand above.
    let facts = facts.filter(|fact| !["time", "left"].contains(&fact.name));
    let parts =
        facts
            .chain(of_machine(&view.of.machine))
            .flat_map(|Fact { name, words, .. }| {
                let style = match name {
                    "corrections" | "faulty" => theme.bad(),
                    "paused" => theme.waiting(),
                    _ => Style::new(),
                };
                words.into_iter().map(move |words| {
                    vec![
                        Span::styled(format!("{name} "), theme.label()),
                        Span::styled(format!("{}   ", safe(theme, &words)), style),
                    ]
                })
            });
    let mut lines = flow(parts, width);
    if let Some(reason) = &progress.failure {
        lines.push(vec![Span::styled(safe(theme, reason), theme.bad())]);
    }
    lines
}

/// What the machine does, as far as its system tells.
fn of_machine(machine: &Activity) -> [Fact; 3] {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let cpu = machine.shares.map(|shares| {
        let [own, others, steal] = [shares.own, shares.others, shares.steal].map(percent);
        let steal = match shares.steal {
            ..0.005 => String::new(),
            _ => format!(", {steal} the host of this virtual machine"),
        };
        format!("{own} this run, {others} others{steal}")
    });
    let clock = machine.mhz.map(|mhz| format!("{:.2} GHz", mhz / 1000.0));
    let hottest = machine.celsius.map(|celsius| format!("{celsius:.0} °C"));
    [
        Fact::new("CPU", cpu),
        Fact::new("clock", clock),
        Fact::new("hottest", hottest),
    ]
}
