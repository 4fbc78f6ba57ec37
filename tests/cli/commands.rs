//! The command line: usage errors, tables, JSON and exit codes.

use serde_json::Value as Json;

use crate::common::help::groups_in;
use crate::common::program::{
    PROGRAM, first_object, isolated, json, output, printed, queenfold, refusal, refuses, stdout,
    tells,
};
use crate::common::skip::skipped;

#[test]
fn usage_errors_are_one_line_and_exit_2() {
    refuses(
        2,
        r#"
        run -n 0 => from 1 to 32
        run -n abc => 'abc'
        run -n -3..=5 => '-3..=5'
        run -n  => from 1 to 32
        run -n => a value is required
        run => -n
        run -n 8 --workers 0 --gpu off => 0 workers
        run -n 8 --gpu 64 => from 0 to 63
        run -n 8 --gpu none => auto, off, cuda, or numbers
        run -n 8 --workers 1025 => from 0 to 1024
        run -n 8 --workers -1 => from 0 to 1024
        run -n 8 --engine census => auto
        run -n 8 --isa avx => avx2
        run -n 8 --time-limit 5␣months => w, d, h, m, s
        run -n 8 --trace - => standard output
        run -n 8 --time-limit -1s => invalid value '-1s' for '--time-limit
        run -n 8 --time-limit 0.5ms => from 1ms
        run -n 8 --workers -x => invalid value '-x'
        run -n 8 --jsn => '--json'
        run -n 8 --config no-such-file => no-such-file
        run --census => -n
        bench --isa sse2 => portable
        bench --for 0 => invalid value '0' for '--for
        bench --jsn => '--json'
        run --census -n 8 --dir x => cannot be used with
        run --census -n 8 --gpu off => cannot be used with
        run --census -n 8 --engine chain => cannot be used with
        gather => DIR
        gather --take-out a => --into
        gather a --take-out a --into b => cannot be used with
        generate => DIR
        "#,
    );
}

#[test]
fn what_is_asked_for_is_not_dropped_without_a_word() {
    refuses(
        2,
        r#"
        8 -n 9 => unexpected argument '8' found
        estimate -n 18 --workers 0 => 0 workers count no sample
        run -n 8 --queens  => a value is required
        run -n 8 --holes none => `none` names no square of n = 8
        solve -n 8 --count 0 --json => --count 0 goes without --json
        solve -n 8 --seed -1 => expected random or a whole number from 0 to
        array -n 20 --for slurm --shards x => expected a whole number from 0 to
        "#,
    );
    refuses(
        1,
        r#"
        generate /dev/null/x => /dev/null/x: Not a directory
        run -n 8 --dir /dev/null/x => /dev/null is a file
        "#,
    );
}

