//! What a build lacks, it names.

use crate::program::{queenfold, refusal, stdout};

/// Commands and flags, their Cargo feature, whether this build has it, command lines that use them, and the exit code
/// of these if it has not.
const PARTS: [(&str, &str, bool, &[&[&str]], i32); 5] = [
    (
        "serve, work",
        "nats",
        cfg!(feature = "nats"),
        &[
            &["serve", "n24", "-n", "24", "--nats", "nats://host"],
            &["serve", "--help"],
            &["help", "serve"],
            &["work"],
            &["help", "work"],
        ],
        2,
    ),
    (
        "watch, --tui",
        "tui",
        cfg!(feature = "tui"),
        &[&["watch", "n24"], &["run", "-n", "8", "--tui"]],
        2,
    ),
    (
        "bench --gpu",
        "cuda",
        cfg!(feature = "cuda"),
        &[&["bench", "--gpu"], &["bench", "--device", "1", "--gpu"]],
        2,
    ),
    (
        "--gpu cuda, --style gpu",
        "cuda",
        cfg!(feature = "cuda"),
        &[
            &["run", "-n", "8", "--gpu", "cuda"],
            &[
                "ladder",
                "--method",
                "bit-board",
                "-n",
                "6",
                "--style",
                "gpu",
            ],
        ],
        6,
    ),
    (
        "--gpu emulated, --style emulated",
        "emulated-gpu",
        cfg!(feature = "emulated-gpu"),
        &[
            &["run", "-n", "8", "--gpu", "emulated"],
            &[
                "ladder",
                "--method",
                "bit-board",
                "-n",
                "6",
                "--style",
                "emulated",
            ],
        ],
        6,
    ),
];

#[test]
fn what_a_build_lacks_names_its_feature_and_how_to_get_it() {
    let help = stdout(&["--help"]);
    for (names, feature, is_built, uses, code) in PARTS {
        let how = format!("cargo install --locked --path . --features {feature}");
        let mut lines = help.lines();
        let named = lines.any(|line| line.contains(names) && line.ends_with(&how));
        assert_eq!(named, !is_built, "{names}: {help}");
        for line in uses.iter().filter(|_| !is_built) {
            let said = refusal(&mut queenfold(line), code);
            let wanted = format!(
                "needs the Cargo feature {feature}, which this program was built without: `{how}`"
            );
            assert!(said.contains(&wanted), "{line:?}: {said}");
        }
    }
}

#[test]
fn the_list_of_what_is_missing_is_in_the_help_alone_if_anything_is() {
    let is_whole = PARTS.iter().all(|part| part.2);
    let help = stdout(&["--help"]);
    assert_eq!(help.contains("Not in this build"), !is_whole, "{help}");
    if !cfg!(feature = "cuda") {
        let devices = stdout(&["devices"]);
        assert!(
            devices.contains("needs the Cargo feature cuda"),
            "{devices}"
        );
        let bench = stdout(&["bench", "--help"]);
        assert!(bench.contains("needs the Cargo feature cuda"), "{bench}");
    }
}
