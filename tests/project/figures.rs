//! What boards take is written once, in docs/PERFORMANCE.md, and the README's table and the pictures agree with it.

use std::fs;
use std::path::Path;

use queenfold::board::KNOWN;
use regex::Regex;

use crate::common::{ROOT, text_of};

/// The page that has the figures, split into the section with them and the rest.
fn performance() -> (String, String) {
    let page = text_of("docs/PERFORMANCE.md");
    let (before, rest) = page.split_once("\n## What boards take\n").unwrap();
    let (section, after) = rest.split_once("\n## ").unwrap();
    (section.to_owned(), format!("{before}\n\n{after}"))
}

/// The tables of a text whose first column is n: the headings and the rows, as cells.
fn tables(text: &str) -> Vec<Vec<Vec<&str>>> {
    let cells = |row| -> Vec<&str> {
        str::trim_matches(row, '|')
            .split('|')
            .map(str::trim)
            .collect()
    };
    let blocks = text
        .split("\n\n")
        .filter(|block| block.starts_with("| n |"));
    blocks
        .map(|block| {
            let rows = block.lines().filter(|row| !row.starts_with("|---"));
            rows.map(cells).collect()
        })
        .collect()
}

/// The column of a table with a heading, as pairs of n and a cell that is not empty.
fn column<'a>(table: &[Vec<&'a str>], heading: &str) -> Vec<(&'a str, &'a str)> {
    let at = table[0].iter().position(|cell| *cell == heading);
    let at = at.unwrap_or_else(|| panic!("no column {heading}: {:?}", table[0]));
    let cells = table[1..].iter().map(|row| (row[0], row[at]));
    cells.filter(|(_, cell)| !cell.is_empty()).collect()
}

/// The cell of a board in a column.
fn cell<'a>(table: &[Vec<&'a str>], heading: &str, n: &str) -> &'a str {
    let column = column(table, heading);
    let of_board = column.iter().find(|(board, _)| *board == n);
    of_board.unwrap_or_else(|| panic!("no {heading} of {n}")).1
}

/// The number that a text begins with.
fn number(text: &str) -> f64 {
    let number = text.split(' ').next().unwrap().replace(',', "");
    number
        .parse()
        .unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Whether two measurements of the same thing on two days agree.
fn are_near(one: f64, other: f64) -> bool {
    (0.5..2.0).contains(&(one / other))
}

#[test]
fn the_table_of_the_readme_has_the_times_of_the_page_and_their_ratios() {
    let (section, _) = performance();
    let readme = text_of("README.md");
    let compared = tables(&readme);
    let [compared] = &compared[..] else {
        panic!("{} tables by n", compared.len())
    };
    let ratio = Regex::new(r"^([\d.]+) \((\d+) times\)$").unwrap();
    for row in &compared[1..] {
        assert_eq!(row[1], cell(&tables(&section)[0], "Zen 4, AVX-512", row[0]));
        for other in row[2..].iter().filter(|cell| **cell != "–") {
            let found = ratio.captures(other).unwrap_or_else(|| panic!("{other}"));
            let times = number(&found[1]) / number(row[1]);
            assert!(
                (number(&found[2]) / times - 1.0).abs() < 0.07,
                "{row:?}: {times}"
            );
        }
    }
}

/// The figures of the page with their boards, as another page would write them: short ones with a unit.
fn figures(section: &str) -> Vec<(&str, String)> {
    let mut figures = Vec::new();
    for (table, unit) in tables(section).iter().zip(["s", "core-hours"]) {
        let columns = table[0][1..].iter().map(|heading| column(table, heading));
        for (n, figure) in columns.flatten() {
            let digits = figure.trim_start_matches(['0', '.']);
            let is_short = digits.matches(char::is_numeric).count() < 3;
            match figure {
                _ if !figure.starts_with(char::is_numeric) => {}
                _ if is_short && !figure.contains(' ') => {
                    figures.push((n, format!("{figure} {unit}")))
                }
                _ => figures.push((n, figure.to_owned())),
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
        let figure = format!(" {figure} ");
        let tells = |board: String| {
            let mut parts = parts.iter();
            parts.any(|part| part.contains(&board) && part.contains(&figure))
        };
        tells(format!(" {n} queens "))
            || tells(format!(" n = {n} "))
            || tells(format!(" -n {n} "))
            || tells(format!(" {n} | "))
    };
    figures.iter().filter(is_told).collect()
}

#[test]
fn no_other_page_says_what_a_board_takes() {
    let (section, rest) = performance();
    let figures = figures(&section);
    assert!(figures.len() >= 30, "{figures:?}");
    let folders = ["", "docs"].map(|folder| fs::read_dir(Path::new(ROOT).join(folder)).unwrap());
    let files = folders
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|end| end == "md"));
    for path in pages.filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = match path.ends_with("PERFORMANCE.md") {
            true => rest.clone(),
            false => fs::read_to_string(&path).unwrap(),
        };
        let twice = told(&text, &figures);
        assert!(
            twice.is_empty(),
            "{} tells again: {twice:?}",
            path.display()
        );
    }
}

