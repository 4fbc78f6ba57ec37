//! `config/default.toml` and `docs/REFERENCE.md` are what the settings, the help of the program, the schema of its
//! JSON, and the comments of events and metrics say.
//! `SNAPSHOTS=overwrite cargo test --release --test it project::generated` writes them anew.

use std::fmt::Write;

use queenfold_cli::config::{Layers, Setting};
use snapbox::{Data, assert_data_eq};

const ABOUT_THE_FILE: &str = "\
Every setting, with its built-in default. Copy what you change into your own file, ~/.config/queenfold/config.toml (on \
Windows %APPDATA%\\queenfold\\config.toml), which holds everywhere; into ./queenfold.toml, which holds in its folder; or \
into another file, and pass it with --config FILE.

The first of these that names a setting decides: a flag, an environment variable (QUEENFOLD_RUN_WORKERS for workers in \
[run]), the file of --config or else ./queenfold.toml, your own file, the built-in default. `queenfold config` \
prints every value and its source.

./queenfold.toml must belong to you, others must not be able to write to it, and it cannot set the keys file, events, \
metrics and on_event of [trace]: a folder may come from anybody. Nor may others be able to write to your own file.";

/// Every setting with its default, as a file writes it.
fn settings() -> Vec<(&'static Setting, String)> {
    let layers = Layers::default();
    let entries = layers.entries();
    entries
        .map(|(setting, value, _)| (setting, queenfold_cli::config::written(&value)))
        .collect()
}

/// A text as a comment of lines of at most 118 characters.
fn comment(text: &str) -> String {
    let mut comment = String::new();
    for paragraph in text.split("\n\n") {
        let separate = if comment.is_empty() { "" } else { "#\n" };
        comment += separate;
        let mut line = String::from("#");
        for word in paragraph.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > 118 {
                comment += &line;
                comment += "\n";
                line = String::from("#");
            }
            line += " ";
            line += word;
        }
        comment += &line;
        comment += "\n";
    }
    comment
}

fn in_repository(path: &str) -> Data {
    Data::read_from(&std::path::Path::new(crate::common::ROOT).join(path), None).raw()
}

#[test]
fn the_file_of_defaults_says_what_the_settings_say() {
    let mut text = comment(ABOUT_THE_FILE);
    let mut section = "";
    for (setting, default) in settings() {
        let (of, name) = setting.key.split_once('.').unwrap();
        text += "\n";
        if of != section {
            section = of;
            writeln!(text, "[{section}]").unwrap();
        }
        text += &comment(&setting.text().replace('`', "\""));
        writeln!(text, "{name} = {default}").unwrap();
    }
    assert_data_eq!(Data::text(text).raw(), in_repository("config/default.toml"));
}

