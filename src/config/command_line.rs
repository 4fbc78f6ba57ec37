use super::Value;

/// A program and its arguments, separated by blanks. No shell reads it, so that nothing in it is expanded,
/// and no argument contains a blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The program: a path, or a name to be looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Value for CommandLine {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(str::to_owned);
        Some(Self {
            program: words.next()?,
            arguments: words.collect(),
        })
    }

    fn write(&self) -> String {
        let words = [&self.program].into_iter().chain(&self.arguments);
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    fn allowed() -> String {
        "a program and its arguments, separated by blanks".into()
    }
}
