//! As much of JSON Schema 2020-12 as docs/output.schema.json uses. Every validator for Rust brings another build of
//! dependencies of the program.

use regex::Regex;
use serde_json::Value;

/// A schema with its definitions.
pub struct Schema<'a>(pub &'a Value);

impl Schema<'_> {
    /// Checks that `value` is what `schema`, a part of this one, says.
    pub fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let keywords = schema.as_object().expect("a schema is an object");
        for (keyword, rule) in keywords {
            let holds = match keyword.as_str() {
                "description" | "unevaluatedProperties" | "additionalProperties" => true,
                "$ref" => {
                    self.check(self.definition(rule), value)?;
                    true
                }
                "allOf" => {
                    list(rule).try_for_each(|part| self.check(part, value))?;
                    true
                }
                "anyOf" => list(rule).any(|part| self.check(part, value).is_ok()),
                "type" if rule.is_array() => list(rule).any(|name| has_type(name, value)),
                "type" => has_type(rule, value),
                "enum" => list(rule).any(|one| one == value),
                "const" => rule == value,
                "pattern" => {
                    let pattern = Regex::new(text(rule)).expect("a pattern");
                    value.as_str().is_none_or(|value| pattern.is_match(value))
                }
                "minimum" => value.as_f64() >= rule.as_f64() || !value.is_number(),
                "maximum" => value.as_f64() <= rule.as_f64() || !value.is_number(),
                "required" => list(rule).all(|key| value.get(text(key)).is_some()),
                "properties" => {
                    let parts = rule.as_object().expect("an object");
                    for (key, part) in parts {
                        if let Some(value) = value.get(key) {
                            self.check(part, value)
                                .map_err(|why| format!("{key}: {why}"))?;
                        }
                    }
                    true
                }
                "items" => {
                    list(value).try_for_each(|item| self.check(rule, item))?;
                    true
                }
                other => panic!("this test does not know the keyword {other}"),
            };
            if !holds {
                return Err(format!("{keyword} {rule} does not hold for {value}"));
            }
        }
        let mut known = Vec::new();
        self.add_keys(schema, &mut known);
        let other_keys = value.as_object().into_iter().flatten();
        let mut other_keys = other_keys.filter(|(key, _)| !known.contains(key));
        if let Some(part) = schema.get("additionalProperties") {
            return other_keys.try_for_each(|(_, value)| self.check(part, value));
        }
        match (schema.get("unevaluatedProperties"), other_keys.next()) {
            (Some(_), Some((key, _))) => Err(format!("nobody knows the key {key}")),
            _ => Ok(()),
        }
    }

    /// Adds the keys that `schema` describes.
    fn add_keys(&self, schema: &Value, known: &mut Vec<String>) {
        let parts = schema["properties"].as_object().into_iter().flatten();
        known.extend(parts.map(|(key, _)| key.clone()));
        list(&schema["allOf"]).for_each(|part| self.add_keys(part, known));
        if let Some(place) = schema.get("$ref") {
            self.add_keys(self.definition(place), known);
        }
    }

    fn definition(&self, place: &Value) -> &Value {
        let place = text(place)
            .strip_prefix('#')
            .expect("a place in this schema");
        self.0.pointer(place).expect("a definition")
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn has_type(name: &Value, value: &Value) -> bool {
    match text(name) {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type: {other}"),
    }
}
