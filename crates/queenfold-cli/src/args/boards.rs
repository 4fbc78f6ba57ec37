//! The boards that a command line asks for: sizes, and what is given on them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;

use crate::config::{Sizes, is_stream, sizes};
use crate::exit::Failure;
use queenfold::board::GivenBoard;

/// The largest picture that is read, in bytes: a board has at most 1024 squares.
const MAX_FILE: u64 = 1 << 16;

/// Flags that say which boards.
#[derive(Debug, clap::Args)]
pub struct Boards {
    /// Board sizes, 1 to 32: one, or ranges and lists of them, such as `4..=14` or `8,10,12`; both ends are included
    #[arg(short, value_name = "N|A..=B", value_parser = sizes(), allow_hyphen_values = true)]
    n: Option<Sizes>,

    /// Queens that are given, such as `c3,a7`, and that every solution keeps: column a is at the left, row 1 at the
    /// bottom, as in chess
    #[arg(long, value_name = "SQUARES", value_parser = NonEmptyStringValueParser::new())]
    queens: Vec<String>,

    /// Squares on which no queen may stand, such as `d4,e5`; queens attack across them
    #[arg(long, value_name = "SQUARES", value_parser = NonEmptyStringValueParser::new())]
    holes: Vec<String>,

    /// In the place of -n, --queens and --holes a picture of the board in a file, or on standard input (`-`): a line for
    /// each row, the top row first, of `.` (empty), `Q` (a given queen) and `#` (a hole)
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["n", "queens", "holes"])]
    board: Option<PathBuf>,
}

impl Boards {
    /// The boards, at least one.
    ///
    /// # Errors
    /// There is none, or what is given on one of them is refused.
    pub fn all(&self) -> Result<Vec<GivenBoard>, Failure> {
        if let Some(picture) = &self.board {
            return Ok(vec![pictured(picture)?]);
        }
        let sizes = self.n.as_ref();
        let sizes = sizes.ok_or_else(|| Failure::usage("no board: give -n N or --board FILE"))?;
        let [queens, holes] = [&self.queens, &self.holes].map(|names| names.join(","));
        let given = sizes.iter().map(|n| GivenBoard::parse(*n, &queens, &holes));
        given.collect::<Result<_, _>>().map_err(Failure::usage)
    }

    /// The board of a command for one.
    ///
    /// # Errors
    /// As [`all`](Self::all), or there are several.
    pub fn one(&self) -> Result<GivenBoard, Failure> {
        match self.all()?[..] {
            [board] => Ok(board),
            _ => Err(Failure::usage(
                "-n asks for several boards, and this command takes one",
            )),
        }
    }
}

fn pictured(picture: &Path) -> Result<GivenBoard, Failure> {
    let name = match is_stream(picture) {
        true => "standard input".to_owned(),
        false => picture.display().to_string(),
    };
    let text = read(picture).map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    GivenBoard::from_picture(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
}

fn read(picture: &Path) -> io::Result<String> {
    let mut text = String::new();
    let source: Box<dyn Read> = match is_stream(picture) {
        true => Box::new(io::stdin()),
        // It may be a pipe of the shell, as standard input may.
        false => Box::new(File::open(picture)?),
    };
    source.take(MAX_FILE + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MAX_FILE {
        true => Err(io::Error::other("a picture has at most 64 KiB")),
        false => Ok(text),
    }
}

/// What is given on a board and which symmetries fix it, as results show it, in a few words: `given queens d5,b4; symmetries
/// none`. `None` for a free board.
pub fn given_line(board: &GivenBoard) -> Option<String> {
    (!board.is_free())
        .then(|| format!("given {}; symmetries {}", board.brief(), board.symmetries()))
}
