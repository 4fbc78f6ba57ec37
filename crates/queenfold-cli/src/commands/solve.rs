//! `queenfold solve`: prints completions of boards, the first ones or random ones.

use serde_json::{Value as Json, json};

use crate::args::boards::Boards;
use crate::config::whole;
use crate::control::stop_report::StopReport;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::report::board_svg;
use queenfold::board::{GivenBoard, GivenSquares, Square, known};
use queenfold::solve::{Choice, Chosen, Solved, is_representative, solutions, solve};
use queenfold::words::several;

const HELP: &str = "\
Examples:
  queenfold solve -n 8 --queens b4,d5
  queenfold solve -n 8 --count all --unique
  queenfold solve -n 20 --queens c3,h11 --count 3 --seed 1
  queenfold solve --board puzzle.txt --svg > solution.svg
  queenfold solve --board puzzle.txt --svg --count 0 > puzzle.svg

Prints boards with n queens, the given ones among them, of which none attacks another and none stands on a \
hole. Without --seed they are the first ones of a search that always fills what has the fewest squares left, \
in an order that is the same on every machine. With --seed, each is as probable as any other up to n = 12, \
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

    /// How many different boards to print at most, up to 100000, or `all`; 0 prints what is given, unsolved
    #[arg(long, value_name = "K|all", default_value = "1", value_parser = whole(0..=MOST).or("all"), allow_hyphen_values = true)]
    count: Count,

    /// Print one board of those that rotations and reflections turn into each other
    #[arg(long, conflicts_with = "seed")]
    unique: bool,

    /// Choose boards at random: the same ones for the same number, or others each time for `random`
    #[arg(long, value_name = "SEED|random", value_parser = whole(0..=u64::MAX).or("random"), allow_hyphen_values = true)]
    seed: Option<Seed>,

    /// Print one drawing of all boards as SVG
    #[arg(long, conflicts_with = "json")]
    svg: bool,

    /// Print one object of JSON
    #[arg(long)]
    json: bool,
}

/// How many boards; `None` for all.
type Count = Option<usize>;

/// A seed; `None` for a random one.
type Seed = Option<u64>;

/// The most boards that may be asked for by number.
const MOST: usize = 100_000;

