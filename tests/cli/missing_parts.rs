//! What a build lacks, it names.

use crate::common::program::{queenfold, refusal, stdout};

struct Part {
    /// As the help lists them.
    names: &'static str,
    feature: &'static str,
    is_built: bool,
    /// Command lines that need it.
    uses: &'static [&'static str],
    /// Their exit code if it is missing.
    code: i32,
}

const PARTS: [Part; 4] = [
    Part {
        names: "watch, --tui",
        feature: "tui",
        is_built: cfg!(feature = "tui"),
        uses: &["watch n24", "run -n 8 --tui"],
        code: 2,
    },
    Part {
        names: "bench --gpu",
        feature: "cuda",
        is_built: cfg!(feature = "cuda"),
        uses: &["bench --gpu", "bench --device 1 --gpu"],
        code: 2,
    },
    Part {
        names: "--gpu cuda, --style gpu",
        feature: "cuda",
        is_built: cfg!(feature = "cuda"),
        uses: &[
            "run -n 8 --gpu cuda",
            "ladder --method bit-board -n 6 --style gpu",
        ],
        code: 6,
    },
    Part {
        names: "--gpu emulated, --style emulated",
        feature: "emulated-gpu",
        is_built: cfg!(feature = "emulated-gpu"),
        uses: &[
            "run -n 8 --gpu emulated",
            "ladder --method bit-board -n 6 --style emulated",
        ],
        code: 6,
    },
];

#[test]
fn what_a_build_lacks_names_its_feature_and_how_to_get_it() {
    let help = stdout(&["--help"]);
    for part in PARTS {
        let (names, feature) = (part.names, part.feature);
        let how = format!("cargo install --locked --path . --features {feature}");
        let mut lines = help.lines();
        let is_listed = lines.any(|line| line.contains(names) && line.ends_with(&how));
        assert_eq!(is_listed, !part.is_built, "{names}: {help}");
        for line in part.uses.iter().filter(|_| !part.is_built) {
            let args: Vec<_> = line.split(' ').collect();
            let said = refusal(&mut queenfold(&args), part.code);
            let wanted = format!(
                "needs the Cargo feature {feature}, which this program was built without: `{how}`"
            );
            assert!(said.contains(&wanted), "{line}: {said}");
        }
    }
}

#[test]
fn only_a_build_that_lacks_something_says_so_in_its_help() {
    let is_whole = PARTS.iter().all(|part| part.is_built);
    let help = stdout(&["--help"]);
    assert_eq!(help.contains("Not in this build"), !is_whole, "{help}");
    if !cfg!(feature = "cuda") {
        for command in [&["devices"][..], &["bench", "--help"]] {
            let said = stdout(command);
            assert!(said.contains("needs the Cargo feature cuda"), "{said}");
        }
    }
}
