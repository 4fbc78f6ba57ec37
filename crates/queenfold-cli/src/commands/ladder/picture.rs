//! `--plot`: writes the picture of the rows to a file.

use std::io::Write;
use std::path::Path;

use crate::exit::{Exit, Failure};
use crate::ladder::TableRow;
use crate::output::{check_file, stdout};
use crate::report::{LADDER_MARK, ladder_picture};
use queenfold_ledger::system::file_kind::FileKind;

/// The file of `--plot`. An existing picture stays until the new one is complete.
const PICTURE: FileKind<'_> = FileKind {
    name: "picture of the ladder",
    marks: &[LADDER_MARK],
    streams: true,
    is_replaced: true,
};

/// Makes sure that the picture can be written, before the methods run.
///
/// # Errors
/// It cannot be written.
pub fn check(path: &Path) -> Result<(), Failure> {
    match is_stdout(path) {
        true => Ok(()),
        false => check_file("picture", &PICTURE, path),
    }
}

/// Draws the rows.
///
/// # Errors
/// There are no rows, or the picture can no longer be written.
pub fn draw(path: &Path, rows: &[TableRow]) -> Result<(), Failure> {
    if rows.is_empty() {
        let message = format!(
            "there are no rows to draw: {} is not written",
            path.display()
        );
        return Err(Failure::new(Exit::Error, message));
    }
    let picture = ladder_picture(rows)
        .map_err(|error| Failure::new(Exit::Error, format!("no picture: {error}")))?;
    if is_stdout(path) {
        return Ok(stdout().write_all(picture.as_bytes())?);
    }
    let written = PICTURE.write(path, picture.as_bytes());
    written.map_err(|error| Failure::of_file("picture", path, &error))
}

/// Whether the picture goes to stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
