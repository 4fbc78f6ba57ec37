//! A setting that is a list of squares, named as in chess: `c3,a7`.

use super::Value;

/// Names of squares, as in chess: `c3,a7`. Which squares there are depends on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SquareNames(pub String);

impl Value for SquareNames {
    fn read(text: &str) -> Option<Self> {
        let names = text.split([',', ' ']).filter(|name| !name.is_empty());
        let names: Vec<_> = names.map(str::to_ascii_lowercase).collect();
        let is_name = |name: &String| {
            let row = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
            let is_row = (1..=2).contains(&row.len()) && row.bytes().all(|b| b.is_ascii_digit());
            is_row && (1..=2).contains(&(name.len() - row.len()))
        };
        (!names.is_empty() && names.iter().all(is_name)).then(|| Self(names.join(",")))
    }

    fn write(&self) -> String {
        self.0.clone()
    }

    fn allowed() -> String {
        "squares such as `c3,a7`: column a is at the left, row 1 at the bottom".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_one_list() {
        let read = |text| SquareNames::read(text).map(|names| names.write());
        assert_eq!(read("c3, A7 af32"), Some("c3,a7,af32".to_owned()));
        for text in ["", ",", "c", "3", "c-3", "c333", "abc3", "c3;d4", "é1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
