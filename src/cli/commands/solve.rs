use serde_json::json;

use crate::board::{Drawing, GivenBoard, GivenSquares, Square};
use crate::cli::args::flags::Boards;
use crate::cli::control::stop_report::StopReport;
use crate::cli::exit::Failure;
use crate::cli::output::{print, say};
use crate::cli::print::board_svg::board_svg;
use crate::solve::{Choice, Chosen, Solved, solve};
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold solve -n 8 --queens b4,d5
  queenfold solve -n 20 --queens c3,h11 --count 3 --random --seed 1
  queenfold solve --board puzzle.txt --svg > puzzle.svg

Prints boards with n queens, the given ones among them, of which none attacks another and none stands on a \
hole. Without --random they are the first ones of a search that always fills what has the fewest squares left, \
in an order that is the same on every machine. With --random, each is as probable as any other up to n = 12, \
and on larger boards whose completions a search lists within a second. Otherwise some boards are more likely than \
others; a line on stderr says so. Such a search gives up after 100 boards in a row that it found before: then \
fewer boards than --count asks for are printed, there may be more, and a line on stderr says so.

Nothing is printed on stdout if there is none, and the exit code is 0; --json prints an object without boards.";

/// Flags of `solve`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    /// How many different boards to print at most
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), allow_hyphen_values = true)]
    count: u32,

    /// Choose boards at random
    #[arg(long)]
    random: bool,

    /// Choose boards at random, the same ones for each seed
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Print one drawing of all boards as SVG
    #[arg(long, conflicts_with = "json")]
    svg: bool,

    /// Print one object of JSON
    #[arg(long)]
    json: bool,
}

/// Prints completions of boards.
pub fn run(args: &Args) -> Result<(), Failure> {
    let boards = args.boards.all()?;
    if args.svg && boards.len() > 1 {
        return Err(Failure::usage("--svg draws boards of one size: give one n"));
    }
    let _report = StopReport::listen("no board is printed")?;
    for (at, board) in boards.iter().enumerate() {
        if at > 0 && !args.json {
            print("")?;
        }
        let name = match boards.len() {
            1 => String::new(),
            _ => format!("{}: ", board.in_words()),
        };
        show(&name, board, args)?;
    }
    Ok(())
}

/// Prints completions of one board. The line about them begins with `name`.
fn show(name: &str, board: &GivenBoard, args: &Args) -> Result<(), Failure> {
    let seed = args.seed.or_else(|| args.random.then(|| fastrand::u64(..)));
    let choice = seed.map_or(Choice::First, |seed| Choice::Random { seed });
    let solved = solve(board, args.count as usize, choice);
    let n = board.size();
    if args.json {
        let names = |queens: &Vec<u8>| -> Vec<String> {
            let squares = (0..)
                .zip(queens)
                .map(|(row, &column)| Square::new(row, column));
            squares.map(|square| square.name(n)).collect()
        };
        let mut json = json!({
            "n": n.get(),
            "chosen": word(solved.chosen),
            "seed": seed.map(|seed| seed.to_string()),
            "all": solved.all,
            "gave_up": solved.gave_up,
            "boards": solved.boards.iter().map(names).collect::<Vec<_>>(),
        });
        if let Some(given) = GivenSquares::of(board) {
            json["given"] = json!(given);
        }
        return print(&json.to_string());
    }
    say(&format!("{name}{}", summary(&solved, seed)));
    if args.svg && !solved.boards.is_empty() {
        return print(&board_svg(board, &solved.boards));
    }
    for (at, queens) in solved.boards.iter().enumerate() {
        let rows: Vec<_> = queens.iter().copied().map(Some).collect();
        let gap = if at > 0 { "\n" } else { "" };
        print(&format!("{gap}{}", Drawing(&rows).to_string().trim_end()))?;
    }
    Ok(())
}

const fn word(chosen: Chosen) -> &'static str {
    match chosen {
        Chosen::First => "first",
        Chosen::Uniform => "uniform",
        Chosen::NotUniform => "not uniform",
    }
}

/// What is printed, in words.
fn summary(solved: &Solved, seed: Option<u64>) -> String {
    let boards = several(solved.boards.len() as u64, "completion");
    let which = match (solved.all, solved.boards.len()) {
        (true, 0) => "there is no completion".to_owned(),
        (true, 1) => "the only completion".to_owned(),
        (true, _) => format!("all {boards}"),
        (false, _) => boards,
    };
    let chosen = match solved.chosen {
        Chosen::First => "",
        Chosen::Uniform => ", drawn uniformly",
        Chosen::NotUniform => ", drawn by a random search: not uniform",
    };
    let seed = seed.filter(|_| !solved.boards.is_empty());
    let seed = seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
    let more = match solved.gave_up {
        true => "; the search gave up: there may be more",
        false => "",
    };
    match solved.boards.is_empty() {
        true => which,
        false => format!("{which}{chosen}{seed}{more}"),
    }
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
        let said = "1 completion, drawn by a random search: not uniform, seed 7";
        assert_eq!(
            summary(&solved, Some(7)),
            format!("{said}; the search gave up: there may be more")
        );
        solved.gave_up = false;
        assert_eq!(summary(&solved, Some(7)), said);
    }
}
