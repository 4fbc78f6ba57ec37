//! A picture of a run, for other pages: the figures that are seen first, a solution, what was done when.

use std::error::Error;
use std::fmt::Write;

use super::RunReport;
use super::clock::Clock;
use super::drawing::{View, views};
use super::markup::text;
use super::over_time;
use super::page::{COLOURS, PICTURE};
use super::task_map;

/// The width of the picture, and of what stands at the left.
const WIDTH: u32 = View::Broad.width();
const LEFT: u32 = 540;
/// A tile.
const TILE: (u32, u32) = (LEFT / 2, 96);
/// The space above the tiles, and around all.
const TOP: u32 = 56;
const EDGE: u32 = 24;

/// Text of the picture.
const STYLE: &str = "\
svg{font-family:system-ui,sans-serif}
.soft{fill:var(--soft);font-size:14px}
.big{fill:var(--ink);font-size:24px;font-weight:700}
.board svg > rect:first-of-type{fill:none}
.board .name{fill:var(--soft)}
.page{fill:var(--paper)}
.tile{fill:var(--code)}
.paused{fill:var(--paused);opacity:.5}
.stopped{fill:var(--stopped);opacity:.5}
";

impl RunReport {
    /// The picture, as SVG.
    ///
    /// # Errors
    /// Something could not be drawn.
    pub fn svg(&self) -> Result<String, Box<dyn Error>> {
        let clock = Clock::new(self);
        let mut parts = String::new();
        let n = self.info.n();
        let _ = writeln!(
            parts,
            "<text x=\"{EDGE}\" y=\"38\" class=\"big\">{n} queens</text>"
        );
        let tiles = self.tiles(&clock);
        for (at, tile) in tiles.iter().enumerate() {
            let (column, row) = (at as u32 % 2, at as u32 / 2);
            let (x, y) = (EDGE + column * TILE.0, TOP + row * TILE.1);
            let _ = writeln!(
                parts,
                "<rect class=\"tile\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"8\"/>\
                 <text class=\"soft\" x=\"{2}\" y=\"{3}\">{4}</text>\
                 <text class=\"big\" x=\"{2}\" y=\"{5}\">{6}</text>\
                 <text class=\"soft\" x=\"{2}\" y=\"{7}\">{8}</text>",
                TILE.0 - 10,
                TILE.1 - 10,
                x + 12,
                y + 22,
                text(tile.name),
                y + 52,
                text(&tile.value),
                y + 74,
                text(&tile.note)
            );
        }
        let mut y = TOP + tiles.len().div_ceil(2) as u32 * TILE.1;
        if let Some(solution) = self.solution() {
            let side = WIDTH - LEFT - EDGE;
            let board = placed(&solution.svg, LEFT + EDGE - 10, TOP - 12, side, side);
            let _ = writeln!(parts, "<g class=\"board\">{board}</g>");
        }
        let soft = |parts: &mut String, y: u32, words: &str| {
            let _ = writeln!(
                parts,
                "<text class=\"soft\" x=\"{EDGE}\" y=\"{y}\">{words}</text>"
            );
        };
        if clock.is_drawn() && !self.tasks.is_empty() {
            let drawn = views(|view| over_time::share(self, &clock, view))?;
            soft(&mut parts, y + 22, "Share of the work that is done");
            let mut x = EDGE + 230;
            for (class, meaning, shown) in [
                ("paused", "paused", !clock.paused().is_empty()),
                (
                    "stopped",
                    "no process worked on it",
                    !clock.stopped().is_empty(),
                ),
            ] {
                if shown {
                    let _ = writeln!(
                        parts,
                        "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\"/>\
                         <text class=\"soft\" x=\"{}\" y=\"{}\">{meaning}</text>",
                        y + 11,
                        x + 17,
                        y + 22
                    );
                    x += 90;
                }
            }
            parts += &placed(&drawn.broad, 0, y + 26, WIDTH, 220);
            y += 250;
        }
        if let Some(map) = task_map::by_time(self) {
            soft(
                &mut parts,
                y + 22,
                "How long each task of the plan took: short",
            );
            let tones = map
                .keys
                .iter()
                .filter(|(class, _)| class.starts_with("tone"));
            let mut x = EDGE + 302;
            for (class, _) in tones {
                let _ = writeln!(
                    parts,
                    "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\"/>",
                    y + 11
                );
                x += 15;
            }
            let _ = writeln!(
                parts,
                "<text class=\"soft\" x=\"{}\" y=\"{}\">long</text>",
                x + 2,
                y + 22
            );
            let height = drawn_height(&map.svg, WIDTH - 2 * EDGE);
            parts += &placed(&map.svg, EDGE, y + 32, WIDTH - 2 * EDGE, height);
            y += 32 + height;
        }
        let height = y + EDGE;
        Ok(format!(
            "{PICTURE}{}\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\">\n<title>{n} queens: a run of Queenfold</title>\n\
             <style>\n{COLOURS}{STYLE}</style>\n\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n{parts}</svg>\n",
            self.mark()
        ))
    }
}

/// A drawing within another, at this place and of this size.
fn placed(svg: &str, x: u32, y: u32, width: u32, height: u32) -> String {
    let Some((head, rest)) = svg.split_once('>') else {
        return String::new();
    };
    let head: String = head
        .split('"')
        .collect::<Vec<_>>()
        .chunks(2)
        .filter_map(|pair| match pair {
            [name, value] if name.contains("viewBox=") => Some(value.to_string()),
            _ => None,
        })
        .collect();
    format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" viewBox=\"{head}\">{rest}\n"
    )
}

/// How high a drawing is that is so wide.
fn drawn_height(svg: &str, width: u32) -> u32 {
    let sides = svg
        .split_once("viewBox=\"0 0 ")
        .and_then(|(_, rest)| rest.split_once('"'));
    let sides = sides.and_then(|(sides, _)| sides.split_once(' '));
    match sides.map(|(wide, high)| (wide.parse::<u32>(), high.parse::<u32>())) {
        Some((Ok(wide), Ok(high))) => (width * high).div_ceil(wide.max(1)),
        _ => 0,
    }
}
