//! Results as comma-separated values ([RFC 4180](https://www.rfc-editor.org/rfc/rfc4180), with line feeds alone).

use std::io;

use serde::Serialize;
use serde_json::Value as Json;

/// What is printed of an object of `--json`: the name of each column, and where its value is, as a
/// [JSON pointer](https://www.rfc-editor.org/rfc/rfc6901).
#[derive(Clone, Copy, Debug)]
pub struct Columns(pub &'static [(&'static str, &'static str)]);

impl Columns {
    /// The first line.
    pub fn header(self) -> String {
        let names: Vec<_> = self.0.iter().map(|(name, _)| *name).collect();
        names.join(",")
    }

    /// The line of one object. What is `null` or not there is empty; a list has commas between its values.
    ///
    /// # Errors
    /// The object has no form in JSON.
    pub fn row(self, object: &impl Serialize) -> io::Result<String> {
        let object = serde_json::to_value(object)?;
        let cells = self.0.iter().map(|(_, pointer)| {
            let value = object.pointer(pointer);
            quoted(value.map_or_else(String::new, text))
        });
        Ok(cells.collect::<Vec<_>>().join(","))
    }
}

fn text(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn quoted(cell: String) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Columns;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let columns = Columns(&[
            ("n", "/n"),
            ("queens", "/given/queens"),
            ("r90", "/r90"),
            ("name", "/name"),
            ("none", "/none"),
        ]);
        let object =
            json!({"n": 8, "given": {"queens": ["b4", "d5"]}, "r90": null, "name": "a \"b\""});
        assert_eq!(columns.header(), "n,queens,r90,name,none");
        assert_eq!(columns.row(&object).unwrap(), r#"8,"b4,d5",,"a ""b""","#);
    }
}
