//! What is said about methods after the table.

use crate::output::say;

/// What is said about methods after the table. It is said when this is dropped, also if a later row
/// fails.
#[derive(Default)]
pub struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    /// Adds what holds for the method `of`. What holds for several is said once.
    pub fn add(&mut self, note: &str, of: &str) {
        let known = self.0.iter().position(|(known, _)| known == note);
        let place = known.unwrap_or_else(|| {
            self.0.push((note.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        let methods = &mut self.0[place].1;
        if !methods.iter().any(|method| method == of) {
            methods.push(of.to_owned());
        }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        for (note, methods) in &self.0 {
            say(&format!("{}: {note}", methods.join("; ")));
        }
    }
}
