//! Commands that a user can paste into a shell.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::telemetry::printable;

/// A command of this program, ready for a shell: options with their values, then a directory, however it is named.
pub fn command(name: &str, options: &[(&str, &OsStr)], dir: Option<&OsStr>) -> String {
    let mut command = format!("queenfold {name}");
    for (option, value) in options {
        let between = if is_plain(value) { ' ' } else { '=' };
        command += &format!(" {option}{between}{}", word(value));
    }
    if let Some(dir) = dir {
        let end = if is_plain(dir) { "" } else { "-- " };
        command += &format!(" {end}{}", word(dir));
    }
    command
}

/// The command that continues the run in `dir`.
pub fn resume_command(dir: &Path) -> String {
    command_on("resume", dir)
}

/// The command that counts the run in `dir` a second time.
pub fn again_command(dir: &Path) -> String {
    command_on("verify --again", dir)
}

/// A command that takes a directory and nothing else.
pub fn command_on(name: &str, dir: &Path) -> String {
    command(name, &[], Some(dir.as_os_str()))
}

/// How `program` ends, which reads `text` and tells no errors.
///
/// # Errors
/// There is no such program.
pub fn read_by(program: &str, args: &[&str], text: &[u8]) -> io::Result<ExitStatus> {
    let mut command = Command::new(program);
    let mut child = command
        .args(args)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    // It need not read to the end.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(text));
    child.wait()
}

/// Whether a word needs no quotes.
pub fn is_plain(text: &OsStr) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    text.to_str()
        .is_some_and(|text| !text.is_empty() && text.chars().all(plain) && !text.starts_with('-'))
}

/// A word of a shell.
pub fn word(text: &OsStr) -> String {
    match text.to_str() {
        Some(text) if is_plain(text.as_ref()) => text.to_owned(),
        Some(text) if printable(text) == text => format!("'{}'", text.replace('\'', "'\\''")),
        _ => {
            // A line break, another character that is not printable, or bytes that are not UTF-8.
            let byte = |&byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                _ => format!("\\x{byte:02x}"),
            };
            let text: String = text.as_encoded_bytes().iter().map(byte).collect();
            format!("$'{text}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        for (dir, resume, again) in [
            ("a/n-20", "resume a/n-20", "verify --again a/n-20"),
            (
                "it's",
                r"resume -- 'it'\''s'",
                r"verify --again -- 'it'\''s'",
            ),
            ("-n", "resume -- '-n'", "verify --again -- '-n'"),
            (
                "a'\n\u{1b}b",
                r"resume -- $'a\'\x0a\x1bb'",
                r"verify --again -- $'a\'\x0a\x1bb'",
            ),
        ] {
            assert_eq!(
                resume_command(Path::new(dir)),
                format!("queenfold {resume}")
            );
            assert_eq!(again_command(Path::new(dir)), format!("queenfold {again}"));
        }
    }
}
