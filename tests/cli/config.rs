//! Where settings come from, which `config` prints, and which settings are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::common::program::{self, PROGRAM, refusal, tells};
use crate::common::skip::skipped;
use crate::common::terminal::Terminal;

/// The program in `folder`.
fn queenfold(folder: &Path, args: &[&str]) -> Command {
    let mut command = program::queenfold(args);
    command.current_dir(folder);
    command
}

/// A folder with the files `queenfold.toml` (`local`) and `other.toml` (`other`).
fn folder(local: &str, other: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("queenfold.toml"), local).expect("written");
    fs::write(folder.path().join("other.toml"), other).expect("written");
    folder
}

/// The user's own settings, in a home of their own. Returns the home and the file.
fn own_settings(text: &str) -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("queenfold/config.toml");
    fs::create_dir(file.parent().expect("a folder")).expect("made");
    fs::write(&file, text).expect("written");
    (home, file)
}

#[test]
fn the_first_source_that_names_a_value_wins() {
    let folder = folder(
        "[run]\nworkers = 2\nunique = false\n",
        "[run]\nworkers = 3\nunique = true\nisa = \"portable\"\n",
    );
    let (home, own) = own_settings("[run]\nnice = 10\nmax_temp = 85\nunique = true\nworkers = 9\n");
    let own = format!("file {}", own.display());
    for (config, unique, file, isa, of_isa) in [
        (&[][..], false, "file ./queenfold.toml", "auto", "default"),
        (
            &["--config", "other.toml"],
            true,
            "file other.toml",
            "portable",
            "file other.toml",
        ),
    ] {
        let shown = queenfold(folder.path(), &["config", "--json", "--workers", "5"])
            .args(config)
            .env("XDG_CONFIG_HOME", home.path())
            .env("QUEENFOLD_RUN_WORKERS", "4")
            .env("QUEENFOLD_RUN_GPU", "0,2")
            .output()
            .expect("it starts");
        let shown: Json = serde_json::from_slice(&shown.stdout).expect("JSON");
        for (key, value, origin) in [
            ("run.workers", Json::from(5), "flag --workers"),
            (
                "run.gpu",
                "0,2".into(),
                "environment variable QUEENFOLD_RUN_GPU",
            ),
            ("run.unique", unique.into(), file),
            ("run.isa", isa.into(), of_isa),
            ("run.nice", 10.into(), &own),
            ("run.max_temp", 85.into(), &own),
            ("run.engine", "auto".into(), "default"),
        ] {
            assert_eq!(shown[key]["value"], value, "{key}");
            assert_eq!(shown[key]["origin"], origin, "{key}");
        }
    }
}

/// A folder may come from anybody, and entering it must neither run a command nor overwrite a file.
#[test]
fn a_local_file_runs_no_command_and_writes_no_file() {
    for (key, value) in [
        ("on_event", "touch pwned"),
        ("file", "victim"),
        ("metrics", "victim"),
        ("events", "victim"),
    ] {
        let text = format!("[trace]\n\n{key} = \"{value}\"\n");
        let folder = folder(&text, &text);
        fs::write(folder.path().join("victim"), "dear").expect("written");
        let run =
            |more: &[&str]| queenfold(folder.path(), &[&["run", "-n", "4", "-q"], more].concat());
        let line = refusal(&mut run(&[]), 2);
        let place = format!("./queenfold.toml, line 3: trace.{key} = \"{value}\" is refused");
        tells(&line, &[&place, "--config ./queenfold.toml"]);
        let victim = fs::read_to_string(folder.path().join("victim")).expect("text");
        assert_eq!(
            (victim.as_str(), folder.path().join("pwned").exists()),
            ("dear", false)
        );
        fs::remove_file(folder.path().join("victim")).expect("it is there");
        // Whoever names the file wants it.
        for file in ["./queenfold.toml", "other.toml"] {
            assert_eq!(
                run(&["--config", file])
                    .output()
                    .expect("it starts")
                    .status
                    .code(),
                Some(0),
                "{key}"
            );
        }
        // So does whoever wrote it into the own settings.
        fs::write(
            folder.path().join("queenfold.toml"),
            "trace.file = \"none\"\n",
        )
        .expect("written");
        let (home, _) = own_settings(&text);
        let output = run(&[])
            .env("XDG_CONFIG_HOME", home.path())
            .output()
            .expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{key}: {output:?}");
        let made = ["victim", "pwned"].map(|file| folder.path().join(file).exists());
        assert!(made[0] || made[1], "{key}");
    }
}

