//! Files that the program writes for a user: which of those that are there it may replace, and how a new one takes
//! their place.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::files::{check_writable, give_name, no_detours, open_to_write, unnamed};

/// Folders of the system whose links lead to what this process has open, such as `/dev/stdout`.
const OPEN_FILES: [&str; 3] = ["/dev", "/dev/fd", "/proc/self/fd"];

/// How much of a file is shown that is kept, in bytes.
const SHOWN: usize = 24;

/// A kind of files that the program writes. A file that is there is replaced, or added to, only if it is empty or one of
/// its kind. No link is followed, and nobody waits at a pipe that nobody reads.
///
/// An error of the kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) says that another name is needed.
#[derive(Clone, Copy, Debug)]
pub struct FileKind<'a> {
    /// What one of them is, in words, such as `trace of this program`.
    pub name: &'a str,
    /// What a file of this kind begins with: one of these.
    pub marks: &'a [&'a str],
    /// Whether it may go to a pipe or a device, too: the user has named it, and it does not lie in the directory of a
    /// stranger.
    pub streams: bool,
    /// Whether a file that is there is replaced by a new one, which takes a folder that can be written to.
    pub is_replaced: bool,
}

/// What stands under a name.
enum There {
    Nothing,
    /// A regular file that may be replaced.
    Own(File),
    Stream,
}

impl FileKind<'_> {
    /// Checks, before any work is done, that a file of this kind may be written at `path`.
    ///
    /// # Errors
    /// Something else is there, or the folder cannot be written to.
    pub fn check(&self, path: &Path) -> io::Result<()> {
        self.look(path).map(drop)
    }

    /// Writes `text` at `path`. Whoever reads the file sees the old text or the new one.
    ///
    /// # Errors
    /// As [`check`](Self::check), or the text cannot be written.
    pub fn write(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        match self.look(path)? {
            There::Stream => open_stream(path)?.write_all(text),
            There::Nothing | There::Own(_) => replace(path, text),
        }
    }

    /// Opens the file at `path` to add to it.
    ///
    /// # Errors
    /// As [`check`](Self::check), or the file cannot be opened.
    pub fn append(&self, path: &Path) -> io::Result<File> {
        match self.look(path)? {
            There::Stream => open_stream(path),
            There::Own(file) => Ok(file),
            There::Nothing => no_detours().append(true).create_new(true).open(path),
        }
    }

    /// As [`append`](Self::append), to an empty file: what a file had is lost.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn begin(&self, path: &Path) -> io::Result<File> {
        match self.look(path)? {
            There::Own(file) => {
                // Windows empties no file that is open to append.
                no_detours().write(true).open(path)?.set_len(0)?;
                Ok(file)
            }
            There::Nothing | There::Stream => self.append(path),
        }
    }

    fn look(&self, path: &Path) -> io::Result<There> {
        let kept = |why: &str| Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        let folder = folder_of(path);
        let found = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                check_writable(folder)?;
                return Ok(There::Nothing);
            }
            found => found?,
        };
        let is_open_file = OPEN_FILES.iter().any(|open| Path::new(open) == folder);
        if found.is_symlink() && !(is_open_file && self.streams) {
            return kept("it is a link, and links are not followed; name the file itself");
        }
        if found.is_dir() {
            return kept("it is a directory; name a file");
        }
        if !found.is_file() {
            return match self.streams {
                true => Ok(There::Stream),
                false => kept("it is not a regular file, and is kept; name another one"),
            };
        }
        let file = no_detours().read(true).append(true).open(path)?;
        let longest = self.marks.iter().map(|mark| mark.len()).max();
        let mut head = Vec::new();
        let length = longest.unwrap_or_default().max(SHOWN) as u64;
        (&file).take(length).read_to_end(&mut head)?;
        let is_own = head.is_empty()
            || self
                .marks
                .iter()
                .any(|mark| head.starts_with(mark.as_bytes()));
        if is_own && file.metadata()?.is_file() {
            if self.is_replaced {
                check_writable(folder)?;
            }
            return Ok(There::Own(file));
        }
        let head = String::from_utf8_lossy(&head[..head.len().min(SHOWN)]);
        let head = head.split(['\n', '\0']).next().unwrap_or_default();
        kept(&format!(
            "it is kept, because it is no {} (it begins with {head:?}); name a new file",
            self.name
        ))
    }
}

fn open_stream(path: &Path) -> io::Result<File> {
    open_to_write(File::options().append(true), path)
}

/// The folder in which a file lies.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Replaces whatever stands at `path` by a file with this text, which as many may read. Whoever reads it sees the old text
/// or the new one.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut draft = Draft::beside(path)?;
    if let Ok(there) = fs::symlink_metadata(path)
        && there.is_file()
    {
        draft.file.set_permissions(there.permissions())?;
    }
    draft.file.write_all(text)?;
    draft.put(path)
}

/// A file that takes its place when it is whole. It is removed when dropped; where the file system cannot keep a file
/// without a name, a kill leaves it behind.
pub struct Draft {
    /// The file, to be written and read.
    pub file: File,
    has_name: bool,
    name: PathBuf,
}

impl Draft {
    /// A draft in the folder of `path`.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let folder = folder_of(path);
        // Nobody can lay a link or a file there before.
        let random = RandomState::new().build_hasher().finish();
        let name = folder.join(format!(".queenfold-{random:016x}"));
        let unnamed = unnamed(folder);
        let has_name = unnamed.is_none();
        let named = || {
            no_detours()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&name)
        };
        let file = unnamed.map_or_else(named, Ok)?;
        Ok(Self {
            file,
            has_name,
            name,
        })
    }

    /// A draft in the folder for temporary files, which gets no name.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn temporary() -> io::Result<Self> {
        Self::beside(&std::env::temp_dir().join("draft"))
    }

    /// Takes the place of what stands at `path`.
    ///
    /// # Errors
    /// The folder cannot be written to.
    pub fn put(self, path: &Path) -> io::Result<()> {
        if !self.has_name {
            give_name(&self.file, &self.name)?;
        }
        fs::rename(&self.name, path)
    }

    /// Gives it a name that nothing has.
    ///
    /// # Errors
    /// Something has it, or the folder cannot be written to.
    pub fn put_new(self, path: &Path) -> io::Result<()> {
        match self.has_name {
            true => fs::hard_link(&self.name, path),
            false => give_name(&self.file, path),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing of this name.
        let _ = fs::remove_file(&self.name);
    }
}
