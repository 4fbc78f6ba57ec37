//! The commands that steer the shards of an array.

use std::process::{Child, Stdio};

use crate::array::Array;
use crate::isolated::isolated;
use crate::program::{output, queenfold, refusal, text};

/// A process that counts a shard. It is killed if the test ends first.
struct Counting(Child);

impl Drop for Counting {
    fn drop(&mut self) {
        // It has ended already, unless the test fails.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_shards_that_are_counted_are_paused_resumed_and_stopped_together() {
    let array = Array::make(20, 3, "slurm");
    let name = array.name();
    for (command, code) in [("pause", 1), ("drain", 0)] {
        let line = refusal(&mut queenfold(&[command, name]), code);
        let verb = if code == 0 { "stop" } else { command };
        let expected = format!("nothing to {verb}: no process works on a shard of {name}\n");
        assert!(line.ends_with(&expected), "{line}");
    }
    let line = refusal(&mut queenfold(&["resume", name]), 2);
    assert!(line.contains("holds a job array"), "{line}");
    let mut counting: Vec<_> = [0, 2]
        .map(|index| {
            let shard = format!("{index}/3");
            let dir = array.shard(index);
            let mut command = isolated(env!("CARGO_BIN_EXE_queenfold"));
            command.args(["run", "-n", "20", "--engine", "chain", "--isa", "portable"]);
            command.args(["--workers", "1", "--gpu", "off", "--shard", &shard, "--dir"]);
            let child = command
                .arg(dir)
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            Counting(child.spawn().unwrap())
        })
        .into();
    for index in [0, 2] {
        array.wait_for(index);
    }
    for (command, says) in [
        ("pause", "2 shards paused (asked for)"),
        ("resume", "2 shards running"),
        ("stop", "2 shards stopped"),
    ] {
        let done = output(&[command, name]);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert_eq!(text(&done.stdout), format!("{name}: {says}\n"));
    }
    for process in &mut counting {
        assert_eq!(process.0.wait().unwrap().code(), Some(4));
    }
}