/// What the program prints.
fn printed(args: &[&str]) -> String {
    let mut program = std::process::Command::new(crate::common::program::PROGRAM);
    let output = program.args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_reference_says_what_the_program_says() {
    let help = printed(&["--help"]);
    let mut text = format!(
        "# Reference\n\nEvery command with its flags and every setting, as the program itself states them. The \
         [guide](GUIDE.md)\ngoes by task. [FORMATS](FORMATS.md) says how to read the files.\n\n## Commands\n\n```text\n{help}```\n"
    );
    for (title, commands) in crate::common::help::groups_in(&help) {
        writeln!(text, "\n## Commands: {title}").unwrap();
        for command in commands.iter().filter(|name| *name != "help") {
            let help = printed(&[command, "--help"]);
            writeln!(text, "\n### {command}\n\n```text\n{help}```").unwrap();
        }
    }
    text += "\n## Settings\n\nThe [guide](GUIDE.md#settings) says which source decides.\n";
    let mut section = "";
    for (setting, default) in settings() {
        let of = setting.key.split('.').next().unwrap();
        if of != section {
            section = of;
            writeln!(
                text,
                "\n### \\[{section}\\]\n\n| key | default | environment | what it does |\n|---|---|---|---|"
            )
            .unwrap();
        }
        let key = setting.key;
        let environment = setting.variable();
        let words = setting.text().replace('|', "\\|");
        writeln!(
            text,
            "| `{key}` | `{default}` | `{environment}` | {words} |"
        )
        .unwrap();
    }
    text += &schema::page();
    text += &events::page();
    text += "\n## Metrics\n\n[FORMATS](FORMATS.md#metrics) says when they are written.\n\n\
             | metric | what it says |\n|---|---|\n";
    for line in queenfold_cli::telemetry::METRICS.lines() {
        writeln!(text, "| `queenfold_{} |", line.replacen(": ", "` | ", 1)).unwrap();
    }
    assert_data_eq!(Data::text(text).raw(), in_repository("docs/REFERENCE.md"));
}

/// The objects of `--json`, as docs/output.schema.json describes them.
mod schema {
    use std::fmt::Write;

    use serde_json::Value;

    /// The chapter about them.
    pub(super) fn page() -> String {
        let schema: Value =
            serde_json::from_str(include_str!("../../docs/output.schema.json")).unwrap();
        let printed: Vec<_> = list(&schema["anyOf"]).filter_map(name_of).collect();
        let mut text = format!(
            "\n## JSON\n\n{}. [output.schema.json](output.schema.json) says the same as a JSON Schema. \
             Every object begins with `queenfold_json`, the version of the objects, 1: it goes up when a key is removed or \
             changes its meaning. New keys do not change it.\n",
            words(&schema["description"]).trim_end_matches('.')
        );
        for name in &printed {
            write_object(&mut text, &schema["$defs"][name]);
        }
        text += "\n### Values within them\n";
        for (name, of) in schema["$defs"].as_object().unwrap() {
            if printed.contains(&name.as_str()) {
                continue;
            }
            match &of["properties"] {
                Value::Null => writeln!(
                    text,
                    "\n**`{name}`**: {}.",
                    lower(words(&of["description"]))
                )
                .unwrap(),
                _ => {
                    writeln!(
                        text,
                        "\n**`{name}`**: {}.\n",
                        lower(words(&of["description"]))
                    )
                    .unwrap();
                    write_table(&mut text, of);
                }
            }
        }
        text
    }

    fn write_object(text: &mut String, of: &Value) {
        let (commands, about) = words(&of["description"]).split_once(": ").unwrap();
        writeln!(text, "\n### JSON of {commands}\n\n{}.\n", upper(about)).unwrap();
        let counts = list(&of["allOf"]).filter_map(name_of);
        for base in counts {
            writeln!(text, "All keys of `{base}`, and:\n").unwrap();
        }
        write_table(text, of);
    }

    fn write_table(text: &mut String, of: &Value) {
        *text += "| key | value | meaning |\n|---|---|---|\n";
        write_rows(text, "", of);
    }

    fn write_rows(text: &mut String, within: &str, of: &Value) {
        let Some(keys) = of["properties"].as_object() else {
            return;
        };
        let required: Vec<_> = list(&of["required"]).filter_map(Value::as_str).collect();
        for (key, value) in keys.iter().filter(|(key, _)| *key != "queenfold_json") {
            let (value_type, inner) = describe(value);
            let meaning = words(&value["description"]).replace('|', "\\|");
            let absent = if required.contains(&key.as_str()) {
                ""
            } else {
                "; not always there"
            };
            writeln!(
                text,
                "| `{within}{key}` | {value_type} | {meaning}{absent} |"
            )
            .unwrap();
            if let Some((inner, mark)) = inner {
                write_rows(text, &format!("{within}{key}{mark}."), inner);
            }
        }
    }

    /// The type of a value in words, and the object whose keys follow, with what stands behind its name.
    fn describe(value: &Value) -> (String, Option<(&Value, &'static str)>) {
        if let Some(name) = name_of(value).or_else(|| list(&value["allOf"]).find_map(name_of)) {
            return (format!("`{name}`"), None);
        }
        if let Some(choices) = value["anyOf"].as_array() {
            let (of, inner) = describe(&choices[0]);
            return (format!("{of} or `null`"), inner);
        }
        if let Some(values) = value["enum"].as_array() {
            let values: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
            return (values.join(", "), None);
        }
        if let Some(types) = value["type"].as_array() {
            let types: Vec<_> = types.iter().filter_map(Value::as_str).collect();
            return (types.join(" or ").replace("null", "`null`"), None);
        }
        match value["type"].as_str().unwrap_or("any") {
            "array" => {
                let (of, inner) = describe(&value["items"]);
                (
                    format!("list of {of}"),
                    inner.map(|(inner, _)| (inner, "[]")),
                )
            }
            "object" if value["properties"].is_object() => ("object".to_owned(), Some((value, ""))),
            "null" => ("`null`".to_owned(), None),
            plain => (plain.to_owned(), None),
        }
    }

    fn list(value: &Value) -> impl Iterator<Item = &Value> {
        value.as_array().into_iter().flatten()
    }

    fn name_of(value: &Value) -> Option<&str> {
        value["$ref"].as_str()?.strip_prefix("#/$defs/")
    }

    fn words(value: &Value) -> &str {
        value.as_str().unwrap_or_default()
    }

    fn upper(text: &str) -> String {
        let (first, rest) = text.split_at(1);
        first.to_uppercase() + rest
    }

    fn lower(text: &str) -> String {
        let (first, rest) = text.split_at(1);
        first.to_lowercase() + rest
    }
}

/// The lines of `--events`, as the comments of the types that are written describe them.
mod events {
    use std::fmt::Write;

    use regex::{Captures, Regex};

    /// The chapter about them.
    pub(super) fn page() -> String {
        let sources = [
            "src/actors/telling/events.rs",
            "crates/queenfold-engines/src/engine/result.rs",
        ];
        let sources = sources.map(crate::common::text_of).concat();
        let mut text = format!(
            "\n## Events\n\nThe kinds of events in lines of version {}, each followed by its fields. \
             [FORMATS](FORMATS.md#events) has the lines, and the values within them.\n\n\
             | event, field | meaning |\n|---|---|\n",
            queenfold_cli::telemetry::EVENT_FORMAT
        );
        write_rows(&mut text, &sources, "", "enum EventKind");
        text
    }

    /// A row for each variant or field of a type of these sources, and for each field of a variant.
    fn write_rows(text: &mut String, sources: &str, within: &str, definition: &str) {
        let body = sources.split(&format!("pub {definition} {{\n")).nth(1);
        let body = body.unwrap_or_default().split("\n}\n").next().unwrap();
        let item = r"((?: +/// .*\n)+)(?: +#.*\n)*( +)(?:pub )?(\w+)(?:\((?:Box<)?(\w+))?";
        let mut variant = String::new();
        for found in Regex::new(item).unwrap().captures_iter(body) {
            let [about, indent, name] = [1, 2, 3].map(|at| &found[at]);
            let key = match indent.len() {
                4 => format!("{within}{}", snake(name)),
                _ => format!("{variant}.{name}"),
            };
            writeln!(text, "| `{key}` | {} |", in_json(about)).unwrap();
            if let Some(inner) = found.get(4) {
                let inner = format!("struct {}", inner.as_str());
                write_rows(text, sources, &format!("{key}."), &inner);
            }
            if indent.len() == 4 {
                variant = key;
            }
        }
    }

    /// A comment, whose links lead nowhere here, with the names that serde gives.
    fn in_json(about: &str) -> String {
        let about = about.replace("///", "").replace("`None`", "`null`");
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let link = Regex::new(r"\[`(?:\w+::)*(\w+)`\](?:\([^)]*\))?").unwrap();
        let in_json = |found: &Captures<'_>| format!("`{}`", snake(&found[1]));
        link.replace_all(&about, in_json).into_owned()
    }

    fn snake(name: &str) -> String {
        let word = Regex::new("(.)([A-Z])").unwrap();
        word.replace_all(name, "${1}_$2").to_lowercase()
    }
}
