//! Text from files, arguments and the environment, as it may be shown: without line breaks and sequences
//! that control a terminal.

/// Whether a terminal shows `c` and does nothing else.
fn is_shown(c: char) -> bool {
    // Line and paragraph separators, zero-width marks, changes of direction.
    let is_mark = matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !is_mark && !c.is_control()
}

/// `text` as one printable line. Other characters are escaped.
pub fn printable(text: &str) -> String {
    shown(text, |c| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.escape_unicode().to_string(),
    })
}

/// JSON on one line, in which characters that are not printable are escaped as JSON escapes them.
/// `json` is correct JSON, so they are within its strings.
pub fn printable_json(json: &str) -> String {
    // All of them have four digits.
    shown(json, |c| format!("\\u{:04x}", u32::from(c)))
}

/// `text` with the characters escaped that are not shown.
fn shown(text: &str, escaped: impl Fn(char) -> String) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match is_shown(c) {
            true => line.push(c),
            false => line += &escaped(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_one_line_without_commands_to_the_terminal() {
        assert_eq!(
            printable("a\nb\tc\u{1b}[31m\0\u{9b}"),
            "a\\nb\\tc\\u{1b}[31m\\u{0}\\u{9b}"
        );
        assert_eq!(printable("x\u{202e}y\u{2028}"), "x\\u{202e}y\\u{2028}");
        assert_eq!(printable("Größe 8 × 8 'a' \\"), "Größe 8 × 8 'a' \\");
    }

    #[test]
    fn json_stays_json() {
        let text = "a\u{1b}[31m\u{9b}\u{7f}\u{202e}\n\"";
        let json = printable_json(&serde_json::to_string(text).unwrap());
        assert!(json.is_ascii() && !json.contains('\u{7f}'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
