//! The times of both engines that `bench --calibrate` measured on this machine, kept in the user's folder for the
//! state of programs, and used by `auto` and for first times left.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::board::Size;
use crate::engine::{CostTable, MeasuredCost};
use crate::machine::{Machine, state_folder};
use crate::simd::Isa;
use crate::system::file_kind::{folder_of, replace};
use crate::system::files::open_regular;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

const COMMENT: &str = "\
# Written by `queenfold bench --calibrate`: CPU seconds of one core. `auto` chooses the engine by these
# times. Without this file it goes by built-in ones.
";

/// The file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrationFile {
    /// The processor on which it was measured.
    cpu: String,
    boards: Vec<MeasuredBoard>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredBoard {
    isa: String,
    n: u32,
    chain_seconds: f64,
    colour_seconds: f64,
}

/// What counting costs on this machine, and how that is known.
pub struct Calibration {
    /// The costs.
    pub costs: CostTable,
    /// Where they come from, in words.
    pub origin: String,
    /// A file that is there and not used, and why.
    pub refused: Option<String>,
}

/// Where the file is; `None` if the user has no folder for it.
pub fn file() -> Option<PathBuf> {
    state_folder().map(|folder| folder.join("calibration.toml"))
}

impl Calibration {
    /// What was measured on this machine, or the built-in costs.
    pub fn find() -> Self {
        let Some(path) = file() else {
            return Self::built_in(None);
        };
        match read(&path) {
            Ok(None) => Self::built_in(None),
            Ok(Some(costs)) => Self {
                costs,
                origin: format!("by the times in {}", path.display()),
                refused: None,
            },
            Err(why) => Self::built_in(Some(format!("{} is not used: {why}", path.display()))),
        }
    }

    fn built_in(refused: Option<String>) -> Self {
        let origin = match &refused {
            None => {
                "by built-in times; `queenfold bench --calibrate` measures this machine".to_owned()
            }
            Some(refused) => format!("by built-in times; {refused}"),
        };
        Self {
            costs: CostTable::default(),
            origin,
            refused,
        }
    }
}

/// The costs in the file at `path`; `None` if there is no file.
///
/// # Errors
/// It cannot be read, is damaged, or is of another processor.
fn read(path: &Path) -> Result<Option<CostTable>, String> {
    let mut text = String::new();
    let read = open_regular(path).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(_) => {}
    }
    costs(&text, &processor()).map(Some)
}

/// The costs that `text` says were measured on the processor `cpu`.
fn costs(text: &str, cpu: &str) -> Result<CostTable, String> {
    let again = "`queenfold bench --calibrate` writes it again";
    let file: CalibrationFile = toml::from_str(text).map_err(|error| {
        let message = error.message().replace('\n', " ");
        match message.strip_prefix("missing field ") {
            Some(field) => format!("it has no {field}; {again}"),
            None => format!("{message}; {again}"),
        }
    })?;
    if file.cpu != cpu {
        let other = file.cpu;
        return Err(format!(
            "it was measured on another processor, {other}; {again}"
        ));
    }
    let measured = file.boards.iter().map(|board| {
        let isa = Isa::ALL.into_iter().find(|isa| isa.name() == board.isa);
        Some(MeasuredCost {
            isa: isa?,
            n: Size::new(board.n).ok()?,
            chain: board.chain_seconds,
            colour: board.colour_seconds,
        })
    });
    let measured: Option<Vec<_>> = measured.collect();
    let measured = measured.ok_or_else(|| format!("it names an unknown board or set; {again}"))?;
    Ok(CostTable::new(measured))
}

/// The name of the processor of this machine.
fn processor() -> String {
    let cpu = Machine::detect().cpu;
    cpu.unwrap_or_else(|| "unknown".to_owned())
}

/// Keeps what was measured on this machine, beside what was kept of other boards before. Returns where. The file
/// appears complete or not at all.
///
/// # Errors
/// The user has no folder for it, or it cannot be written.
pub fn keep(measured: &[MeasuredCost]) -> io::Result<PathBuf> {
    let path = file().ok_or_else(|| {
        let why = "neither XDG_STATE_HOME nor HOME names a folder";
        io::Error::new(io::ErrorKind::NotFound, why)
    })?;
    fs::create_dir_all(folder_of(&path))?;
    // A file that is of no use is written anew.
    let before = read(&path).ok().flatten().unwrap_or_default();
    let boards = before.with(measured);
    let text = text(boards.measured(), processor());
    replace(&path, text.as_bytes()).map(|()| path)
}

#[expect(clippy::expect_used, reason = "numbers and text have a form in TOML")]
fn text(measured: &[MeasuredCost], cpu: String) -> String {
    let board = |of: &MeasuredCost| MeasuredBoard {
        isa: of.isa.name().to_owned(),
        n: of.n.get(),
        chain_seconds: of.chain,
        colour_seconds: of.colour,
    };
    let file = CalibrationFile {
        cpu,
        boards: measured.iter().map(board).collect(),
    };
    let text = toml::to_string(&file).expect("numbers and text in named fields");
    format!("{COMMENT}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured() -> MeasuredCost {
        MeasuredCost {
            isa: Isa::Avx2,
            n: Size::new(16).unwrap(),
            chain: 0.25,
            colour: 0.5,
        }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let text = text(&[measured()], "Some CPU".to_owned());
        assert!(text.starts_with("# Written by"));
        assert_eq!(costs(&text, "Some CPU"), Ok(CostTable::new([measured()])));
    }

    #[test]
    fn what_does_not_hold_here_is_refused() {
        let good = text(&[measured()], "Some CPU".to_owned());
        for (text, says) in [
            (good.replace("Some CPU", "Another CPU"), "Another CPU"),
            (good.replace("n = 16", "n = 99"), "unknown board"),
            (good.replace("avx2", "avx9"), "unknown board or set"),
            (good.replace("boards", "bords"), "bords"),
            ("\0".to_owned(), "writes it again"),
            (String::new(), "it has no `cpu`; "),
        ] {
            let why = costs(&text, "Some CPU").unwrap_err();
            assert!(why.contains(says) && why.lines().count() == 1, "{why}");
        }
    }
}
