//! The commands that steer the shards of an array.

use super::array::Array;
use crate::common::program::{Running, output, printed, queenfold, refusal, text, words};

#[test]
fn the_shards_that_are_counted_are_paused_resumed_and_stopped_together() {
    let array = Array::make(20, 3, "slurm");
    let name = array.name();
    for (command, code) in [("pause", 1), ("stop", 0)] {
        let line = refusal(&mut queenfold(&[command, name]), code);
        let verb = if code == 0 { "stop" } else { command };
        let expected = format!("nothing to {verb}: no process works on a shard of {name}\n");
        assert!(line.ends_with(&expected), "{line}");
    }
    let line = refusal(&mut queenfold(&["resume", name]), 2);
    assert!(line.contains("holds a job array"), "{line}");
    let counting = [0, 2].map(|index| {
        let how =
            "run -n 20 --engine chain --isa portable --workers 1 --gpu off --shard {} --dir {}";
        Running::start(&words!(
            how,
            &format!("{index}/3"),
            text(&array.shard(index))
        ))
    });
    for index in [0, 2] {
        array.wait_for(index);
    }
    for (command, says) in [
        ("pause", "2 shards paused (asked for)"),
        ("resume", "2 shards running"),
        ("stop", "2 shards stopped"),
    ] {
        let done = output(&[command, name]);
        let said = printed(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert_eq!(printed(&done.stdout), format!("{name}: {says}\n"));
    }
    for process in counting {
        assert_eq!(process.end().0, 4);
    }
}