/// Prints completions of boards.
pub fn run(args: &Args) -> Result<(), Failure> {
    let boards = args.boards.all()?;
    if args.svg && boards.len() > 1 {
        return Err(Failure::usage("--svg draws boards of one size: give one n"));
    }
    if args.count.is_none() && args.seed.is_some() {
        return Err(Failure::usage(
            "--count all lists every board, and --seed chooses: give one of the two",
        ));
    }
    if args.count == Some(0) && args.json {
        return Err(Failure::usage("--count 0 goes without --json"));
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
    if args.count == Some(0) {
        // An empty row has its queen in a column that no board has.
        let queen = |row| board.queens().row(row).trailing_zeros() as u8;
        let given: Vec<_> = (0..board.size().get()).map(queen).collect();
        return match args.svg {
            true => print(&board_svg(board, &[given])),
            false => print_board(board, 0, &given),
        };
    }
    let seed = args
        .seed
        .map(|seed| seed.unwrap_or_else(|| fastrand::u64(..)));
    let (number, solved) = match seed {
        Some(seed) => {
            let solved = solve(board, args.count.unwrap_or(MOST), Choice::Random { seed });
            (solved.boards.len(), solved)
        }
        None => first(board, args)?,
    };
    if args.json {
        print_json(&to_json(board, &solved, seed))?;
    }
    let known = known(board.size()).filter(|_| board.is_free());
    let of = known.map(|known| {
        if args.unique {
            known.unique
        } else {
            known.total
        }
    });
    let given = match name.is_empty() && !board.is_free() {
        true => format!(", given {}", board.brief()),
        false => String::new(),
    };
    let summary = summary(of, number, &solved, seed, args.unique, &given);
    let summary = format!("{name}{summary}");
    if number == 0 {
        return Err(Failure::new(Exit::Error, summary));
    }
    if args.json {
        return Ok(());
    }
    match args.svg {
        true => print(&board_svg(board, &solved.boards))?,
        false => {
            let mut boards = (0..).zip(&solved.boards);
            boards.try_for_each(|(at, queens)| print_board(board, at, queens))?;
        }
    }
    say(&summary);
    Ok(())
}

/// Prints a completion of `board`, which `at` others precede, as `--board` reads it.
fn print_board(board: &GivenBoard, at: usize, queens: &[u8]) -> Result<(), Failure> {
    let n = queens.len() as u8;
    let sign = |row: u8, column| match queens[usize::from(row)] == column {
        true => "Q",
        false if board.holes().contains(Square::new(row, column)) => "#",
        false => ".",
    };
    let row = |row| (0..n).map(|column| sign(row, column)).collect::<Vec<_>>();
    let rows: Vec<_> = (0..n).map(|at| row(at).join(" ")).collect();
    let gap = if at > 0 { "\n" } else { "" };
    print(&format!("{gap}{}", rows.join("\n")))
}

/// The first boards, and how many they are. Without --json and --svg, they are printed as they are
/// found, because there may be more of them than memory holds.
///
/// # Errors
/// All are asked for at once, and there are more than [`MOST`].
fn first(board: &GivenBoard, args: &Args) -> Result<(usize, Solved), Failure> {
    let mut found =
        solutions(board).filter(|queens| !args.unique || is_representative(board, queens));
    let at_once = args.json || args.svg;
    let count = args.count.unwrap_or(usize::MAX);
    let most = if at_once { count.min(MOST) } else { count };
    let (mut number, mut boards) = (0, Vec::new());
    for queens in found.by_ref().take(most) {
        match at_once {
            true => boards.push(queens),
            false => print_board(board, number, &queens)?,
        }
        number += 1;
    }
    let solved = Solved {
        boards,
        chosen: Chosen::First,
        all: found.next().is_none(),
        gave_up: false,
    };
    if count > most && !solved.all {
        let why = format!(
            "--json and --svg print at most {MOST} boards: give --count, or neither of them"
        );
        return Err(Failure::usage(why));
    }
    Ok((number, solved))
}

fn to_json(board: &GivenBoard, solved: &Solved, seed: Option<u64>) -> Json {
    let names = |queens: &Vec<u8>| -> Vec<String> {
        let squares = (0..).zip(queens);
        let name = |(row, column): (u8, &u8)| Square::new(row, *column).name(board.size());
        squares.map(name).collect()
    };
    let chosen = match solved.chosen {
        Chosen::First => "first",
        Chosen::Uniform => "uniform",
        Chosen::NotUniform => "not uniform",
    };
    json!({
        "n": board.size(),
        "given": GivenSquares::of(board),
        "chosen": chosen,
        "seed": seed.map(|seed| seed.to_string()),
        "all": solved.all,
        "gave_up": solved.gave_up,
        "boards": solved.boards.iter().map(names).collect::<Vec<_>>(),
    })
}

/// What is printed, in words. `of` is the number of all solutions, if it is known; `given` what is given on the board.
fn summary(
    of: Option<u128>,
    number: usize,
    solved: &Solved,
    seed: Option<u64>,
    unique: bool,
    given: &str,
) -> String {
    let what = ["solution", "unique solution"][usize::from(unique)];
    let boards = several(number as u64, what);
    let which = match (solved.all, number, of) {
        (true, 0, _) => return format!("there is no solution{given}"),
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
    format!("{which}{given}{chosen}{seed}{more}")
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
            summary(None, 1, &solved, Some(7), false, ""),
            format!("{said}; the search gave up: there may be more")
        );
        solved.gave_up = false;
        assert_eq!(
            summary(None, 1, &solved, Some(7), false, ""),
            format!("{said}; there may be more: --count 2")
        );
        assert_eq!(
            summary(Some(2), 1, &solved, None, false, ""),
            "1 of 2 solutions, found by a random search: not uniform"
        );
    }
}
