//! `queenfold solve`: prints completions of boards, the first ones or random ones.

use serde_json::{Value as Json, json};

use crate::args::flags::Boards;
use crate::args::whole::whole;
use crate::control::stop_report::StopReport;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::report::board_svg;
use queenfold::board::{Drawing, GivenBoard, GivenSquares, Square, known};
use queenfold::solve::{
    Choice, Chosen, Solved, is_representative, solutions, solutions_by_rows, solve,
};
use queenfold::words::several;

const HELP: &str = "\
Examples:
  queenfold solve -n 8 --queens b4,d5
  queenfold solve -n 8 --count all --unique
  queenfold solve -n 10 --order rows     the lexicographically first one
  queenfold solve -n 20 --queens c3,h11 --count 3 --random --seed 1
  queenfold solve --board puzzle.txt --svg > puzzle.svg

Prints boards with n queens, the given ones among them, of which none attacks another and none stands on a \
hole. Without --random they are the first ones of a search that always fills what has the fewest squares left, \
in an order that is the same on every machine. With --random, each is as probable as any other up to n = 12, \
and on larger boards whose completions a search lists within 2²⁰ nodes. Otherwise some boards are more likely than \
others; a line on stderr says so. Such a search gives up after 100 boards in a row that it found before: then \
fewer boards than --count asks for are printed, there may be more, and a line on stderr says so.

If there is none, the exit code is 1; --json prints an object without boards.";

/// Flags of `solve`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    /// How many different boards to print at most, 1 to 100000, or `all`
    #[arg(long, value_name = "K|all", default_value = "1", value_parser = how_many, allow_hyphen_values = true)]
    count: usize,

    /// Print one board of those that rotations and reflections turn into each other
    #[arg(long, conflicts_with_all = ["random", "seed"])]
    unique: bool,

    /// In which order: `fast` finds each soon, `rows` is lexicographic
    #[arg(long, value_name = "ORDER", default_value = "fast", value_parser = ["fast", "rows"], conflicts_with_all = ["random", "seed"])]
    order: String,

    /// Choose boards at random
    #[arg(long)]
    random: bool,

    /// Choose boards at random, the same ones for each seed
    #[arg(long, value_name = "SEED", value_parser = whole(0..=u64::MAX), allow_hyphen_values = true)]
    seed: Option<u64>,

    /// Print one drawing of all boards as SVG
    #[arg(long, conflicts_with = "json")]
    svg: bool,

    /// Print one object of JSON
    #[arg(long)]
    json: bool,
}

/// Reads `--count`.
fn how_many(text: &str) -> Result<usize, String> {
    match text.parse() {
        _ if text == "all" => Ok(usize::MAX),
        Ok(count @ 1..=MOST) => Ok(count),
        _ => Err(format!(
            "expected a whole number from 1 to {MOST}, or `all`"
        )),
    }
}

/// The most boards that may be asked for by number.
const MOST: usize = 100_000;

/// Prints completions of boards.
pub fn run(args: &Args) -> Result<(), Failure> {
    let boards = args.boards.all()?;
    if args.svg && boards.len() > 1 {
        return Err(Failure::usage("--svg draws boards of one size: give one n"));
    }
    if args.count == usize::MAX && (args.seed.is_some() || args.random) {
        return Err(Failure::usage(
            "--count all lists every board, and --random chooses: give one of the two",
        ));
    }
    let _report = StopReport::listen(match args.json || args.svg {
        // They print a board at the end of its search.
        true => "what it searched for is not printed",
        false => "no more boards are printed",
    })?;
    for (at, board) in boards.iter().enumerate() {
        if at > 0 && !args.json {
            print("")?;
        }
        let name = match boards.len() {
            2.. => format!("{}: ", board.in_words()),
            _ => String::new(),
        };
        show(&name, board, args)?;
    }
    Ok(())
}

/// Prints completions of one board. The line about them begins with `name`.
fn show(name: &str, board: &GivenBoard, args: &Args) -> Result<(), Failure> {
    let seed = args.seed.or_else(|| args.random.then(|| fastrand::u64(..)));
    let (number, solved) = match seed {
        Some(seed) => {
            let solved = solve(board, args.count, Choice::Random { seed });
            (solved.boards.len(), solved)
        }
        None if args.json || args.svg => {
            let solved = first(board, args)?;
            (solved.boards.len(), solved)
        }
        None => list(board, args)?,
    };
    let known = known(board.size()).filter(|_| board.is_free());
    if args.json {
        print_json(&to_json(board, &solved, seed))?;
    }
    let of = known.map(|known| match args.unique {
        true => known.unique,
        false => known.total,
    });
    let summary = format!("{name}{}", summary(of, number, &solved, seed, args.unique));
    if number == 0 {
        return Err(Failure::new(Exit::Error, summary));
    }
    if args.json {
        return Ok(());
    }
    if args.svg {
        print(&board_svg(board, &solved.boards))?;
    } else {
        (0..)
            .zip(&solved.boards)
            .try_for_each(|(at, queens)| print_board(at, queens))?;
    }
    say(&summary);
    Ok(())
}