#[test]
fn a_local_file_that_others_wrote_or_can_write_is_not_read() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let folder = folder("[run]\nworkers = 2\n", "");
    let file = folder.path().join("queenfold.toml");
    let refused = |says: &str| {
        for command in [
            &["run", "-n", "4"][..],
            &["run", "--census", "-n", "4"],
            &["config"],
        ] {
            let line = refusal(&mut queenfold(folder.path(), command), 2);
            let start = "error: ./queenfold.toml is not read, because ";
            assert!(line.starts_with(start) && line.contains(says), "{line}");
            tells(
                &line,
                &["; `--config ./queenfold.toml` says that it is wanted"],
            );
            let wanted = [command, &["--config", "./queenfold.toml"]].concat();
            let output = queenfold(folder.path(), &wanted)
                .output()
                .expect("it starts");
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    };
    for mode in [0o664, 0o646, 0o666] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("set");
        refused(&format!(
            "others can write to it (mode {mode:04o}, which `chmod go-w` cures)"
        ));
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("set");
    let output = queenfold(folder.path(), &["run", "-n", "4"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    match chown(&file, Some(12_345), None) {
        Ok(()) => refused("it belongs to another user (uid 12345)"),
        Err(_) => skipped("only root can give a file to another user"),
    }
}

#[test]
fn the_own_settings_are_refused_if_others_wrote_them_or_can() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let folder = folder("", "");
    let (home, own) = own_settings("run.workers = 1\n");
    let run = || {
        let mut command = queenfold(folder.path(), &["4"]);
        command.env("XDG_CONFIG_HOME", home.path());
        command
    };
    let mode = |mode| fs::set_permissions(&own, fs::Permissions::from_mode(mode)).expect("set");
    for open in [0o664, 0o646, 0o666] {
        mode(open);
        let line = refusal(&mut run(), 2);
        let says = "config.toml is not read, because others can write to it";
        tells(&line, &[says, "`chmod go-w`"]);
    }
    mode(0o444);
    assert!(run().output().unwrap().status.success());
    match chown(&own, Some(12_345), None) {
        Ok(()) => {
            let line = refusal(&mut run(), 2);
            tells(&line, &["belongs to another user (uid 12345)"]);
        }
        Err(_) => skipped("only root can give a file to another user"),
    }
}

#[test]
fn a_local_file_that_is_a_pipe_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("queenfold.toml");
    program::make_pipe(&pipe);
    let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
    assert!(line.contains("./queenfold.toml: no regular file"), "{line}");
}

/// Nobody need know that a folder has such a file.
#[test]
fn what_a_local_file_sets_is_said_at_a_terminal() {
    let folder = folder("[run]\nnice = 3\nworkers = 2\n[output]\nquiet = true\n", "");
    let run = |more: &str| {
        let place = folder.path().display();
        let program = PROGRAM;
        let mut terminal =
            Terminal::start(&format!("cd {place} && exec {program} run -n 6 {more}"))?;
        assert_eq!(terminal.end(), 0, "{}", terminal.screen);
        Some(terminal.screen.clone())
    };
    let Some(screen) = run("--workers 1") else {
        return skipped("a terminal needs the tool script");
    };
    tells(
        &screen,
        &["./queenfold.toml sets run.nice = 3, output.quiet = true"],
    );
    for more in ["-q", "--nice 4 --workers 1 -q"] {
        let screen = run(more).expect("a terminal");
        assert!(!screen.contains("sets run.nice"), "{more}: {screen}");
    }
    let output = queenfold(folder.path(), &["run", "-n", "6"])
        .output()
        .expect("it starts");
    assert_eq!(program::printed(&output.stderr), "");
}

#[test]
fn what_config_shows_is_a_configuration_that_changes_nothing() {
    let folder = folder("[run]\ngpu = \"0,2\"\ncanary = \"20m\"\n", "");
    let show = |args: &[&str]| {
        let output = queenfold(folder.path(), args).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let values = |text: &str| {
        text.lines()
            .map(|line| {
                line.split(" # ")
                    .next()
                    .unwrap_or_default()
                    .trim_end()
                    .to_owned()
            })
            .collect::<Vec<_>>()
    };
    let first = show(&["config"]);
    fs::write(folder.path().join("other.toml"), &first).expect("written");
    let second = show(&["config", "--config", "other.toml"]);
    assert_eq!(values(&first), values(&second));
    assert!(!second.contains("# default"), "{second}");
}

/// A board that `auto` counts by the colour engine on every machine.
#[test]
fn each_file_of_config_counts_by_the_engine_that_auto_takes() {
    let engine = |more: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let args = ["run", "-n", "16", "--workers", "1", "--json"];
        let output = queenfold(folder.path(), &[&args, more].concat()).output();
        let output = output.expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{more:?}: {output:?}");
        let result: Json = serde_json::from_slice(&output.stdout).expect("JSON");
        result["engine"].clone()
    };
    let by_auto = engine(&["--engine", "auto"]);
    let files =
        fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../config")).expect("a folder");
    let paths = files.map(|file| file.expect("read").path());
    let paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    assert!(paths.len() >= 4, "{paths:?}");
    for path in paths {
        let file = path.to_str().expect("text");
        assert_eq!(engine(&["--config", file]), by_auto, "{file}");
    }
}

#[test]
fn a_local_file_that_links_nowhere_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("queenfold.toml");
    std::os::unix::fs::symlink("gone.toml", link).expect("linked");
    let line = refusal(&mut queenfold(folder.path(), &["run", "-n", "4"]), 2);
    assert!(line.contains("./queenfold.toml"), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_without_end_and_one_that_is_too_long_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for device in ["/dev/zero", "/dev/full"] {
        let args = ["run", "-n", "4", "--config", device];
        let line = refusal(&mut queenfold(folder.path(), &args), 2);
        tells(&line, &[device, "no regular file"]);
    }
    let long = folder.path().join("long.toml");
    fs::write(&long, "#".repeat((1 << 20) + 1)).expect("written");
    let args = ["run", "-n", "4", "--config", "long.toml"];
    let line = refusal(&mut queenfold(folder.path(), &args), 2);
    tells(&line, &["long.toml", "1 MiB"]);
}
