//! What is known of a board, as every command with `--json` prints it.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Outcome;
use crate::board::GivenSquares;

/// The counts are decimal strings, so that no reader rounds them; what was not counted is `null`.
impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |count: Option<u128>| count.map(|count| count.to_string());
        let symmetric = self.symmetric;
        let mut json = serializer.serialize_struct("Outcome", 7)?;
        json.serialize_field("n", &self.n.get())?;
        json.serialize_field("given", &GivenSquares::of(&self.given))?;
        json.serialize_field("total", &self.total.to_string())?;
        json.serialize_field("unique", &text(self.unique()))?;
        json.serialize_field("classes", &symmetric.map(|of| of.orbits))?;
        json.serialize_field("r180", &text(symmetric.map(|of| of.r180)))?;
        json.serialize_field("r90", &text(symmetric.map(|of| of.r90)))?;
        json.end()
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
