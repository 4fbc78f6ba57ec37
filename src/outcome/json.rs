//! What is known of a board, as every command with `--json` prints it.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::Outcome;
use crate::board::{GivenSquares, Orbits};

/// The counts are decimal strings, so that no reader rounds them; what was not counted is `null`.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let classes = |Orbits { c1, c2, c4, c8 }: Orbits| {
            let [c1, c2, c4, c8] = [c1, c2, c4, c8].map(|number| number.to_string());
            json!({"c1": c1, "c2": c2, "c4": c4, "c8": c8})
        };
        let symmetric = self.symmetric;
        let json = json!({
            "n": self.n.get(),
            "given": GivenSquares::of(&self.given),
            "total": self.total.to_string(),
            "unique": self.unique().map(|unique| unique.to_string()),
            "classes": symmetric.map(|symmetric| classes(symmetric.orbits)),
            "r180": symmetric.map(|symmetric| symmetric.r180.to_string()),
            "r90": symmetric.map(|symmetric| symmetric.r90.to_string()),
        });
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
