//! The rows of an earlier run, as `ladder --from` reads them.

use std::fmt::Display;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::config::is_stream;
use crate::exit::Failure;
use crate::ladder::{PROGRAM, TableRow};
use crate::output::say;
use crate::telemetry::printable;
use queenfold_ledger::system::files::open_regular;

/// The rows that an earlier `--json` printed, of two board sizes at least; from stdin if the path is `-`. A count
/// that differs from a known one is reported on stderr, but its time is drawn.
///
/// # Errors
/// They cannot be read, they are of fewer sizes, or a line is not a row that the ladder can have printed.
pub fn read(path: &Path) -> Result<Vec<TableRow>, Failure> {
    let wrong = |error: &dyn Display| {
        Failure::usage(format!("cannot read rows from {}: {error}", path.display()))
    };
    let mut text = String::new();
    let read = match is_stream(path) {
        true => io::stdin().read_to_string(&mut text),
        false => open_regular(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|error| wrong(&error))?;
    let rows = rows(&text).map_err(|error| wrong(&error))?;
    if rows.iter().all(|(_, row)| row.n == rows[0].1.n) {
        return Err(wrong(
            &"there are no rows of several board sizes, such as those of -n 4..=8",
        ));
    }
    for (number, row) in &rows {
        if let Some(differs) = row.contradiction() {
            let (path, title, n) = (path.display(), row.title(), row.n);
            let what = format!("{path}, line {number}: {title}, n = {n}: {differs}");
            say(&printable(&what));
        }
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// The rows, each with the number of its line.
fn rows(text: &str) -> Result<Vec<(usize, TableRow)>, String> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line)| match row(line) {
        Ok(row) => Ok((number, row)),
        Err(error) => Err(format!("line {number}: {error}")),
    };
    lines.map(row).collect()
}

/// A row of `ladder --json`, or a result of `run --json`, which names its engine.
fn row(line: &str) -> Result<TableRow, String> {
    let text = |error: serde_json::Error| {
        let error = error.to_string();
        // The parser sees one line at a time, so it always names line 1.
        error.split(" at line ").take(1).collect::<String>()
    };
    let mut row: Json = serde_json::from_str(line).map_err(text)?;
    if let Some(result) = row.as_object_mut()
        && let Some(engine) = result.remove("engine")
    {
        result.insert("method".to_owned(), PROGRAM.into());
        result.insert("style".to_owned(), engine);
    }
    let row = TableRow::deserialize(row).map_err(text)?;
    row.flaw().map_or_else(|| Ok(row), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"n":8,"method":"bitmap","style":"recursive","total":"92","unique":null,"classes":null,"nodes":"2056","seconds":0.5}"#;

    #[test]
    fn blank_lines_are_no_rows_but_are_counted() {
        assert_eq!(rows(&format!("\n{ROW}\n  \n{ROW}\n")).unwrap().len(), 2);
        assert_eq!(rows(" \n\n").unwrap(), []);
        let error = rows(&format!("{ROW}\n\n{{\"n\":8}}\n")).unwrap_err();
        assert_eq!(error, "line 3: missing field `method`");
    }

    #[test]
    fn a_result_of_the_program_is_a_row() {
        let line = r#"{"n":8,"total":"92","unique":"12","classes":{"c1":"0","c2":"0","c4":"1","c8":"11"},"r180":"4","engine":"colour","workers":1,"nodes":"500","seconds":0.25}"#;
        let rows = rows(line).unwrap();
        assert_eq!(rows[0].1.title(), "queenfold run, colour");
        assert_eq!((rows[0].1.total, rows[0].1.seconds), (92, 0.25));
        let error = self::rows(&line.replace("0.25", "-1")).unwrap_err();
        assert!(error.contains("-1 seconds"), "{error}");
    }

    #[test]
    fn a_row_that_the_ladder_cannot_have_printed_is_refused() {
        for (printed, written, says) in [
            ("0.5", "-0.5", "-0.5 seconds"),
            ("0.5", "1e999", "number out of range"),
            ("0.5", "1e13", "seconds"),
            ("bitmap", "bitmpa", "no method is called `bitmpa`"),
            ("recursive", "sideways", "bitmap has no such style"),
        ] {
            let error = rows(&ROW.replace(printed, written)).unwrap_err();
            assert!(
                error.starts_with("line 1: ") && error.contains(says),
                "{error}"
            );
        }
    }
}