/// Prints a board, which `at` others precede.
fn print_board(at: usize, queens: &[u8]) -> Result<(), Failure> {
    let rows: Vec<_> = queens.iter().copied().map(Some).collect();
    let gap = if at > 0 { "\n" } else { "" };
    print(&format!("{gap}{}", Drawing(&rows).to_string().trim_end()))
}

/// The boards in the order of `args`.
fn found(board: &GivenBoard, args: &Args) -> impl Iterator<Item = Vec<u8>> {
    let found = match args.order.as_str() {
        "rows" => solutions_by_rows(board),
        _ => solutions(board),
    };
    found.filter(|queens| !args.unique || is_representative(board, queens))
}

/// Prints the first boards as they are found, because there may be more of them than memory holds: their number, and
/// what is known of them.
fn list(board: &GivenBoard, args: &Args) -> Result<(usize, Solved), Failure> {
    let mut found = found(board, args);
    let mut number = 0;
    for queens in found.by_ref().take(args.count) {
        print_board(number, &queens)?;
        number += 1;
    }
    let all = found.next().is_none();
    Ok((number, first_of(Vec::new(), all)))
}

/// The first boards.
///
/// # Errors
/// All are asked for, and there are more than [`MOST`].
fn first(board: &GivenBoard, args: &Args) -> Result<Solved, Failure> {
    let mut found = found(board, args);
    let boards: Vec<_> = found.by_ref().take(args.count.min(MOST)).collect();
    let all = found.next().is_none();
    if args.count > MOST && !all {
        let why = format!(
            "--json and --svg print at most {MOST} boards: give --count, or neither of them"
        );
        return Err(Failure::usage(why));
    }
    Ok(first_of(boards, all))
}

const fn first_of(boards: Vec<Vec<u8>>, all: bool) -> Solved {
    Solved {
        boards,
        chosen: Chosen::First,
        all,
        gave_up: false,
    }
}

fn to_json(board: &GivenBoard, solved: &Solved, seed: Option<u64>) -> Json {
    let names = |queens: &Vec<u8>| -> Vec<String> {
        let squares = (0..)
            .zip(queens)
            .map(|(row, &column)| Square::new(row, column));
        squares.map(|square| square.name(board.size())).collect()
    };
    json!({
        "n": board.size(),
        "given": GivenSquares::of(board),
        "chosen": word(solved.chosen),
        "seed": seed.map(|seed| seed.to_string()),
        "all": solved.all,
        "gave_up": solved.gave_up,
        "boards": solved.boards.iter().map(names).collect::<Vec<_>>(),
    })
}

const fn word(chosen: Chosen) -> &'static str {
    match chosen {
        Chosen::First => "first",
        Chosen::Uniform => "uniform",
        Chosen::NotUniform => "not uniform",
    }
}

/// What is printed, in words. `of` is the number of all solutions, if it is known.
fn summary(
    of: Option<u128>,
    number: usize,
    solved: &Solved,
    seed: Option<u64>,
    unique: bool,
) -> String {
    let what = if unique {
        "unique solution"
    } else {
        "solution"
    };
    let boards = several(number as u64, what);
    let which = match (solved.all, number, of) {
        (true, 0, _) => return "there is no solution".to_owned(),
        (true, 1, _) => format!("the only {what}"),
        (true, ..) => format!("all {boards}"),
        (false, _, Some(of)) => format!("{number} of {of} {what}s"),
        (false, _, None) => boards,
    };
    let chosen = match solved.chosen {
        Chosen::First => "",
        Chosen::Uniform => ", chosen uniformly",
        Chosen::NotUniform => ", found by a random search: not uniform",
    };
    let seed = seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let more = match (solved.gave_up, number) {
        (true, _) => "; the search gave up: there may be more",
        (false, 1) if !solved.all && of.is_none() => "; there may be more: --count 2",
        (false, _) => "",
    };
    format!("{which}{chosen}{seed}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_gave_up_is_told() {
        let mut solved = Solved {
            boards: vec![vec![0]],
            chosen: Chosen::NotUniform,
            all: false,
            gave_up: true,
        };
        let said = "1 solution, found by a random search: not uniform, seed 7";
        assert_eq!(
            summary(None, 1, &solved, Some(7), false),
            format!("{said}; the search gave up: there may be more")
        );
        solved.gave_up = false;
        assert_eq!(
            summary(None, 1, &solved, Some(7), false),
            format!("{said}; there may be more: --count 2")
        );
        assert_eq!(
            summary(Some(2), 1, &solved, None, false),
            "1 of 2 solutions, found by a random search: not uniform"
        );
    }
}
