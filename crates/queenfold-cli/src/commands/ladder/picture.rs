//! `--plot`: draws the rows.

use std::path::Path;

use crate::exit::{Exit, Failure};
use crate::ladder::TableRow;
use crate::output::write_file;
use crate::report::{LADDER_MARK, ladder_picture};
use queenfold_ledger::system::file_kind::FileKind;

/// The file of `--plot`. An existing picture stays until the new one is complete.
pub const PICTURE: FileKind<'_> = FileKind {
    name: "picture of the ladder",
    marks: &[LADDER_MARK],
    streams: true,
    is_replaced: true,
};

/// Draws the rows.
///
/// # Errors
/// There are no rows, or the picture can no longer be written.
pub fn draw(path: &Path, rows: &[TableRow]) -> Result<(), Failure> {
    let failed = |why| Err(Failure::new(Exit::Error, why));
    if rows.is_empty() {
        let path = path.display();
        return failed(format!("there are no rows to draw: {path} is not written"));
    }
    match ladder_picture(rows) {
        Ok(picture) => write_file("picture", &PICTURE, path, picture.as_bytes()),
        Err(error) => failed(format!("no picture: {error}")),
    }
}
