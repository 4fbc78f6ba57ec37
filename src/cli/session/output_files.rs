//! The files that a command writes beside its results: `--trace`, `--events` and `--metrics`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::exit::{Exit, Failure};
use crate::config::{FileOrStream, TraceConfig};
use crate::system::files::{check_writable, open_to_write};
use crate::telemetry::printable;

/// Checks the files that the settings name, before any of them is opened.
///
/// # Errors
/// Two settings name the same file, of which one would destroy what the other writes; the metrics file cannot
/// be written.
pub fn check(settings: &TraceConfig) -> Result<(), Failure> {
    let events = match &settings.events.0 {
        Some(FileOrStream::File(path)) => Some(path),
        Some(FileOrStream::Stream) | None => None,
    };
    let metrics = settings.metrics.0.as_ref();
    let files = [
        ("--trace", settings.file.0.as_ref()),
        ("--events", events),
        ("--metrics", metrics),
    ];
    let files: Vec<_> = files
        .into_iter()
        .filter_map(|(flag, path)| path.map(|path| (flag, path, resolved(path))))
        .collect();
    for (index, (flag, path, file)) in files.iter().enumerate() {
        let mut earlier = files[..index].iter();
        // What is no regular file, such as /dev/null, loses nothing.
        let can_lose = !file.metadata().is_ok_and(|file| !file.is_file());
        if let Some((other, ..)) = earlier.find(|other| can_lose && other.2 == *file) {
            return Err(Failure::usage(printable(&format!(
                "{other} and {flag} name the same file, {}: give each a file of its own",
                path.display()
            ))));
        }
    }
    match metrics.map(|path| (path, check_replaceable(path))) {
        Some((path, Err(error))) => Err(Failure::new(
            Exit::Error,
            printable(&format!("metrics file {}: {error}", path.display())),
        )),
        Some((_, Ok(()))) | None => Ok(()),
    }
}

/// Opens the trace file that the settings name, if they name one.
///
/// # Errors
/// It cannot be written.
pub fn open_trace(settings: &TraceConfig) -> Result<Option<File>, Failure> {
    let open = |path: &PathBuf| {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        open_to_write(&mut options, path).map_err(|error| {
            let what = format!("trace file {}: {error}", path.display());
            Failure::new(Exit::Error, what)
        })
    };
    settings.file.0.as_ref().map(open).transpose()
}

/// Checks that the file at `path` can be replaced. It is not touched: it may be that of another run, whose
/// directory this process must not use.
///
/// # Errors
/// There is something else than a regular file at `path`, or its folder cannot be written to.
fn check_replaceable(path: &Path) -> io::Result<()> {
    // It would be replaced, not written to.
    if path.metadata().is_ok_and(|file| !file.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    let folder = folder_of(path);
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    check_writable(folder)
}

/// The folder in which a file lies.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The path without links and dots, as far as it exists. What it names itself may not exist yet.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(resolved) = fs::canonicalize(path) {
        return resolved;
    }
    // A link to a file that does not exist yet: whoever opens it makes that file.
    if let Ok(target) = fs::read_link(path) {
        let target = folder_of(path).join(target);
        // Not `resolved`: links may go round in a circle, and nobody can write to those.
        return in_folder(&target);
    }
    in_folder(path)
}

/// The path with the folder resolved.
fn in_folder(path: &Path) -> PathBuf {
    match (fs::canonicalize(folder_of(path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn names_of_one_file_are_known_before_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        let link = folder.path().join("link");
        symlink("x", &link).unwrap();
        symlink(folder.path(), folder.path().join("here")).unwrap();
        let names = [
            link,
            folder.path().join("./x"),
            folder.path().join("here/x"),
        ];
        for exists in [false, true] {
            if exists {
                fs::write(&file, "").unwrap();
            }
            for name in &names {
                assert_eq!(resolved(name), resolved(&file), "{}", name.display());
            }
            assert_ne!(resolved(&folder.path().join("y")), resolved(&file));
        }
    }
}
