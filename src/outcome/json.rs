//! What is known of a board, as every command with `--json` prints it.

use serde::{Serialize, Serializer};

use super::Outcome;
use crate::board::{GivenSquares, Orbits};

/// The counts of a board. They are decimal strings, so that no reader rounds them; what was not counted is `null`.
#[derive(Serialize)]
struct OutcomeJson {
    n: u32,
    given: Option<GivenSquares>,
    total: String,
    unique: Option<String>,
    classes: Option<ClassesJson>,
    r180: Option<String>,
    r90: Option<String>,
}

/// Orbits by size.
#[derive(Serialize)]
struct ClassesJson {
    c1: String,
    c2: String,
    c4: String,
    c8: String,
}

impl From<Orbits> for ClassesJson {
    fn from(Orbits { c1, c2, c4, c8 }: Orbits) -> Self {
        let [c1, c2, c4, c8] = [c1, c2, c4, c8].map(|number| number.to_string());
        Self { c1, c2, c4, c8 }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let symmetric = self.symmetric;
        let json = OutcomeJson {
            n: self.n.get(),
            given: GivenSquares::of(&self.given),
            total: self.total.to_string(),
            unique: self.unique().map(|unique| unique.to_string()),
            classes: symmetric.map(|symmetric| symmetric.orbits.into()),
            r180: symmetric.map(|symmetric| symmetric.r180.to_string()),
            r90: symmetric.map(|symmetric| symmetric.r90.to_string()),
        };
        json.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use crate::board::Size;
    use crate::engine::Tally;
    use crate::outcome::Outcome;

    #[test]
    fn counts_are_text_and_what_was_not_counted_is_null() {
        let mut tally = Tally::default();
        tally.completions.add(8, 11);
        tally.completions.add(4, 1);
        let outcome = Outcome::new(Size::new(8).unwrap(), &tally, None).unwrap();
        assert_eq!(
            serde_json::to_string(&outcome).unwrap(),
            r#"{"n":8,"given":null,"total":"92","unique":null,"classes":null,"r180":null,"r90":null}"#
        );
    }
}
