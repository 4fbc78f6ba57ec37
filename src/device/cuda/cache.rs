//! Compiled kernels on disk, so that a program is compiled once for each device and compiler.

use std::path::{Path, PathBuf};
use std::{fs, process};

use crate::device::kernel_source::fnv;

/// Where the kernel made of `source` with `options` by `compiler` is kept in `folder`.
pub(super) fn path(folder: &Path, source: &str, options: &[String], compiler: &str) -> PathBuf {
    let key = [source, &options.join(" "), compiler].join("\0");
    // Two hashes of 64 bits, one of them with a prefix.
    let salted = fnv(format!("queenfold\0{key}").as_bytes());
    folder.join(format!("{:016x}{salted:016x}.cubin", fnv(key.as_bytes())))
}

/// Before the kernel in a file: what the file is, then the length of the kernel and its hash, so that a file
/// that a full disk or a power failure has cut is noticed.
const MAGIC: &[u8] = b"queenfold kernel 1\n";

/// Keeps a kernel. The file appears complete or not at all. A failure is ignored, because it only
/// means that the kernel is compiled again.
pub(super) fn keep(path: &Path, kernel: &[u8]) {
    let Some(folder) = path.parent() else {
        return;
    };
    // Machines that share the folder may have processes of one number.
    let unfinished = path.with_extension(format!("{}-{:016x}", process::id(), fastrand::u64(..)));
    let length = (kernel.len() as u64).to_le_bytes();
    let file = [MAGIC, &length, &fnv(kernel).to_le_bytes(), kernel].concat();
    let kept = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&unfinished, file))
        .and_then(|()| fs::rename(&unfinished, path));
    if kept.is_err() {
        // The file may not exist.
        let _ = fs::remove_file(&unfinished);
    }
}

/// The kernel that was kept; `None` if there is none, or not all of it.
pub(super) fn kept(path: &Path) -> Option<Vec<u8>> {
    let file = fs::read(path).ok()?;
    let (length, rest) = file.strip_prefix(MAGIC)?.split_first_chunk()?;
    let (hash, kernel) = rest.split_first_chunk()?;
    let whole = u64::from_le_bytes(*length) == kernel.len() as u64
        && u64::from_le_bytes(*hash) == fnv(kernel);
    whole.then(|| kernel.to_vec())
}

/// The file beside that of a kernel that names the driver which does not load it.
fn refusal(path: &Path) -> PathBuf {
    path.with_extension("refused")
}

/// Removes a kernel and remembers that this version of the driver does not load it: otherwise every process would compile
/// it again. A failure is ignored, as in [`keep`].
pub(super) fn refuse(path: &Path, driver: &str) {
    // Either may not be there, or not be writable.
    let _ = fs::remove_file(path);
    let _ = fs::write(refusal(path), driver);
}

/// Whether this version of the driver does not load a kernel.
pub(super) fn is_refused(path: &Path, driver: &str) -> bool {
    fs::read(refusal(path)).is_ok_and(|by| by == driver.as_bytes())
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
        assert_eq!(kept(&path).unwrap(), b"kernel");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_cut_or_changed_is_no_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel.cubin");
        assert_eq!(kept(&path), None);
        keep(&path, b"kernel");
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(kept(&path), None, "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).unwrap();
            assert_eq!(kept(&path), None, "byte {at}");
        }
        fs::write(&path, whole).unwrap();
        assert!(kept(&path).is_some());
    }

    #[test]
    fn a_folder_that_cannot_be_written_does_no_harm() {
        let file = tempfile::NamedTempFile::new().unwrap();
        keep(&file.path().join("kernel.cubin"), b"kernel");
    }
}
