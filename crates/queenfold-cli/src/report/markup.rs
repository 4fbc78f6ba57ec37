//! Pieces of a page: escaped text, tables, lists of facts, drawings with their captions.

use std::fmt::Write;

use jiff::Timestamp;

use crate::telemetry::printable;

/// The most lines of a table whose length a stranger can choose.
const MOST_ROWS: usize = 200;

/// A moment in UTC: `2026-11-23 18:30:05 UTC`.
pub fn utc(unix: i64) -> String {
    match Timestamp::from_second(unix) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{unix} s after 1970"),
    }
}

/// Text that is shown as it is: characters of markup and those that are not printable are escaped.
pub fn text(of: &str) -> String {
    let mut safe = String::new();
    for c in printable(of).chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            c => safe.push(c),
        }
    }
    safe
}

/// A word of more letters may be broken anywhere, so that it does not take the space of other columns.
const LONG: usize = 20;

/// A name that a stranger can choose, in a table.
pub fn name(of: &str) -> String {
    let is_long = of
        .split_whitespace()
        .any(|word| word.chars().count() > LONG);
    match is_long {
        true => format!("<span class=\"long\">{}</span>", text(of)),
        false => text(of),
    }
}

/// A table: what it shows, its columns, and rows of cells that are markup already. On narrow screens each row becomes a
/// list, in which every cell has the name of its column, unless there are only two.
pub fn table(
    caption: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let class = if columns.len() > 2 { "many" } else { "two" };
    let caption = text(caption);
    let mut html = format!("<table class=\"{class}\"><caption>{caption}</caption>\n<thead><tr>");
    for column in columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", text(column));
    }
    html += "</tr></thead>\n<tbody>\n";
    let mut rows = rows.into_iter();
    for row in rows.by_ref().take(MOST_ROWS) {
        html += "<tr>";
        for (cell, column) in row.iter().zip(columns) {
            let _ = write!(html, "<td data-column=\"{}\">{cell}</td>", text(column));
        }
        html += "</tr>\n";
    }
    html += "</tbody></table>\n";
    let more = rows.count();
    if more > 0 {
        let _ = writeln!(html, "<p>… and {more} more.</p>");
    }
    html
}

/// Names and values, one pair on each line. Values are markup.
pub fn facts(of: &[(&str, String)]) -> String {
    let mut html = "<dl>\n".to_owned();
    for (name, value) in of {
        let _ = writeln!(html, "<dt>{}</dt><dd>{value}</dd>", text(name));
    }
    html + "</dl>\n"
}

/// A drawing with a title for those who do not see it and a caption for all. The caption is markup.
pub fn figure(title: &str, svg: &str, class: &str, caption: &str) -> String {
    let svg = titled(svg, class, title);
    format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n")
}

/// A drawing as a picture with a title, of this class.
pub fn titled(svg: &str, class: &str, title: &str) -> String {
    let title = text(title);
    let svg = svg.replacen(
        "<svg ",
        &format!("<svg class=\"{class}\" role=\"img\" aria-label=\"{title}\" "),
        1,
    );
    match svg.split_once('>') {
        Some((head, rest)) => format!("{head}><title>{title}</title>{rest}"),
        None => svg,
    }
}

/// The sign of a colour, and what it stands for: a part of a caption.
pub fn key(class: &str, meaning: &str) -> String {
    format!(
        "<span class=\"key\"><i class=\"{class}\"></i>{}</span>",
        text(meaning)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_stranger_becomes_markup() {
        let bad = "<script>alert('x')</script>&\"\u{1b}[2J";
        let safe = text(bad);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{1b}']), "{safe}");
        let parts = [
            table(bad, &[bad], [vec![text(bad)]]),
            facts(&[(bad, text(bad))]),
            key("measured", bad),
            name(bad),
            name(&bad.replace(' ', "")),
            titled("<svg width=\"1\"></svg>", "broad", bad),
        ];
        for part in parts {
            assert!(
                !part.contains("<script") && !part.contains('\u{1b}'),
                "{part}"
            );
        }
    }

    #[test]
    fn numbers_and_moments_are_readable() {
        assert_eq!(utc(1_700_000_000), "2023-11-14 22:13:20 UTC");
        assert_eq!(utc(i64::MAX), "9223372036854775807 s after 1970");
    }

    #[test]
    fn a_drawing_has_a_title() {
        assert_eq!(
            titled("<svg width=\"1\"><g/></svg>", "board", "1 < 2"),
            "<svg class=\"board\" role=\"img\" aria-label=\"1 &lt; 2\" width=\"1\">\
             <title>1 &lt; 2</title><g/></svg>"
        );
    }
}
