//! A screen as an SVG, in the light or dark colours that the reader's page has. Blocks and dots are drawn, because fonts
//! differ in them.

use std::collections::BTreeSet;
use std::fmt::Write;

use crossterm::style::{Attribute, Color};

use crate::dashboard::canvas::{Canvas, Style};

/// Pixels of a character, and of the margin.
const WIDE: f64 = 8.4;
const HIGH: f64 = 18.0;
const MARGIN: f64 = 12.0;

const HEAD: &str = "\
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:var(--t)}
svg{--p:#fff;--t:#1f2328;--l:#6e7781;--g:#1a7f37;--y:#9a6700;--r:#cf222e;--b:#0969da;--c:#1b7c83}
@media(prefers-color-scheme:dark){
svg{--p:#0d1117;--t:#d1d7e0;--l:#8b949e;--g:#3fb950;--y:#d29922;--r:#f85149;--b:#58a6ff;--c:#39c5cf}}
.p{fill:var(--p)}.l{fill:var(--l)}.g{fill:var(--g)}.y{fill:var(--y)}.r{fill:var(--r)}.b{fill:var(--b)}.c{fill:var(--c)}
.B{font-weight:bold}.d{stroke:var(--g);stroke-width:2.6;stroke-dasharray:2.6 1.9}
</style>
";

/// The class of a colour of the theme.
fn class(style: Style) -> &'static str {
    match style.foreground_color {
        Some(Color::DarkGrey) => "l",
        Some(Color::DarkGreen) => "g",
        Some(Color::DarkYellow) => "y",
        Some(Color::DarkRed) => "r",
        Some(Color::DarkBlue) => "b",
        Some(Color::DarkCyan) => "c",
        _ => "",
    }
}

/// How much of its place a block fills from below, and how opaque it is.
fn block(symbol: char) -> Option<(f64, f64)> {
    let eighths = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let lower = eighths.iter().position(|block| *block == symbol);
    match symbol {
        '░' => Some((1.0, 0.35)),
        '▒' => Some((1.0, 0.65)),
        _ => lower.map(|at| ((at + 1) as f64 / 8.0, 1.0)),
    }
}

/// The dots of a Braille character: columns and lines from the upper left one.
fn dots(symbol: char) -> Option<Vec<(usize, usize)>> {
    let bits = (symbol as u32).checked_sub(0x2800)?;
    let places = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
        (0, 3),
        (1, 3),
    ];
    let set = places.iter().enumerate();
    let set = set.filter(|(bit, _)| bits >> bit & 1 != 0);
    (bits < 256).then(|| set.map(|(_, place)| *place).collect())
}

/// The screen as a picture.
pub fn picture(screen: &Canvas, title: &str) -> String {
    let (columns, rows) = (screen.area().width, screen.area().height);
    let width = f64::from(columns) * WIDE + 2.0 * MARGIN;
    let height = f64::from(rows) * HIGH + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         aria-label=\"{title}\">\n<title>{title}</title>\n{HEAD}<rect class=\"p\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n"
    );
    let mut dotted = BTreeSet::new();
    for row in 0..rows {
        let y = MARGIN + f64::from(row) * HIGH;
        let mut column = 0;
        while column < columns {
            let begin = column;
            let of = |column: u16| {
                let (character, style) = screen.row(row)[usize::from(column)];
                (character.unwrap_or(' '), style)
            };
            let (symbol, style) = of(begin);
            let x = MARGIN + f64::from(begin) * WIDE;
            let class = class(style);
            if let Some(dots) = dots(symbol) {
                dotted.extend(dots.into_iter().map(|(across, down)| {
                    (2 * usize::from(begin) + across, 4 * usize::from(row) + down)
                }));
                column += 1;
            } else if symbol == '│' {
                // Of text, it would have gaps.
                let middle = x + WIDE / 2.0 - 0.5;
                writeln!(svg, "<rect class=\"{class}\" x=\"{middle:.1}\" y=\"{y:.1}\" width=\"1\" height=\"{HIGH}\"/>").unwrap();
                column += 1;
            } else if let Some((full, opacity)) = block(symbol) {
                while column < columns && of(column) == (symbol, style) {
                    column += 1;
                }
                let wide = f64::from(column - begin) * WIDE;
                let (top, high) = (y + HIGH * (1.0 - full), HIGH * full);
                let faint = match opacity < 1.0 {
                    true => format!(" opacity=\"{opacity}\""),
                    false => String::new(),
                };
                writeln!(svg, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"{faint}/>").unwrap();
            } else {
                let mut text = String::new();
                while column < columns {
                    let (symbol, other) = of(column);
                    let is_text =
                        symbol != '│' && dots(symbol).is_none() && block(symbol).is_none();
                    if !is_text || (other != style && symbol != ' ') || text.ends_with("  ") {
                        break;
                    }
                    text.push(symbol);
                    column += 1;
                }
                let bold = style.attributes.has(Attribute::Bold);
                let text = text.trim_end();
                if !text.trim().is_empty() {
                    let length = text.chars().count() as f64 * WIDE;
                    let text = text.replace('&', "&amp;").replace('<', "&lt;");
                    let bold = if bold { " B" } else { "" };
                    let base = y + 13.5;
                    writeln!(svg, "<text class=\"{class}{bold}\" x=\"{x:.1}\" y=\"{base:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\">{text}</text>").unwrap();
                }
            }
        }
    }
    // One line for each run of dots above one another.
    let mut path = String::new();
    for &(across, down) in &dotted {
        if down > 0 && dotted.contains(&(across, down - 1)) {
            continue;
        }
        let run = (down..).take_while(|down| dotted.contains(&(across, *down)));
        let x = MARGIN + (across as f64 + 0.5) * WIDE / 2.0;
        let top = MARGIN + down as f64 * HIGH / 4.0 + 1.0;
        let end = top + (run.count() as f64 - 1.0) * HIGH / 4.0 + 2.6;
        write!(path, "M{x:.1} {top:.1}V{end:.1}").unwrap();
    }
    write!(svg, "<path class=\"d\" d=\"{path}\"/>\n</svg>\n").unwrap();
    svg
}
