//! The dashboard of an array, on a real terminal.

use crate::array::Array;
use crate::program::{queenfold, refusal, stdout};
use crate::tmux::Tmux;

const PROGRAM: &str = env!("CARGO_BIN_EXE_queenfold");

#[test]
fn the_shards_of_an_array_are_shown_paused_and_stopped() {
    let Some(tmux) = Tmux::start(100, 30) else {
        return;
    };
    let array = Array::make(20, 4, "slurm");
    let task = |index: u32| {
        format!(
            "SLURM_ARRAY_TASK_ID={index} QUEENFOLD_RUN_ISA=portable bash {}/slurm.sh > said{index} 2>&1 &",
            array.name()
        )
    };
    tmux.type_line(&[task(0), task(2)].join(" "));
    tmux.type_line(&format!(
        "clear; {PROGRAM} watch {}; echo code $?",
        array.name()
    ));
    let is_shown = |does: &str, screen: &str| {
        let row = |shard| {
            let mut lines = screen.lines();
            lines.any(|line| line.trim_start().starts_with(shard) && line.contains(does))
        };
        row("0 ") && row("2 ")
    };
    // The keys come last.
    let screen = tmux.see_that("two shards", |screen| {
        is_shown(" running ", screen) && screen.contains("q leave")
    });
    for text in [
        "n = 20 by chain-1",
        "not begun 2",
        " hosts ",
        " 4 shards, a cell each ",
        "●●●●····●●●●····",
        "--array=1,3 ",
        "q leave",
    ] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
    tmux.press("p");
    tmux.see_that("a pause", |screen| is_shown("paused (asked for)", screen));
    tmux.press("p");
    tmux.see_that("no pause", |screen| is_shown(" running ", screen));
    tmux.resize_and_press(60, 20, "?");
    tmux.see("pause the running shards");
    tmux.press("q");
    tmux.press("d");
    tmux.see("press d again to stop");
    tmux.press("d");
    let screen = tmux.see("no shard is counted at the moment");
    assert!(
        screen.contains("stopped 2") && screen.contains("--array=0-3 "),
        "{screen}"
    );
    tmux.press("q");
    tmux.see("q leaves");
    tmux.press("q");
    tmux.see("code 0");
    let said = std::fs::read_to_string(tmux.folder().join("said0")).unwrap();
    assert!(said.contains("as `queenfold watch` asks"), "{said}");
}

#[test]
fn a_finished_array_is_shown_as_text_and_another_one_needs_a_terminal() {
    let array = Array::make(12, 1, "slurm");
    let line = refusal(&mut queenfold(&["watch", array.name()]), 2);
    assert!(line.contains("watch needs a terminal"), "{line}");
    let shard = array.shard(0);
    let run = [
        "run",
        "-n",
        "12",
        "--engine",
        "chain",
        "--dir",
        shard.to_str().unwrap(),
    ];
    stdout(&run);
    let shown = stdout(&["watch", array.name()]);
    assert!(shown.contains("finished    1 of 1 shard"), "{shown}");
}