#[test]
fn help_tells_of_examples_and_exit_codes() {
    let help = stdout(&["--help"]);
    for part in [
        "Examples:",
        "Exit codes:",
        "130",
        "queenfold 8 ",
        "QUEENFOLD_RUN_WORKERS=4",
        "NO_COLOR",
    ] {
        assert!(help.contains(part), "{part}");
    }
    assert!(stdout(&["run", "--help"]).contains("Examples:"));
    let program = concat!("queenfold ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(stdout(&["-V"]), program);
    let version = stdout(&["--version"]);
    assert!(version.starts_with(program), "{version}");
    for part in [
        "\ncommit ",
        "\nfeatures  cuda",
        "\nkernels   portable",
        " colour-",
    ] {
        assert!(version.contains(part), "{version}");
    }
    assert_eq!(output(&[]).status.code(), Some(2));
}

#[test]
fn the_number_of_workers_changes_times_alone() {
    let record = |workers| {
        let mut record = json(&["run", "-n", "12", "--json", "--workers", workers]);
        let fields = record.as_object_mut().unwrap();
        for field in ["workers", "seconds", "cpu_seconds"] {
            fields.remove(field).expect(field);
        }
        record
    };
    assert_eq!(record("1"), record("2"));
    assert_eq!(record("1"), record("7"));
}

#[test]
fn nothing_but_results_is_printed_where_there_is_no_terminal() {
    assert_eq!(printed(&output(&["run", "-n", "8"]).stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error_help_included() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["run", "-n", "4"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let written = isolated(PROGRAM)
            .args(args)
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdout(full)
            .output()
            .expect("it starts");
        let line = printed(&written.stderr);
        assert_eq!(written.status.code(), Some(1), "{args:?}: {line}");
        assert!(line.contains("cannot write"), "{args:?}: {line}");
    }
}

#[test]
fn a_trace_is_json_and_one_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let traced = output(&[
        "run",
        "-n",
        "9..=10",
        "--json",
        "-q",
        "--trace",
        path.to_str().unwrap(),
    ]);
    // What was asked for is printed even when quiet.
    let profile = printed(&traced.stderr);
    tells(
        &profile,
        &["n = 9\n", "n = 10\n", "worker-0", "finish skew"],
    );
    let lines = printed(&traced.stdout);
    assert!(
        lines
            .lines()
            .all(|line| serde_json::from_str::<Json>(line).is_ok())
    );
    let trace = std::fs::read_to_string(&path).unwrap();
    assert!(serde_json::from_str::<Json>(&trace).is_ok(), "{trace}");
    let line = refusal(
        &mut queenfold(&["run", "-n", "4", "--trace", "/no/such/folder/t"]),
        1,
    );
    assert!(line.contains("/no/such/folder/t"), "{line}");
}

#[test]
fn selftest_shows_the_machine_and_prints_a_line_a_check() {
    let said = stdout(&["selftest"]);
    let (machine, checks) = said.split_once("\n\n").unwrap();
    assert!(machine.contains("Instruction sets  portable"), "{machine}");
    assert!(
        checks
            .lines()
            .all(|line| line.starts_with("ok ") || line.starts_with("skip "))
    );
    assert!(checks.contains("chain on portable") && checks.contains("census"));
}

#[test]
fn an_instruction_set_that_is_not_here_exits_6() {
    let machine = first_object(&stdout(&["selftest", "--json"]));
    assert!(machine["cores"].as_u64().unwrap() >= 1);
    let here = machine["isas"].as_array().unwrap();
    let Some(missing) = ["avx2", "avx512"]
        .into_iter()
        .find(|isa| !here.contains(&(*isa).into()))
    else {
        skipped("this machine has every instruction set");
        return;
    };
    let line = refusal(&mut queenfold(&["run", "-n", "4", "--isa", missing]), 6);
    assert!(line.contains(missing), "{line}");
}

#[test]
fn a_time_limit_exits_4_without_a_result() {
    let line = refusal(
        &mut queenfold(&["run", "-n", "20", "--time-limit", "100ms"]),
        4,
    );
    tells(&line, &["time limit", "nothing is kept"]);
}

#[test]
fn no_workers_and_no_gpu_found_is_unavailable_and_says_why() {
    let args = ["run", "-n", "10", "--gpu", "auto", "--workers", "0"];
    let output = output(&args);
    let error = printed(&output.stderr);
    // 0 on a machine with a GPU that counts the board.
    assert!(matches!(output.status.code(), Some(0 | 6)), "{error}");
    assert!(!error.contains("count nothing"), "{error}");
}

#[test]
fn a_package_gets_a_page_for_each_command_and_completions_for_each_shell() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("a/package");
    stdout(&["generate", dir.to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(dir.join("man").join(name)).unwrap();
    let program = page("queenfold.1");
    tells(&program, &[".SH \"EXIT CODES\"\n.nf\n0    done"]);
    let run = page("queenfold-run.1");
    for part in ["fB\\-\\-time\\-limit", ".SH EXAMPLES\n.nf\nqueenfold run"] {
        assert!(run.contains(part), "{part}: {run}");
    }
    let verify = page("queenfold-verify.1");
    tells(&verify, &["fBqueenfold verify\\fR [OPTIONS] <DIR>\n"]);
    let groups = groups_in(&stdout(&["--help"]));
    let commands: Vec<_> = groups.into_iter().flat_map(|(_, names)| names).collect();
    assert_eq!(commands.len(), 20, "{commands:?}");
    for name in commands.iter().filter(|name| *name != "help") {
        let entry = format!(".TP\nqueenfold\\-{name}(1)\n");
        assert_eq!(program.matches(&entry).count(), 1, "{name}: {program}");
        page(&format!("queenfold-{name}.1"));
    }
    for file in ["queenfold.bash", "_queenfold", "queenfold.fish"] {
        let script = std::fs::read_to_string(dir.join("completions").join(file)).unwrap();
        for part in ["time-limit", "portable"] {
            assert!(script.contains(part), "{file}");
        }
    }
}

#[test]
fn squares_of_flags_that_are_repeated_add_up() {
    for [once, twice] in [
        [
            &["--queens", "a1,c2"][..],
            &["--queens", "a1", "--queens", "c2"],
        ],
        [&["--holes", "a1,c4"], &["--holes", "a1", "--holes", "c4"]],
    ] {
        let given = |flags: &[&str]| {
            let args = [&["run", "-n", "6", "--json"][..], flags].concat();
            json(&args)["given"].take()
        };
        assert_eq!(given(once), given(twice), "{twice:?}");
    }
}

#[test]
fn what_is_not_there_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let said = |args: &[&str], code| {
        let mut command = queenfold(args);
        refusal(command.current_dir(folder.path()), code)
    };
    std::fs::write(folder.path().join("file"), "").unwrap();
    for command in ["status", "resume", "report"] {
        let line = said(&[command, "nothing"], 1);
        assert!(line.ends_with("nothing does not exist\n"), "{line}");
    }
    let line = said(&["run", "-n", "8", "--dir", "file"], 1);
    tells(&line, &["file is a file, not a run directory"]);
    let line = said(&["run", "-n", "8", "--dir", "."], 2);
    assert!(line.contains("`file` is no file of a run"), "{line}");
    {
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        for args in [
            &["run", "-n", "8", "--dir", "link"][..],
            &["status", "link"],
        ] {
            let line = said(args, 1);
            tells(&line, &["link is a link to what does not exist"]);
        }
    }
}

/// A shell replaces `~` neither in quotes nor after `--dir=`.
#[test]
fn a_path_that_begins_with_a_tilde_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["run", "-n", "8", "--dir", "~/x"][..],
        &["run", "-n", "8", "--dir=~/x"],
        &["run", "-n", "8", "--metrics=~/x"],
        &["run", "-n", "8", "--events", "~/x"],
        &["report", "run", "-o", "~/x"],
        &["gather", "run", "--into", "~"],
        &["generate", "~/x"],
    ] {
        let line = refusal(queenfold(args).current_dir(folder.path()), 2);
        assert!(
            line.contains("write $HOME, or the whole path"),
            "{args:?}: {line}"
        );
    }
    let mut command = queenfold(&["run", "-n", "8"]);
    let line = refusal(command.env("QUEENFOLD_TRACE_FILE", "~/x"), 2);
    assert!(line.contains("write $HOME"), "{line}");
}

#[test]
fn a_run_inside_the_directory_of_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = queenfold(args);
        command.current_dir(folder.path());
        command
    };
    for dir in ["one", "one/../two"] {
        let made = run(&["run", "-n", "8", "--dir", dir]).output();
        assert!(made.unwrap().status.success());
    }
    for args in [
        &["run", "-n", "8", "--dir", "one/a/b"][..],
        &["run", "-n", "8", "--dir", "two/../one/a"],
        &["gather", "two", "--into", "one/a"],
    ] {
        let line = refusal(&mut run(args), 2);
        assert!(line.contains("one, which holds a run"), "{line}");
        assert!(!folder.path().join("one/a").exists());
    }
}
