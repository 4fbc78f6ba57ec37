//! Reads the help of the program.

/// The titles of the groups of commands in the help, and the names in each.
pub fn groups_in(help: &str) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines().take_while(|line| *line != "Options:") {
        let name = line.strip_prefix("  ").and_then(|of| of.split(' ').next());
        match (name, line.strip_suffix(':'), groups.last_mut()) {
            (None, Some(title), _) => groups.push((title.to_owned(), Vec::new())),
            (Some(name), _, Some((_, names))) if !name.is_empty() => names.push(name.to_owned()),
            _ => {}
        }
    }
    groups
}
