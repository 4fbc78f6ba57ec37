//! The boards that a command line asks for: sizes, and what is given on them.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::config::{Layers, SettingOrigin, is_stream};
use crate::exit::Failure;
use crate::output::print;
use queenfold::board::{GivenBoard, GivenError};

/// The largest picture that is read, in bytes: a board has at most 1024 squares.
const MAX_FILE: u64 = 1 << 16;

/// The boards that the settings of a command ask for, at least one.
///
/// # Errors
/// There is none, or what is given on one of them is refused.
pub fn boards(settings: &Layers) -> Result<Vec<GivenBoard>, Failure> {
    let run = &settings.config().run;
    let Some(picture) = &run.board else {
        return named(settings);
    };
    for (key, names) in [("run.queens", &run.queens), ("run.holes", &run.holes)] {
        if names.is_some() {
            return Err(Failure::usage(format!(
                "a picture shows all that is given, and both {} and {} are set: give --board alone, or \
                 --queens and --holes",
                source(settings, "run.board"),
                source(settings, key)
            )));
        }
    }
    Ok(vec![pictured(settings, picture)?])
}

/// The boards with the sizes, queens and holes that settings name.
fn named(settings: &Layers) -> Result<Vec<GivenBoard>, Failure> {
    let run = &settings.config().run;
    let Some(sizes) = &run.n else {
        return Err(Failure::usage(
            "no board: give -n N or --board FILE, or set run.n in a configuration file",
        ));
    };
    let [queens, holes] = [&run.queens, &run.holes].map(|names| names.as_deref().unwrap_or(""));
    let given = sizes.iter().map(|n| GivenBoard::parse(*n, queens, holes));
    given
        .collect::<Result<_, _>>()
        .map_err(|error| not_given(settings, &error))
}

/// Queens and holes that cannot be given, and where they come from.
fn not_given(settings: &Layers, error: &GivenError) -> Failure {
    let sources = ["run.queens", "run.holes"].map(|key| elsewhere(settings, key));
    let sources: Vec<_> = sources.into_iter().flatten().collect();
    Failure::usage(match sources.is_empty() {
        true => error.to_string(),
        false => format!("{}: {error}", sources.join(" and ")),
    })
}

/// The board that the settings of a command for one board ask for.
///
/// # Errors
/// As [`boards`], or there are several.
pub fn one_board(settings: &Layers) -> Result<GivenBoard, Failure> {
    match boards(settings)?[..] {
        [board] => Ok(board),
        _ => Err(Failure::usage(format!(
            "{} asks for several boards, and this command takes one: give one n",
            source(settings, "run.n")
        ))),
    }
}

/// The board of a picture, which the sizes must not contradict.
fn pictured(settings: &Layers, picture: &Path) -> Result<GivenBoard, Failure> {
    let name = match is_stream(picture) {
        true => "standard input".to_owned(),
        false => picture.display().to_string(),
    };
    let refused = |why: &dyn Display| {
        let place = elsewhere(settings, "run.board").map(|source| format!("{source}: "));
        Failure::usage(format!("{}{name}: {why}", place.unwrap_or_default()))
    };
    let text = read(picture).map_err(|error| refused(&error))?;
    let board = GivenBoard::from_picture(&text).map_err(|error| refused(&error))?;
    let n = board.size();
    let sizes = settings.config().run.n.iter().flatten();
    if sizes.copied().all(|size| size == n) {
        return Ok(board);
    }
    let source = source(settings, "run.n");
    Err(refused(&format!(
        "this is a picture of n = {n}, and {source} asks for another size: leave {source} out"
    )))
}

/// What sets a key, in words: `-n`, or `run.n of file queenfold.toml`.
fn source(settings: &Layers, key: &str) -> String {
    match settings.origin(key) {
        SettingOrigin::Flag(flag) => (*flag).to_owned(),
        // Its name has the key.
        SettingOrigin::Environment(name) => format!("{name} of the environment"),
        other => format!("{key} of {other}"),
    }
}

/// What sets a key, if it is set, and by no flag: who gave a flag knows where it is.
fn elsewhere(settings: &Layers, key: &str) -> Option<String> {
    let origin = settings.origin(key);
    let is_elsewhere = !matches!(origin, SettingOrigin::Flag(_) | SettingOrigin::Default);
    is_elsewhere.then(|| source(settings, key))
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

/// Draws boards, with the names of their rows and columns and the symmetries that fix them.
///
/// # Errors
/// stdout cannot be written.
pub fn show(boards: &[GivenBoard]) -> Result<(), Failure> {
    for board in boards {
        print(board.picture().to_string().trim_end())?;
        print(&format!(
            "n = {}, given: {}; symmetries that fix it, besides the identity: {}",
            board.size(),
            board.brief(),
            board.symmetries()
        ))?;
    }
    Ok(())
}