#[test]
fn a_figure_that_is_told_again_is_seen() {
    let figures = figures("\n\n| n | run |\n|---|---|\n| 22 | 3.5 |\n| 23 | 13.0 |\n");
    let times = |text| told(text, &figures).len();
    assert_eq!(times("It counts 22\nqueens in 3.5 s."), 1);
    assert_eq!(times("| n | s |\n| 22 | 3.5 |\n| 23 | 13.0 |"), 1);
    assert_eq!(
        times("It counts 22 queens in 13.5 s.\n\nThat takes 3.5 s."),
        0
    );
}

/// The texts of a page or picture in their order, with a bar between two of them.
fn texts(path: &str) -> String {
    let style = Regex::new("(?s)<style>.*?</style>|<[^>]*>").unwrap();
    let bars = Regex::new(r"\s*\|[\s|]*").unwrap();
    let page = text_of(path);
    bars.replace_all(&style.replace_all(&page, "|"), "|")
        .into_owned()
}

/// What a pattern finds in a text: its groups.
fn found<const N: usize>(text: &str, pattern: &str) -> [String; N] {
    let captures = Regex::new(pattern).unwrap().captures(text);
    let captures = captures.unwrap_or_else(|| panic!("no {pattern} in {text}"));
    std::array::from_fn(|at| captures[at + 1].to_owned())
}

#[test]
fn the_report_and_the_dashboard_show_the_counts_and_the_times_of_the_table() {
    let report = texts("docs/report-n20.html");
    let [n] = found(&report, r"^\|(\d+) queens: report of a run\|");
    let known = &KNOWN[usize::from(n.parse::<u8>().unwrap()) - 1];
    let [total, unique] = found(
        &report,
        r"\|All solutions\|([\d,]+)\|.*?\|Unique solutions\|([\d,]+)\|",
    );
    assert_eq!(total.replace(',', ""), known.total.to_string());
    assert_eq!(unique.replace(',', ""), known.unique.to_string());

    // The CPU time of another run by the same kernel, on a machine that did nothing else.
    let [time, workers, cpu] = found(
        &report,
        r"\|Time\|([\d.]+) s\|(\d+) workers? on 1 host\|CPU time\|([\d.]+) s\|",
    )
    .map(|figure| number(&figure));
    let [kernel] = found::<1>(&report, r"\|\d+ × (avx2|avx512)\|");
    let heading = match &*kernel {
        "avx2" => "Zen 4, AVX2",
        _ => "Zen 4, AVX-512",
    };
    let (section, _) = performance();
    let measured = number(cell(&tables(&section)[0], heading, &n));
    assert!(
        are_near(cpu, measured),
        "CPU time {cpu} s, and {measured} s"
    );
    assert!(are_near(cpu, time * workers), "{cpu} s in {time} s");

    let dashboard = texts("docs/dashboard.svg");
    let [counted, all, share] = found(
        &dashboard,
        r"\|solutions\|([\d,]+)\|done\|[\d,]+ of ([\d,]+) tasks, ([\d.]+) %\|",
    )
    .map(|figure| number(&figure));
    assert!(dashboard.starts_with(&format!("|The dashboard of queenfold run -n {n} ")));
    assert!(
        are_near(counted, share / 100.0 * known.total as f64),
        "{counted} at {share} %"
    );
    let tasks = found::<2>(
        &report,
        r"\|colour-\d+ \((\d+) tasks\), census-\d+ \((\d+) tasks\)\|",
    );
    assert_eq!(all, tasks.iter().map(|tasks| number(tasks)).sum::<f64>());
    let [passed, left] = found(
        &dashboard,
        r"\|· ([\d.]+) s · by .*?· left about ([\d.]+) s ·",
    )
    .map(|figure| number(&figure));
    assert!(
        are_near(passed + left, time),
        "{passed} s and {left} s, and {time} s"
    );
}
