//! What the archives of a release hold, and that their bytes depend on nothing else. `.ci/package check` tests the
//! program in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::skip::skipped;

/// Runs a script of `.ci`. `None` if there is no such shell or no Python.
fn script(interpreter: &str, name: &str, arguments: &[&str], made: u64) -> Option<Output> {
    let root = Path::new(crate::common::ROOT);
    let output = Command::new(interpreter)
        .arg(root.join(".ci").join(name))
        .args(arguments)
        .env("SOURCE_DATE_EPOCH", made.to_string())
        .env_remove("PYTHONPATH")
        .output();
    if output.is_err() {
        skipped(&format!("archives of a release need {interpreter}"));
    }
    output.ok()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of this test")
}

#[test]
fn every_link_of_the_pages_in_an_archive_leads_to_a_file_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(copied) = script("bash", "package", &["documents", text(folder)], 0) else {
        return;
    };
    assert!(copied.status.success(), "{copied:?}");
    let Some(whole) = script("python3", "archive.py", &["links", text(folder)], 0) else {
        return;
    };
    assert!(whole.status.success(), "{whole:?}");

    fs::remove_file(folder.join("docs/FORMATS.md")).unwrap();
    let broken = script("python3", "archive.py", &["links", text(folder)], 0).unwrap();
    let said = String::from_utf8_lossy(&broken.stderr);
    assert!(!broken.status.success());
    assert!(
        said.contains("README.md links to docs/FORMATS.md"),
        "{said}"
    );
}

#[test]
fn two_archives_of_the_same_files_are_the_same() {
    const MADE: u64 = 1_764_028_800;
    let dir = tempfile::tempdir().unwrap();
    // The same files, made in another order and under another umask.
    let files = [
        ("program", 0o755),
        ("man/page", 0o644),
        ("README.md", 0o640),
    ];
    let folders = ["here", "there"].map(|place| dir.path().join(place).join("queenfold"));
    for (folder, second) in folders.iter().zip([false, true]) {
        fs::create_dir_all(folder.join("man")).unwrap();
        for at in 0..files.len() {
            let (name, mode) = files[if second { files.len() - 1 - at } else { at }];
            let mode = if second { mode & 0o700 } else { mode };
            fs::write(folder.join(name), name.repeat(1000)).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    for kind in ["tar.gz", "zip"] {
        let archive = |folder: &Path, name: &str, made| {
            let archive = dir.path().join(format!("{name}.{kind}"));
            let arguments = ["make", text(folder), text(&archive)];
            let output = script("python3", "archive.py", &arguments, made)?;
            assert!(output.status.success(), "{output:?}");
            Some(fs::read(archive).unwrap())
        };
        let Some(first) = archive(&folders[0], "first", MADE) else {
            return;
        };
        assert_eq!(archive(&folders[1], "second", MADE).unwrap(), first);
        // Times of a zip have two seconds.
        assert_ne!(archive(&folders[0], "later", MADE + 2).unwrap(), first);
    }
}
