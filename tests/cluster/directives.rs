//! The `#HQ` lines of a script, read against what `hq submit --help` of HyperQueue 0.26.2 documents.
//! `hyperqueue.rs` gives them to the program itself, where it is installed.

use regex::Regex;

use super::array::Array;
use crate::common::program::{tells, words};

/// The options that scripts use, and their values.
const OPTIONS: [(&str, &str); 9] = [
    ("array", r"\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*"),
    ("cpus", r"[1-9]\d*|all"),
    ("crash-limit", r"[1-9]\d*|never-restart|unlimited"),
    ("name", r"\S+"),
    (
        "resource",
        r"[A-Za-z][A-Za-z0-9_/]*=([1-9]\d*(\.\d{1,4})?|all)",
    ),
    (
        "stderr",
        r"([^%]|%\{(CWD|INSTANCE_ID|JOB_ID|SERVER_UID|SUBMIT_DIR|TASK_ID)\})+",
    ),
    (
        "stdout",
        r"([^%]|%\{(CWD|INSTANCE_ID|JOB_ID|SERVER_UID|SUBMIT_DIR|TASK_ID)\})+",
    ),
    ("time-limit", r"\d+(ms|s|min|h|d)|(\d+:)?\d+:\d+"),
    ("time-request", r"\d+(ms|s|min|h|d)|(\d+:)?\d+:\d+"),
];

/// What HyperQueue would refuse in a script. It reads directives up to the first line that is neither empty nor a
/// comment, and a value follows its option after `=` or a blank.
fn refused(script: &str) -> Vec<String> {
    let head = script
        .lines()
        .take_while(|line| line.is_empty() || line.starts_with('#'));
    let mut refused: Vec<_> = script
        .lines()
        .skip(head.clone().count())
        .filter(|line| line.starts_with("#HQ"))
        .map(|line| format!("too late: {line}"))
        .collect();
    let words: Vec<_> = head
        .filter_map(|line| line.strip_prefix("#HQ "))
        .flat_map(str::split_whitespace)
        .collect();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word, words.next()),
        };
        let known = OPTIONS
            .iter()
            .find(|(name, _)| option.strip_prefix("--") == Some(name));
        let is_right = known.zip(value).is_some_and(|((_, values), value)| {
            Regex::new(&format!("^(?:{values})$"))
                .unwrap()
                .is_match(value)
        });
        if !is_right {
            refused.push(format!("{option} {}", value.unwrap_or_default()));
        }
    }
    refused
}

#[test]
fn hyperqueue_documents_every_directive_of_the_script() {
    for more in [&[][..], &words!("--time 90m --cpus 2 --gpus 1")] {
        let array = Array::make(14, 3, "hyperqueue");
        array.make_again(14, 3, "hyperqueue", more);
        let script = std::fs::read_to_string(array.script("hyperqueue.sh")).unwrap();
        assert!(script.contains("#HQ --crash-limit=unlimited\n"), "{script}");
        // No attempt empties the log of another one.
        tells(
            &script,
            &["/logs/%{SERVER_UID}-%{JOB_ID}-%{TASK_ID}-%{INSTANCE_ID}.out "],
        );
        assert_eq!(refused(&script), [] as [&str; 0], "{script}");
    }
}

#[test]
fn what_hyperqueue_refuses_is_seen() {
    let script = "#!/bin/bash\n#HQ --name=a --crash-limit=0\n# b\n\n#HQ --memory=8 --resource mem=0\n\
                  #HQ --stdout=%a.out --time-limit 5\nset -eu\n#HQ --cpus=1\n";
    assert_eq!(
        refused(script),
        [
            "too late: #HQ --cpus=1",
            "--crash-limit 0",
            "--memory 8",
            "--resource mem=0",
            "--stdout %a.out",
            "--time-limit 5"
        ]
    );
}
