//! The table "Where the numbers are" of ARCHITECTURE.md has the values of the constants.

use regex::Regex;

/// The cells between the first backticks of each column of a row, without the last column.
fn row(line: &str) -> Option<[&str; 3]> {
    let mut cells = line.strip_prefix("| `")?.split("` | `");
    let (name, value) = (cells.next()?, cells.next()?);
    Some([name, value, cells.next()?.split_once('`')?.0])
}

/// Whether a source text has a constant with this name and value, in one line.
fn has_constant(source: &str, name: &str, value: &str) -> bool {
    let value = regex::escape(value);
    let constant = format!(r"(?m)^ *(pub(\([a-z]+\))? )?const {name}: [^=\n]+ = {value};$");
    Regex::new(&constant).unwrap().is_match(source)
}

#[test]
fn the_table_of_constants_has_their_values() {
    let page = crate::common::text_of("ARCHITECTURE.md");
    let table = page
        .split("\n## ")
        .find(|part| part.starts_with("Where the numbers are"));
    let rows: Vec<_> = table.unwrap().lines().filter_map(row).collect();
    assert!(rows.len() >= 25, "only {} rows found", rows.len());
    for [name, value, file] in rows {
        let source = crate::common::text_of(file);
        assert!(
            has_constant(&source, name, value),
            "{file}: {name} is not {value}"
        );
    }
}

#[test]
fn another_value_or_name_is_seen() {
    let source =
        "const HELD: f64 = 0.5;\n    pub(super) const REST: Duration = Duration::from_secs(10);\n";
    assert!(has_constant(source, "HELD", "0.5"));
    assert!(has_constant(source, "REST", "Duration::from_secs(10)"));
    assert!(!has_constant(source, "HELD", "0.6"));
    assert!(!has_constant(source, "REST", "Duration::from_secs(1)"));
    assert!(!has_constant(source, "ELD", "0.5"));
    assert_eq!(
        row("| `A` | `1 << 2` | `src/a.rs` | what `b` does |"),
        Some(["A", "1 << 2", "src/a.rs"])
    );
    assert_eq!(row("| constant | value | file | what it decides |"), None);
}
