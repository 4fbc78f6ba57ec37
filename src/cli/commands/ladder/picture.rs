//! `--plot`: writes the picture of the rows to a file.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::stdout;
use crate::ladder::TableRow;
use crate::report::ladder_picture;

/// The file of `--plot`. An existing picture stays until the new one is complete.
pub struct Picture<'a> {
    path: &'a Path,
    /// The file to which the new picture is written first, and the file that it then replaces, with
    /// links resolved. `None` for stdout, a pipe or a device, which is written directly.
    draft: Option<(PathBuf, PathBuf)>,
}

impl<'a> Picture<'a> {
    /// Makes sure that the picture can be written, before the methods run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn at(path: &'a Path) -> Result<Self, Failure> {
        if is_stdout(path) {
            return Ok(Self { path, draft: None });
        }
        let draft = draft(path).map_err(|error| unwritable(path, &error))?;
        Ok(Self { path, draft })
    }

    /// Draws the rows.
    ///
    /// # Errors
    /// There are no rows, or the picture can no longer be written.
    pub fn draw(self, rows: &[TableRow]) -> Result<(), Failure> {
        if rows.is_empty() {
            let path = self.path.display();
            let message = format!("there are no rows to draw: {path} is not written");
            return Err(Failure::new(Exit::Error, message));
        }
        let picture = ladder_picture(rows)
            .map_err(|error| Failure::new(Exit::Error, format!("no picture: {error}")))?;
        match &self.draft {
            None if is_stdout(self.path) => return Ok(stdout().write_all(picture.as_bytes())?),
            None => fs::write(self.path, picture),
            Some((draft, place)) => replace(draft, place, &picture),
        }
        .map_err(|error| unwritable(self.path, &error))
    }
}

/// Whether the picture goes to stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", path.display());
    Failure::new(Exit::Error, message)
}

/// The draft and the final file for a picture at `path`. Creates the draft once, as a test, and removes
/// it.
fn draft(path: &Path) -> io::Result<Option<(PathBuf, PathBuf)>> {
    let place = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok(None),
        Ok(_) => {
            // A rename would replace even a write-protected picture, so refuse that here.
            File::options().write(true).open(path)?;
            path.canonicalize()?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let name = place.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", process::id()));
    let draft = place.with_file_name(hidden);
    File::create_new(&draft)?;
    fs::remove_file(&draft)?;
    Ok(Some((draft, place)))
}

fn replace(draft: &Path, place: &Path, picture: &str) -> io::Result<()> {
    let written = File::create_new(draft)
        .and_then(|mut file| file.write_all(picture.as_bytes()))
        .and_then(|()| fs::rename(draft, place));
    if written.is_err() {
        // Report the first error, not one of the removal.
        let _ = fs::remove_file(draft);
    }
    written
}
