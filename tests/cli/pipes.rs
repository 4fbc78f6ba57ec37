//! What is no regular file where one is expected, pipes that nobody reads, and a standard output that is closed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use crate::common::program::{PROGRAM, isolated, make_pipe, printed, queenfold, refusal, tells};

fn pipe(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    make_pipe(&path);
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_pipe_is_not_read_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let name = pipe(folder.path(), "pipe");
    for (args, code) in [
        (&["run", "-n", "6", "--config", &name][..], 2),
        (&["ladder", "--from", &name, "--plot", "-"], 2),
        (&["certify", "none", "-o", "c", "--key", &name], 2),
    ] {
        let line = refusal(&mut queenfold(args), code);
        tells(&line, &[&name, "no regular file"]);
    }
    let local = tempfile::tempdir().unwrap();
    pipe(local.path(), "queenfold.toml");
    let args = ["run", "-n", "6"];
    let line = refusal(queenfold(&args).current_dir(local.path()), 2);
    tells(&line, &["./queenfold.toml", "no regular file"]);
}

#[test]
fn a_board_is_read_from_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let name = pipe(folder.path(), "pipe");
    let of_name = name.clone();
    let writer = thread::spawn(move || fs::write(of_name, ".#..\n....\n....\n....\n"));
    let mut command = queenfold(&["run", "--board", &name, "--json", "-q"]);
    let counted = command.output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(printed(&counted.stdout).contains("\"total\":\"1\""));
    // What does not end is no board.
    let line = refusal(&mut queenfold(&["run", "--board", "/dev/zero"]), 2);
    assert!(line.contains("at most 64 KiB"), "{line}");
}

#[test]
fn events_and_a_trace_are_not_written_to_a_pipe_that_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let name = pipe(folder.path(), "pipe");
    for (flag, what) in [("--events", "events file"), ("--trace", "trace file")] {
        let line = refusal(&mut queenfold(&["run", "-n", "6", flag, &name]), 1);
        let says = format!("{what} {name}: nobody reads this pipe; begin to read it first");
        assert!(line.contains(&says), "{line}");
    }
}

#[test]
fn events_and_a_trace_go_whole_to_whoever_reads_the_pipe() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, last) in [("--events", "\"finished\""), ("--trace", "]}")] {
        let name = pipe(folder.path(), flag);
        // A shell opens both ends, so that the reader is there before the program begins. It reads late: the pipe may
        // be full meanwhile.
        let script = "exec 3<>\"$1\" 4<\"$1\" 5>\"$1\" 3>&-; \
             (sleep 1; exec cat <&4 >\"$1.read\") 5>&- & \
             \"$0\" run -n 13 \"$2\" \"$1\" >/dev/null 5>&-; code=$?; exec 5>&-; wait; exit $code";
        let done = isolated("sh")
            .args(["-c", script, PROGRAM, &name, flag])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(done.status.success(), "{flag}: {done:?}");
        let read = fs::read_to_string(format!("{name}.read")).unwrap();
        assert!(
            read.trim_end()
                .lines()
                .last()
                .is_some_and(|line| line.contains(last)),
            "{read}"
        );
    }
}

#[test]
fn a_result_that_nobody_can_get_is_an_error() {
    for args in ["run -n 8", "run -n 8 --json", "--version", "config"] {
        let script = format!("exec {} {args} >&-", PROGRAM);
        let done = isolated("sh")
            .args(["-c", &script])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .output()
            .unwrap();
        let line = printed(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{args}: {line}");
        assert_eq!(
            line, "error: cannot write the result: standard output is closed\n",
            "{args}"
        );
    }
}

/// A program that starts this one may open the same device as the runtime does in place of a closed stream.
#[test]
fn a_result_may_be_thrown_away() {
    let done = isolated(PROGRAM)
        .args(["run", "-n", "8"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdout(
            fs::File::options()
                .read(true)
                .write(true)
                .open("/dev/null")
                .unwrap(),
        )
        .status();
    assert!(done.unwrap().success());
}
