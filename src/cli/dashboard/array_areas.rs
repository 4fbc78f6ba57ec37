//! Where the parts of the screen of a job array stand.

use ratatui::layout::{Constraint, Layout, Rect};

use super::map_panel::lines as lines_of_map;

/// The areas of the parts. One for which there is no room has no height.
pub struct ArrayAreas {
    /// What is counted.
    pub title: Rect,
    /// The share done.
    pub share: Rect,
    /// Figures.
    pub figures: Rect,
    /// The picture of the speed.
    pub speed: Rect,
    /// The map of the shards.
    pub map: Rect,
    /// The table of the running shards.
    pub table: Rect,
    /// The hosts.
    pub hosts: Rect,
    /// How to go on, and the keys.
    pub footer: Rect,
}

/// How many lines the parts would fill.
pub struct Wanted {
    /// Figures.
    pub figures: usize,
    /// The footer.
    pub footer: usize,
    /// Shards.
    pub shards: usize,
    /// Rows of the table, with its header.
    pub rows: usize,
    /// Hosts.
    pub hosts: usize,
}

impl ArrayAreas {
    /// On a screen of this size. What is less important goes first: hosts, the map, the speed, figures.
    pub fn new(screen: Rect, wanted: &Wanted) -> Self {
        let lines = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let footer = lines(wanted.footer);
        let room = screen.height.saturating_sub(2 + footer);
        let figures = lines(wanted.figures).min(room);
        let room = room - figures;
        let mut speed = if room >= 12 { 6 } else { 0 };
        let room = room - speed;
        // The table needs three lines at least, the map and the hosts one and a frame.
        let rows = lines(wanted.rows);
        let table = rows.min(3);
        let hosts = match lines(wanted.hosts) {
            hosts @ 1.. if room >= table + 6 => hosts.saturating_add(2).min(room - table - 3),
            _ => 0,
        };
        let room = room - hosts;
        let map = if room >= table + 3 {
            let most = room.saturating_sub(rows).clamp(3, 12);
            lines_of_map(wanted.shards, screen.width.saturating_sub(2), most - 2) + 2
        } else {
            0
        };
        let spare = (room - map).saturating_sub(rows);
        speed += spare.min(2 * speed);
        let [title, share, figures, speed, map, table, hosts, footer] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(figures),
            Constraint::Length(speed),
            Constraint::Length(map),
            Constraint::Min(0),
            Constraint::Length(hosts),
            Constraint::Length(footer),
        ])
        .areas(screen);
        Self {
            title,
            share,
            figures,
            speed,
            map,
            table,
            hosts,
            footer,
        }
    }
}
