//! Lists as text: board sizes, numbers of devices, squares.

use super::{Form, Parser};
use queenfold::board::Size;
use queenfold::job::limits::DEVICE_INDEX;

/// Board sizes, at least one, ascending.
pub type Sizes = Vec<Size>;

/// The items of a list with commas between them, each once, ascending. A part of the text may be several of them.
fn list<T: Ord>(text: &str, read: impl Fn(&str) -> Option<Vec<T>>) -> Option<Vec<T>> {
    let parts: Option<Vec<_>> = text.split(',').map(|part| read(part.trim())).collect();
    let mut items: Vec<T> = parts?.into_iter().flatten().collect();
    items.sort_unstable();
    items.dedup();
    Some(items)
}

/// What may stand between the ends of a range. The first one is how ranges are written. A part that another one begins with
/// comes later.
const BETWEEN: [&str; 5] = ["..=", "...", "..", "-", ":"];

/// The ends of a range of sizes, or a size twice.
fn ends(part: &str) -> Option<(Size, Size)> {
    let found = BETWEEN
        .into_iter()
        .find_map(|between| part.split_once(between));
    let (first, last) = found.unwrap_or((part, part));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

/// Board sizes: `8`, a range with both ends such as `4..=10`, `4..10` or `4-10`, or several of these with commas between
/// them.
pub fn sizes() -> Parser<Sizes> {
    let range = |part: &str| {
        let (first, last) = ends(part).filter(|(first, last)| first <= last)?;
        Some(range_of(first, last))
    };
    let allowed = format!(
        "a board size from 1 to {}, or ranges A..=B of them",
        Size::MAX
    );
    let read = move |text: &str| list(text, range);
    Parser::new(Form::Number, allowed, read, |sizes: &Sizes| {
        sizes_text(sizes)
    })
    .hinting(|text| {
        // A range from its larger end.
        let (last, first) = ends(text).filter(|(last, first)| first <= last)?;
        Some(format!("write {}", sizes_text(&range_of(first, last))))
    })
}

fn range_of(first: Size, last: Size) -> Sizes {
    Size::all().filter(|n| (first..=last).contains(n)).collect()
}

/// Sizes as they are read, in ranges.
pub fn sizes_text(sizes: &[Size]) -> String {
    let ranges = sizes.chunk_by(|a, b| a.get() + 1 == b.get());
    let parts = ranges.map(|range| match range {
        [first, .., last] => format!("{first}{}{last}", BETWEEN[0]),
        _ => range[0].to_string(),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// Numbers of devices.
pub(super) fn devices() -> Parser<Vec<usize>> {
    let index = |part: &str| {
        Some(vec![
            part.parse()
                .ok()
                .filter(|index| DEVICE_INDEX.contains(index))?,
        ])
    };
    let allowed = format!(
        "device numbers from {} to {} such as `0,2`",
        DEVICE_INDEX.start(),
        DEVICE_INDEX.end()
    );
    Parser::new(
        Form::Number,
        allowed,
        move |text| list(text, index),
        |indices: &Vec<usize>| {
            let indices: Vec<_> = indices.iter().map(usize::to_string).collect();
            indices.join(",")
        },
    )
}

/// Names of squares, as in chess: `c3,a7`. Which squares there are depends on the board.
pub(super) fn squares() -> Parser<String> {
    let is_name = |name: &str| {
        let row = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let is_row = (1..=2).contains(&row.len()) && row.bytes().all(|b| b.is_ascii_digit());
        is_row && (1..=2).contains(&(name.len() - row.len()))
    };
    let read = move |text: &str| {
        let names: Vec<_> = text
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .collect();
        let are_names = !names.is_empty() && names.iter().all(|name| is_name(name));
        are_names.then(|| names.join(",").to_ascii_lowercase())
    };
    let allowed = "squares such as `c3,a7`: column a is at the left, row 1 at the bottom";
    Parser::new(Form::Text, allowed, read, String::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_boards_and_rising_ranges() {
        let read = |text| {
            let read = sizes().read(text);
            read.map(|sizes| sizes.into_iter().map(Size::get).collect::<Vec<_>>())
        };
        for (text, meant, written) in [
            ("8", vec![8], "8"),
            ("4..=6", vec![4, 5, 6], "4..=6"),
            ("4..6", vec![4, 5, 6], "4..=6"),
            ("4...6", vec![4, 5, 6], "4..=6"),
            ("4-6", vec![4, 5, 6], "4..=6"),
            ("4:6", vec![4, 5, 6], "4..=6"),
            ("8-8", vec![8], "8"),
            ("32..=32", vec![32], "32"),
            ("8,10,12", vec![8, 10, 12], "8,10,12"),
            ("8,4", vec![4, 8], "4,8"),
            ("4-6, 6, 7,12", vec![4, 5, 6, 7, 12], "4..=7,12"),
        ] {
            assert_eq!(read(text), Some(meant), "{text}");
            assert_eq!(sizes_text(&sizes().read(text).unwrap()), written);
        }
        assert_eq!(read("1..=32").unwrap().len(), 32);
        for text in
            " 0 33 abc -3 9..=5 1..=33 0..=3 ..=5 4..= 1..=2..=3 8.0 + 8, ,8 8,,9 8,33 4-6-8"
                .split(' ')
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_range_from_its_larger_end_is_corrected() {
        let refusal = |text| sizes().parse(text).unwrap_err();
        assert!(refusal("14-8").ends_with("; write 8..=14"));
        assert!(refusal("33").ends_with("of them"));
    }

    #[test]
    fn numbers_of_devices_are_each_written_once() {
        assert_eq!(devices().read(" 2, 0,2"), Some(vec![0, 2]));
        assert_eq!(devices().write(&vec![0, 2]), "0,2");
        for text in ["", "0,", "-1", "64", "a"] {
            assert_eq!(devices().read(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_squares_are_written_as_one_list() {
        let read = |text| squares().read(text);
        assert_eq!(read("c3, A7 af32"), Some("c3,a7,af32".to_owned()));
        for text in ["", ",", "c", "3", "c-3", "c333", "abc3", "c3;d4", "é1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
