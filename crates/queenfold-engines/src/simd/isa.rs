//! Instruction sets by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Makes the type from the list of instruction sets.
macro_rules! define {
    ({} $($(#[doc = $doc:literal])+ #[cfg($condition:meta)] $folder:ident $token:ident;)+) => {
        /// An instruction set that the program has code for. The order is from narrow to wide.
        ///
        /// Every variant exists on every machine, so that a name means the same everywhere;
        /// [`is_available`](Self::is_available) says whether this machine can run it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Isa {
            $($(#[doc = $doc])+ $token,)+
        }

        impl Isa {
            /// All, from narrow to wide.
            pub const ALL: [Self; [$(stringify!($token)),+].len()] = [$(Self::$token),+];

            /// The name used on the command line, in configuration and in results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$token => stringify!($folder),)+
                }
            }
        }
    };
}

instruction_sets!(define,);

/// A name that is not the name of an instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no instruction set: use {}", one_of(&Isa::ALL.map(Isa::name)))]
pub struct UnknownIsa {
    name: String,
}

/// The names as `a, b or c`.
fn one_of(names: &[&str]) -> String {
    let all = |(last, others): (&&str, &[&str])| format!("{} or {last}", others.join(", "));
    names.split_last().map_or_else(String::new, all)
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Isa {
    type Err = UnknownIsa;

    fn from_str(text: &str) -> Result<Self, UnknownIsa> {
        Self::ALL
            .into_iter()
            .find(|isa| isa.name() == text)
            .ok_or_else(|| UnknownIsa {
                name: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        let error = "sse2".parse::<Isa>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sse2` is no instruction set: use portable, neon, avx2 or avx512"
        );
    }
}
