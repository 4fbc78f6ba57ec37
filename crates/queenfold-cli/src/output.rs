//! Lines for the user: results to stdout, everything else to stderr.

use std::io::{self, Write};
use std::path::Path;

use console::{Term, measure_text_width};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::exit::{Exit, Failure};
use crate::config::is_stream;
use crate::system::stdio::has_no_stdout;
use crate::telemetry::{keep_message, printable, printable_json};
use queenfold_ledger::ledger::belongs_to_run;
use queenfold_ledger::system::file_kind::FileKind;

/// Writes lines of a result to stdout, at once. Some of them contain what a file says, perhaps the file
/// of a stranger, so characters that are not printable are escaped.
pub fn print(lines: &str) -> Result<(), Failure> {
    let mut text = String::with_capacity(lines.len() + 1);
    for line in lines.split('\n') {
        text += &printable(line);
        text.push('\n');
    }
    let mut out = stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// The version of what `--json` prints, which every object begins with. It goes up when a key is removed or changes its
/// meaning; `docs/output.schema.json` has the keys.
const JSON_FORMAT: u32 = 1;

/// Writes an object of JSON to stdout, on one line.
pub fn print_json(object: &impl Serialize) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        queenfold_json: u32,
        #[serde(flatten)]
        object: &'a T,
    }
    let versioned = Versioned {
        queenfold_json: JSON_FORMAT,
        object,
    };
    let text = serde_json::to_string(&versioned);
    print(&printable_json(
        &text.map_err(|error| Failure::new(Exit::Error, error))?,
    ))
}

/// Standard output, where each write fails if the process has none.
#[derive(Debug)]
pub struct Stdout(io::Stdout);

/// Where results go.
pub fn stdout() -> Stdout {
    Stdout(io::stdout())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_stdout()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Checks that the process has a standard output.
///
/// # Errors
/// It has none.
pub fn check_stdout() -> io::Result<()> {
    match has_no_stdout() {
        true => Err(io::Error::other("standard output is closed")),
        false => Ok(()),
    }
}

/// Writes a file that the user named, or to stdout if its name is `-`.
///
/// # Errors
/// It cannot be written.
pub fn write_file(
    what: &str,
    kind: &FileKind<'_>,
    path: &Path,
    bytes: &[u8],
) -> Result<(), Failure> {
    if is_stream(path) {
        return Ok(stdout().write_all(bytes)?);
    }
    let written = kind.write(path, bytes);
    written.map_err(|error| Failure::of_file(what, path, &error))
}

/// Checks, before any work is done, that a file that the user named can be written at `path`. Of stdout, `-`, nothing is
/// checked.
///
/// # Errors
/// Something else is there, or the file cannot be written.
pub fn check_file(what: &str, kind: &FileKind<'_>, path: &Path) -> Result<(), Failure> {
    if is_stream(path) {
        return Ok(());
    }
    if belongs_to_run(path) {
        let why = "this name belongs to the run in its directory; name another file";
        return Err(Failure::usage(format!("{what} {}: {why}", path.display())));
    }
    let end = path.extension().and_then(|end| end.to_str());
    if let Some(end @ ("png" | "jpg" | "jpeg" | "gif" | "pdf")) = end {
        let why = format!("no .{end} is written: pictures are .svg files, reports .html files");
        return Err(Failure::usage(format!("{what} {}: {why}", path.display())));
    }
    let checked = kind.check(path);
    checked.map_err(|error| Failure::of_file(what, path, &error))
}

/// Writes a line to stderr, in place of a progress line that stands there, or keeps it while a dashboard has the
/// screen. A failure is ignored: there is
/// nowhere to report it.
pub fn say(line: &str) {
    if keep_message(line) {
        return;
    }
    let terminal = Term::stderr();
    if terminal.is_term() {
        let _ = terminal.clear_line();
        let columns = terminal.size().1;
        let _ = writeln!(io::stderr(), "{}", wrapped(line, columns.into()));
    } else {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// A line on stderr that shows how far something is, of `all` if that is known; only on a terminal.
pub fn bar(all: Option<u64>, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    ProgressBar::with_draw_target(all, ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Breaks lines between words, so that they fit so many columns. Words are not split, and a line that
/// fits keeps its blanks.
pub fn wrapped(lines: &str, columns: usize) -> String {
    let wrap = |line: &str| {
        if measure_text_width(line) <= columns {
            return line.to_owned();
        }
        let (mut text, mut used) = (String::new(), 0);
        for word in line.split(' ') {
            let width = measure_text_width(word);
            if used > 0 && used + 1 + width > columns {
                text.push('\n');
                used = 0;
            } else if used > 0 {
                text.push(' ');
                used += 1;
            }
            text += word;
            used += width;
        }
        text
    };
    lines.split('\n').map(wrap).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_break_between_words_and_only_where_they_are_too_long() {
        assert_eq!(wrapped("one two three", 8), "one two\nthree");
        assert_eq!(wrapped("one  two", 8), "one  two");
        assert_eq!(wrapped("a unbreakable b", 5), "a\nunbreakable\nb");
        assert_eq!(wrapped("one two\nthree four", 8), "one two\nthree\nfour");
    }
}
