//! What others ask of the process that works on a run directory: a small file there. The directory may come from a
//! stranger.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::ledger::directory::sidecar_files::read;
use crate::system::files::no_detours;

/// The name of the file.
const REQUEST: &str = "request";

/// What can be asked of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Pause.
    Pause,
    /// Go on.
    Resume,
    /// Stop in order.
    Stop,
}

impl Request {
    const ALL: [Self; 3] = [Self::Pause, Self::Resume, Self::Stop];

    /// What it is called: the name of the command that asks for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Stop => "stop",
        }
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The command that has the name of the request.
    Command,
    /// The dashboard in another terminal.
    Watch,
}

impl Asker {
    const ALL: [Self; 2] = [Self::Command, Self::Watch];

    const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Watch => "watch",
        }
    }

    /// The command that was given, for messages.
    pub const fn command(self, request: Request) -> &'static str {
        match (self, request) {
            (Self::Watch, _) => "`queenfold status --watch`",
            (Self::Command, Request::Pause) => "`queenfold pause`",
            (Self::Command, Request::Resume) => "`queenfold resume`",
            (Self::Command, Request::Stop) => "`queenfold stop`",
        }
    }
}

/// A request, and who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What is asked for.
    pub request: Request,
    /// Who asks.
    pub by: Asker,
}

/// Asks something of the process that works on the directory. It looks once a second.
///
/// # Errors
/// The directory cannot be written.
pub fn put_request(dir: &Path, asked: Asked) -> io::Result<()> {
    let file = dir.join(REQUEST);
    // One that nobody has taken is replaced.
    let _ = fs::remove_file(&file);
    let mut file = no_detours().write(true).create_new(true).open(file)?;
    writeln!(file, "{} by {}", asked.request.name(), asked.by.name())
}

/// Takes what was asked of this process, if anything was.
pub fn take_request(dir: &Path) -> Option<Asked> {
    let file = dir.join(REQUEST);
    let text = read(&file, 100).ok().flatten();
    let text = String::from_utf8(text?).ok()?;
    // While it is written, it is no request yet.
    let line = text.strip_suffix('\n')?;
    fs::remove_file(&file).ok()?;
    let (request, by) = line.split_once(" by ")?;
    Some(Asked {
        request: Request::ALL.into_iter().find(|it| it.name() == request)?,
        by: Asker::ALL.into_iter().find(|it| it.name() == by)?,
    })
}

/// Takes back what was asked, unless the process has taken it.
pub fn withdraw_request(dir: &Path) {
    // None may be there.
    let _ = fs::remove_file(dir.join(REQUEST));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_once_and_what_is_none_is_thrown_away() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        assert_eq!(take_request(dir), None);
        for request in Request::ALL {
            for by in Asker::ALL {
                let asked = Asked { request, by };
                let other = Asked {
                    request: Request::Pause,
                    by: Asker::Watch,
                };
                put_request(dir, other).unwrap();
                put_request(dir, asked).unwrap();
                assert_eq!(take_request(dir), Some(asked));
                assert_eq!(take_request(dir), None);
                put_request(dir, asked).unwrap();
                withdraw_request(dir);
                assert_eq!(take_request(dir), None);
            }
        }
        for text in ["dance by watch\n", "stop by nobody\n", "stop\n", "\n"] {
            fs::write(dir.join(REQUEST), text).unwrap();
            assert_eq!(take_request(dir), None, "{text}");
            assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "{text}");
        }
        fs::write(dir.join(REQUEST), "stop by wat").unwrap();
        assert_eq!(take_request(dir), None);
        assert_eq!(fs::read_dir(dir).unwrap().count(), 1, "it is being written");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let (dir, other) = (dir.path().join("run"), dir.path().join("other"));
        fs::create_dir(&dir).unwrap();
        fs::write(&other, "stop by watch\n").unwrap();
        std::os::unix::fs::symlink(&other, dir.join(REQUEST)).unwrap();
        assert_eq!(take_request(&dir), None);
        let asked = Asked {
            request: Request::Pause,
            by: Asker::Command,
        };
        put_request(&dir, asked).unwrap();
        assert_eq!(take_request(&dir), Some(asked));
        assert_eq!(fs::read_to_string(&other).unwrap(), "stop by watch\n");
    }
}
