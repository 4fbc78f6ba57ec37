//! Compiled kernels on disk, so that a program is compiled once for each device and compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::engine::fnv;
use crate::machine::user_folder;

/// `queenfold` in the user's cache folder; `None` if the user has none.
pub(super) fn default_folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache")
}

/// Where the kernel made of `source` with `options` by `compiler` is kept in `folder`.
pub(super) fn path(folder: &Path, source: &str, options: &[String], compiler: &str) -> PathBuf {
    let key = [source, &options.join(" "), compiler].join("\0");
    // Two hashes of 64 bits, one of them with a prefix.
    let salted = fnv(format!("queenfold\0{key}").as_bytes());
    folder.join(format!("{:016x}{salted:016x}.cubin", fnv(key.as_bytes())))
}

/// Keeps a kernel. The file appears complete or not at all. A failure is ignored, because it only
/// means that the kernel is compiled again.
pub(super) fn keep(path: &Path, kernel: &[u8]) {
    let Some(folder) = path.parent() else {
        return;
    };
    let unfinished = path.with_extension(process::id().to_string());
    let kept = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&unfinished, kernel))
        .and_then(|()| fs::rename(&unfinished, path));
    if kept.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_source_options_and_compiler() {
        let options = |text: &str| vec![text.to_owned()];
        let folder = Path::new("/cache");
        let first = path(folder, "source", &options("-a"), "13.0");
        assert_eq!(first, path(folder, "source", &options("-a"), "13.0"));
        for other in [
            path(folder, "other", &options("-a"), "13.0"),
            path(folder, "source", &options("-b"), "13.0"),
            path(folder, "source", &options("-a"), "13.1"),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn what_is_kept_is_there_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below").join("kernel.cubin");
        keep(&path, b"kernel");
        assert_eq!(fs::read(&path).unwrap(), b"kernel");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_does_no_harm() {
        let file = tempfile::NamedTempFile::new().unwrap();
        keep(&file.path().join("kernel.cubin"), b"kernel");
    }
}
