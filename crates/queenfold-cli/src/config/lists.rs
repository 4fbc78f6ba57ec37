//! Lists as text: board sizes, and which GPUs count.

use super::{Form, Parser};
use queenfold::board::Size;
use queenfold::job::DeviceChoice;
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

/// The GPUs that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpus {
    /// Whether they must be there.
    pub choice: DeviceChoice,
    /// Their numbers; `None` for all.
    pub numbers: Option<Vec<usize>>,
}

/// How they are chosen without numbers.
const CHOICES: [(&str, DeviceChoice); 3] = [
    ("auto", DeviceChoice::Auto),
    ("off", DeviceChoice::Off),
    ("cuda", DeviceChoice::Cuda),
];

/// Reads which GPUs count. Those that are named by their numbers must be there, as those of `cuda` must.
pub fn gpus() -> Parser<Gpus> {
    let (first, last) = (DEVICE_INDEX.start(), DEVICE_INDEX.end());
    let allowed =
        format!("auto, off, cuda, or numbers of GPUs from {first} to {last} such as `0,2`");
    let number = |part: &str| {
        let number = part.parse().ok();
        number
            .filter(|number| DEVICE_INDEX.contains(number))
            .map(|number| vec![number])
    };
    let read = move |text: &str| {
        let named = CHOICES.into_iter().find(|(name, _)| *name == text);
        match named {
            Some((_, choice)) => Some(Gpus {
                choice,
                numbers: None,
            }),
            None => list(text, number).map(|numbers| Gpus {
                choice: DeviceChoice::Cuda,
                numbers: Some(numbers),
            }),
        }
    };
    Parser::new(Form::Number, allowed, read, |gpus: &Gpus| {
        match &gpus.numbers {
            Some(numbers) => numbers
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(","),
            None => {
                let named = CHOICES
                    .into_iter()
                    .find(|(_, choice)| *choice == gpus.choice);
                named.map_or("", |(name, _)| name).to_owned()
            }
        }
    })
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
    fn gpus_are_a_choice_or_numbers_each_written_once() {
        for (text, choice, numbers, written) in [
            ("auto", DeviceChoice::Auto, None, "auto"),
            ("off", DeviceChoice::Off, None, "off"),
            ("cuda", DeviceChoice::Cuda, None, "cuda"),
            (" 2, 0,2", DeviceChoice::Cuda, Some(vec![0, 2]), "0,2"),
            ("63", DeviceChoice::Cuda, Some(vec![63]), "63"),
        ] {
            let read = gpus().read(text);
            assert_eq!(read, Some(Gpus { choice, numbers }), "{text}");
            assert_eq!(
                read.map(|read| gpus().write(&read)).as_deref(),
                Some(written)
            );
        }
        for text in ["", "0,", "-1", "64", "a", "gpu", "CUDA", "auto,0"] {
            assert_eq!(gpus().read(text), None, "{text}");
        }
    }
}
