//! The version of the program in files that Cargo does not read.

/// The rest of the first line of a file that starts so, without its quotation marks.
fn value(file: &str, start: &str) -> String {
    let text = crate::common::text_of(file);
    let found = text.lines().find_map(|line| line.strip_prefix(start));
    found.unwrap_or_default().trim_matches('"').to_owned()
}

#[test]
fn every_file_names_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(value("CITATION.cff", "version: "), version);
    let released = value("CHANGELOG.md", &format!("## {version} - "));
    assert_eq!(value("CITATION.cff", "date-released: "), released);
}
