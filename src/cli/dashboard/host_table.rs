//! The table of the hosts of a run that many count.

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use super::parts::{safe, share_of};
use super::table::{Column, Rows};
use super::theme::Theme;
use crate::actors::{HostProgress, Progress};
use crate::cli::print::process_lines::{SILENT, does};
use crate::telemetry::{duration, grouped, speed};

const COLUMNS: [Column; 9] = [
    ("host", 16, Alignment::Left),
    ("does", 18, Alignment::Left),
    ("speed", 13, Alignment::Right),
    ("share", 7, Alignment::Right),
    ("holds", 7, Alignment::Right),
    ("tasks", 8, Alignment::Right),
    ("cores", 5, Alignment::Right),
    ("devices", 7, Alignment::Right),
    ("since", 8, Alignment::Right),
];

/// Draws the hosts that take part and then those that are gone, from `first` on. Returns the first one that is shown.
pub fn draw_hosts(
    frame: &mut Frame<'_>,
    theme: Theme,
    area: Rect,
    progress: &Progress,
    first: usize,
) -> usize {
    let hosts: Vec<_> = progress
        .hosts
        .iter()
        .flatten()
        .chain(&progress.gone)
        .collect();
    let all = hosts.iter().map(|host| host.nodes).sum();
    let rows = Rows {
        columns: &COLUMNS,
        titles: COLUMNS.map(|column| column.0.into()),
        count: hosts.len(),
        none: "no host takes part at the moment",
    };
    rows.draw(frame, theme, area, first, |index| {
        let host = hosts[index];
        let style = match host {
            _ if host.sick > 0 || host.gone.is_some() => theme.bad(),
            _ if host.silent > SILENT || host.paused || host.tasks_held == 0 => theme.waiting(),
            _ => Style::new(),
        };
        (cells(theme, host, all).map(Line::from), style)
    })
}

/// What the table says of a host. All of them searched `all` nodes.
fn cells(theme: Theme, host: &HostProgress, all: u64) -> [String; COLUMNS.len()] {
    [
        safe(theme, &host.host),
        safe(theme, &does(host)),
        match host.gone {
            None => speed(host.nodes_per_second()),
            Some(_) => "-".to_owned(),
        },
        share_of(host.nodes, all),
        grouped(host.tasks_held),
        grouped(host.tasks),
        host.cpu_workers.to_string(),
        host.devices.to_string(),
        duration(host.joined),
    ]
}
