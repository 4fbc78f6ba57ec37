//! Bytes as hexadecimal digits.

/// The lower-case hexadecimal digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that exactly `2 · N` lower-case hexadecimal digits stand for.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.bytes().map(|digit| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    });
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
        .collect();
    (digits.len() == 2 * N).then(|| bytes.try_into().ok())?
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
