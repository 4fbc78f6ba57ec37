//! Settings of devices as text: which devices, and threads per block.

use super::{Form, Value};
use crate::job::DeviceChoice;
use crate::job::limits::{DEVICE_INDEX, is_block};

/// The names of [`DeviceChoice`].
const CHOICES: [(DeviceChoice, &str); 4] = [
    (DeviceChoice::Auto, "auto"),
    (DeviceChoice::Off, "off"),
    (DeviceChoice::Cuda, "cuda"),
    (DeviceChoice::Emulated, "emulated"),
];

impl Value for DeviceChoice {
    fn read(text: &str) -> Option<Self> {
        let (choice, _) = CHOICES.into_iter().find(|(_, name)| *name == text)?;
        Some(choice)
    }

    fn write(&self) -> String {
        let named = CHOICES.iter().find(|(choice, _)| choice == self);
        named.map_or("", |(_, name)| name).to_owned()
    }

    fn allowed() -> String {
        "auto, off, cuda or emulated".to_owned()
    }
}

/// Numbers of devices, each once, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indices(pub Vec<usize>);

impl Value for Indices {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let mut indices = text
            .split(',')
            .map(|index| {
                index
                    .trim()
                    .parse()
                    .ok()
                    .filter(|index| DEVICE_INDEX.contains(index))
            })
            .collect::<Option<Vec<usize>>>()?;
        indices.sort_unstable();
        indices.dedup();
        Some(Self(indices))
    }

    fn write(&self) -> String {
        let indices: Vec<_> = self.0.iter().map(usize::to_string).collect();
        indices.join(",")
    }

    fn allowed() -> String {
        "device numbers from 0 to 63 such as `0,2`".to_owned()
    }
}

/// Threads per block of a GPU: a multiple of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockThreads(pub u32);

impl Value for BlockThreads {
    const FORM: Form = Form::Number;

    fn read(text: &str) -> Option<Self> {
        let threads: u32 = text.parse().ok()?;
        is_block(threads).then_some(Self(threads))
    }

    fn write(&self) -> String {
        self.0.to_string()
    }

    fn allowed() -> String {
        "a multiple of 32 from 32 to 256".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (choice, _) in CHOICES {
            assert_eq!(DeviceChoice::read(&choice.write()), Some(choice));
        }
        assert_eq!(Indices::read(" 2, 0,2"), Some(Indices(vec![0, 2])));
        assert_eq!(Indices(vec![0, 2]).write(), "0,2");
        for threads in [32, 128, 256] {
            assert_eq!(
                BlockThreads::read(&BlockThreads(threads).write()),
                Some(BlockThreads(threads))
            );
        }
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        for text in ["", "gpu", "CUDA"] {
            assert_eq!(DeviceChoice::read(text), None, "{text}");
        }
        for text in ["", "0,", "-1", "64", "a"] {
            assert_eq!(Indices::read(text), None, "{text}");
        }
        for text in ["", "0", "33", "288", "x"] {
            assert_eq!(BlockThreads::read(text), None, "{text}");
        }
    }
}
