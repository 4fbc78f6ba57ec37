//! The table of docs/RECORDS.md.

use queenfold::board::{KNOWN, Size};

#[test]
fn the_records_are_the_known_counts() {
    let page = crate::common::text_of("docs/RECORDS.md");
    let number = |cell: &str| cell.trim().replace(',', "").parse::<u128>().ok();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    // Rows of numbers alone: the table of the runs has words, too.
    let rows: Vec<Vec<u128>> = rows
        .filter_map(|row| row.trim_matches('|').split('|').map(number).collect())
        .collect();
    assert_eq!(rows.len(), KNOWN.len());
    for ((n, known), row) in Size::all().zip(&KNOWN).zip(rows) {
        let orbits = known.orbits(n);
        let counts = [
            n.get().into(),
            known.total,
            known.unique,
            orbits.c2,
            orbits.c4,
            orbits.c8,
            known.r180,
            known.r90,
        ];
        assert_eq!(row, counts, "n = {n}");
    }
}

#[test]
fn machines_are_listed_best_first_and_none_that_others_used() {
    let page = crate::common::text_of("docs/RECORDS.md");
    let (_, section) = page.split_once("\n## Machines\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    assert!(!section.contains("beside other programs"), "{section}");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let score = |row: &str| row.split('|').nth(4).unwrap().trim().parse().unwrap();
    let scores: Vec<u64> = rows.map(score).collect();
    assert!(!scores.is_empty() && scores.is_sorted_by(|a, b| a >= b));
}
