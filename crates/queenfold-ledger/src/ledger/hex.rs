//! Bytes as hexadecimal digits.

/// The lower-case hexadecimal digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that exactly `2 · N` lower-case hexadecimal digits stand for.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(is_digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_read_as_they_are_written() {
        assert_eq!(unhex::<3>(&hex(&[0, 0xAB, 0xFF])), Some([0, 0xAB, 0xFF]));
        for text in ["", "0", "00ab", "00abF0", "00abfff", "00abffff", "+0abff"] {
            assert_eq!(unhex::<3>(text), None, "{text}");
        }
    }
}
