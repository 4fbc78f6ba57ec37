//! What boards take is written once, in docs/PERFORMANCE.md, and the README's table and the pictures agree with it.

use std::fs;
use std::path::Path;

use queenfold::board::KNOWN;
use regex::Regex;

use crate::common::{ROOT, text_of};

type Table<'a> = Vec<Vec<&'a str>>;

/// The page that has the figures, split into the section with them and the rest.
fn performance() -> (String, String) {
    let page = text_of("docs/PERFORMANCE.md");
    let (before, rest) = page.split_once("\n## What boards take\n").unwrap();
    let (section, after) = rest.split_once("\n## ").unwrap();
    (section.to_owned(), format!("{before}\n\n{after}"))
}

/// The tables of a text whose first column is n: the headings, then the rows.
fn tables(text: &str) -> Vec<Table<'_>> {
    let blocks = text.split("\n\n");
    let blocks = blocks.filter(|block| block.starts_with("| n |"));
    let table = |block| {
        let rows = str::lines(block).filter(|row| !row.starts_with("|---"));
        let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim));
        cells.map(Iterator::collect).collect()
    };
    blocks.map(table).collect()
}

/// What a table has of a board in the column with a heading.
fn cell<'a>(table: &Table<'a>, heading: &str, n: &str) -> &'a str {
    let column = table[0].iter().position(|cell| *cell == heading);
    let row = table.iter().find(|row| row[0] == n);
    row.expect("a row of the board")[column.expect("the column")]
}

/// The number that a text is.
fn number(text: &str) -> f64 {
    let number = text.replace(',', "");
    number.parse().expect(text)
}

/// What a pattern finds in a text: numbers.
fn found<const N: usize>(text: &str, pattern: &str) -> [f64; N] {
    let captures = Regex::new(pattern).unwrap().captures(text);
    let captures = captures.unwrap_or_else(|| panic!("no {pattern} in {text}"));
    std::array::from_fn(|at| number(&captures[at + 1]))
}

#[test]
fn the_table_of_the_readme_has_the_times_of_the_page_and_their_ratios() {
    let (section, readme) = (performance().0, text_of("README.md"));
    for row in &tables(&readme)[0][1..] {
        assert_eq!(row[1], cell(&tables(&section)[0], "Zen 4, AVX-512", row[0]));
        for other in row[2..].iter().filter(|cell| **cell != "–") {
            let [seconds, times] = found(other, r"^([\d.]+) \((\d+) times\)$");
            let ratio = seconds / number(row[1]);
            assert!((times / ratio - 1.0).abs() < 0.07, "{other}: {ratio}");
        }
    }
}

/// The figures of the page with their boards, as another page would write them: short ones with a unit.
fn figures(section: &str) -> Vec<(&str, String)> {
    let mut figures = Vec::new();
    for (table, unit) in tables(section).iter().zip(["s", "core-hours"]) {
        for row in &table[1..] {
            let cells = row[1..].iter();
            for figure in cells.filter(|cell| cell.starts_with(char::is_numeric)) {
                let digits = figure.trim_start_matches(['0', '.']);
                let is_long = digits.matches(char::is_numeric).count() > 2;
                let figure = match is_long || figure.contains(' ') {
                    true => (*figure).to_owned(),
                    false => format!("{figure} {unit}"),
                };
                figures.push((row[0], figure));
            }
        }
    }
    figures
}

/// The figures that a page says of their boards, in a paragraph or a row of a table.
fn told<'a>(page: &str, figures: &'a [(&str, String)]) -> Vec<&'a (&'a str, String)> {
    let blocks = page.split("\n\n");
    let others = blocks.filter(|block| !block.starts_with("| n | Queenfold |"));
    let words = |part: &str| {
        let words = part.split_whitespace();
        let bare = words.map(|word| word.trim_matches(['`', '*', '(', ')', ',', '.', ';', ':']));
        bare.fold(" ".to_owned(), |line, word| line + word + " ")
    };
    let parts = others.flat_map(|block| block.split("\n|").map(words));
    let parts: Vec<String> = parts.collect();
    let is_told = |(n, figure): &&(&str, String)| {
        let of_board = [("", "queens "), ("n = ", ""), ("-n ", ""), ("", "| ")];
        of_board.iter().any(|(before, after)| {
            let board = format!(" {before}{n} {after}");
            let tells =
                |part: &String| part.contains(&board) && part.contains(&format!(" {figure} "));
            parts.iter().any(tells)
        })
    };
    figures.iter().filter(is_told).collect()
}

