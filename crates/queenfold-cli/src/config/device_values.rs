//! Settings of devices as text: which devices.

use super::{Form, Value};
use queenfold::job::DeviceChoice;
use queenfold::job::limits::DEVICE_INDEX;

/// The names of [`DeviceChoice`].
const CHOICES: [(DeviceChoice, &str); 3] = [
    (DeviceChoice::Auto, "auto"),
    (DeviceChoice::Off, "off"),
    (DeviceChoice::Cuda, "cuda"),
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
        "auto, off or cuda".to_owned()
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
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        for text in ["", "gpu", "CUDA"] {
            assert_eq!(DeviceChoice::read(text), None, "{text}");
        }
        for text in ["", "0,", "-1", "64", "a"] {
            assert_eq!(Indices::read(text), None, "{text}");
        }
    }
}