#[test]
fn no_other_page_says_what_a_board_takes() {
    let (section, rest) = performance();
    let figures = figures(&section);
    assert!(figures.len() >= 30, "{figures:?}");
    let folders = ["", "docs"].map(|folder| fs::read_dir(Path::new(ROOT).join(folder)).unwrap());
    let files = folders.into_iter().flatten();
    for path in files.map(|file| file.unwrap().path()) {
        let page = match path.file_name().and_then(|name| name.to_str()) {
            Some("PERFORMANCE.md") => rest.clone(),
            Some(name) if name.ends_with(".md") && name != "CHANGELOG.md" => {
                fs::read_to_string(&path).unwrap()
            }
            _ => continue,
        };
        let twice = told(&page, &figures);
        assert!(twice.is_empty(), "{path:?} tells again: {twice:?}");
    }
}

#[test]
fn a_figure_that_is_told_again_is_seen() {
    let figures = figures("\n\n| n | run |\n|---|---|\n| 22 | 3.5 |\n| 23 | 13.0 |\n");
    let times = |page| told(page, &figures).len();
    assert_eq!(times("It counts 22\nqueens in 3.5 s."), 1);
    assert_eq!(times("| n | s |\n| 22 | 3.5 |\n| 23 | 13.0 |"), 1);
    assert_eq!(
        times("It counts 22 queens in 13.5 s.\n\nThat takes 3.5 s."),
        0
    );
}

/// The texts of a page or picture in their order, with a bar between two of them.
fn texts(path: &str) -> String {
    let marks = Regex::new(r"(?s)(\s*(<style>.*?</style>|<[^>]*>)\s*)+").unwrap();
    marks.replace_all(&text_of(path), "|").into_owned()
}

/// Whether two measurements of the same thing agree.
fn are_near(one: f64, other: f64) -> bool {
    (0.5..2.0).contains(&(one / other))
}

#[test]
fn the_report_and_the_dashboard_show_the_counts_and_the_times_of_the_table() {
    let known = &KNOWN[20 - 1];
    let report = texts("docs/report-n20.html");
    let counts = r"\|All solutions\|([\d,]+)\|of 20 queens\|Unique solutions\|([\d,]+)\|";
    assert_eq!(
        found(&report, counts),
        [known.total as f64, known.unique as f64]
    );
    let times = r"\|Time\|([\d.]+) s\|(\d+) workers? on 1 host\|CPU time\|([\d.]+) s\|";
    let [time, workers, cpu] = found(&report, times);
    let kernel = match report.contains(" × avx512|") {
        true => "Zen 4, AVX-512",
        false => "Zen 4, AVX2",
    };
    let measured = number(cell(&tables(&performance().0)[0], kernel, "20"));
    assert_eq!(cpu, measured.round(), "by {kernel}: {measured} s");
    // The machine did nothing else.
    assert!(are_near(cpu, time * workers), "{cpu} s in {time} s");

    let dashboard = texts("docs/dashboard.svg");
    let done = r"\|(\d+) queens\|.*\|solutions\|([\d,]+)\|done\|.* tasks, ([\d.]+) %\|";
    let [n, counted, share] = found(&dashboard, done);
    let expected = share / 100.0 * KNOWN[n as usize - 1].total as f64;
    assert!(are_near(counted, expected), "{counted} at {share} %");
    let [speed] = found(&dashboard, r"\|speed\|([\d.]+) Gnode/s\|");
    let [of_report] = found(&report, r"\|Speed\|([\d.]+) Gnode/s\|");
    assert!(are_near(speed, of_report), "{speed} and {of_report}");
}
