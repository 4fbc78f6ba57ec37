//! The questions that `ladder` asks on a terminal if it has no flags.

use std::io::{self, BufRead, Write};

use super::args::{Args, DRAWN, StyleChoice, Which};
use crate::config::{Sizes, Value};
use crate::ladder::{About, METHODS};

/// A method as a line of the list.
pub fn entry(about: &About) -> String {
    let About {
        name, idea, unique, ..
    } = about;
    let counts = if *unique { "total, unique" } else { "total" };
    let styles: Vec<_> = about.styles.iter().filter_map(|s| s.name()).collect();
    let styles = if styles.is_empty() {
        String::new()
    } else {
        format!("; {}", styles.join(", "))
    };
    format!("{name:<20}  {idea} ({counts}{styles})")
}

/// The methods by number, one a line: with their ideas if every line fits into `columns`, by name alone
/// if not.
fn choices(columns: usize) -> Vec<String> {
    let numbered = || (1..).zip(METHODS.map(|method| method.about()));
    let lines: Vec<_> = numbered()
        .map(|(number, About { name, idea, .. })| format!("{number:>2}  {name:<20}  {idea}"))
        .collect();
    if lines.iter().all(|line| line.chars().count() <= columns) {
        lines
    } else {
        numbered()
            .map(|(number, about)| format!("{number:>2}  {}", about.name))
            .collect()
    }
}

/// Asks what to run: method, boards, style, sizes. `None` when the answers end. The terminal has
/// `columns`.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn ask(
    answers: &mut impl BufRead,
    out: &mut impl Write,
    columns: usize,
) -> io::Result<Option<Args>> {
    for line in choices(columns) {
        writeln!(out, "{line}")?;
    }
    let count = METHODS.len();
    let question = format!("Method, 1 to {count}: ");
    let Some(about) = question_until(answers, out, &question, |answer| {
        let by_number = answer
            .parse::<usize>()
            .ok()
            .and_then(|number| METHODS.get(number.checked_sub(1)?));
        by_number
            .or_else(|| METHODS.iter().find(|method| method.about().name == answer))
            .map(|method| method.about())
            .ok_or_else(|| format!("There is no method {answer:?}: answer a number or a name."))
    })?
    else {
        return Ok(None);
    };
    let mut boards = false;
    // A device lists no solutions.
    if !about.styles.iter().all(|style| style.needs_device()) {
        let question = "Print the boards, y or n [n]: ";
        let Some(choice) = question_until(answers, out, question, |answer| match answer {
            "y" | "yes" => Ok(true),
            "" | "n" | "no" => Ok(false),
            _ => Err("Answer y for yes or n for no.".to_owned()),
        })?
        else {
            return Ok(None);
        };
        boards = choice;
    }
    let Some(style) = ask_style(answers, out, about, boards)? else {
        return Ok(None);
    };
    let last = if boards {
        about.reach.min(DRAWN)
    } else {
        about.reach
    };
    let usual = format!("4..={last}");
    let question = format!("Board size, or a range A..=B [{usual}]: ");
    let Some(n) = question_until(answers, out, &question, |answer| {
        let sizes = Sizes::parse(if answer.is_empty() { &usual } else { answer })
            .map_err(|error| format!("{error}."))?;
        if boards && sizes.last().get() > DRAWN {
            return Err(format!("Boards are printed up to {DRAWN} × {DRAWN}."));
        }
        Ok(sizes)
    })?
    else {
        return Ok(None);
    };
    Ok(Some(Args {
        method: Some(about.name.to_owned()),
        n: Some(n),
        style,
        boards: boards.then_some(Which::All),
        ..Args::default()
    }))
}

/// Asks for one of the method's styles, or all of them. If boards are printed, it offers single
/// styles only, without those that need a device. It asks nothing if there is no choice.
fn ask_style(
    answers: &mut impl BufRead,
    out: &mut impl Write,
    about: &About,
    boards: bool,
) -> io::Result<Option<Option<StyleChoice>>> {
    let choices: Vec<_> = about
        .styles
        .iter()
        .filter(|style| !(boards && style.needs_device()))
        .filter_map(|style| Some((style.name()?, StyleChoice::of(*style)?)))
        .collect();
    let [(first, _), _, ..] = choices[..] else {
        return Ok(Some(None));
    };
    let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    let usual = if boards { first } else { "all" };
    let question = format!("Style, one of {names}, or the first letter [{usual}]: ");
    question_until(answers, out, &question, |answer| {
        let meant = if answer.is_empty() { usual } else { answer };
        if meant == "all" && !boards {
            return Ok(None);
        }
        let named = |(name, _): &&(&str, StyleChoice)| *name == meant || name[..1] == *meant;
        match choices.iter().find(named) {
            Some((_, choice)) => Ok(Some(*choice)),
            None if boards => Err(format!("Boards are printed in one style: {names}.")),
            None => Err(format!("There is no style {meant:?}: {names} or all.")),
        }
    })
}

/// Asks until an answer is valid, and says what is wrong with others; `None` at the end of the
/// input.
fn question_until<T>(
    answers: &mut impl BufRead,
    out: &mut impl Write,
    question: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> io::Result<Option<T>> {
    loop {
        write!(out, "{question}")?;
        out.flush()?;
        let mut answer = String::new();
        if answers.read_line(&mut answer)? == 0 {
            writeln!(out)?;
            return Ok(None);
        }
        match read(answer.trim()) {
            Ok(meant) => return Ok(Some(meant)),
            Err(why) => writeln!(out, "{why}")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (Option<Args>, String) {
        let mut out = Vec::new();
        let args = ask(&mut text.as_bytes(), &mut out, 80).unwrap();
        (args, String::from_utf8(out).unwrap())
    }

    #[test]
    fn the_menu_fits_24_rows_of_80_columns_and_narrow_terminals() {
        let menu = choices(80);
        assert!(
            menu.iter().all(|line| line.chars().count() <= 80),
            "{menu:#?}"
        );
        assert!(menu[0].contains("n^n tuples"), "{menu:#?}");
        // Three questions follow.
        assert!(menu.len() + 3 < 24);
        let narrow = choices(40);
        assert!(
            narrow.iter().all(|line| line.chars().count() <= 40),
            "{narrow:#?}"
        );
        assert_eq!(narrow.len(), menu.len());
    }

    #[test]
    fn answers_become_flags() {
        let (args, out) = answer("5\ny\ni\n6\n");
        assert!(out.contains(" 5  bitmap"), "{out}");
        let expected = Args {
            method: Some("bitmap".into()),
            n: Sizes::read("6"),
            style: Some(StyleChoice::Iterative),
            boards: Some(Which::All),
            ..Args::default()
        };
        assert_eq!(args, Some(expected));
    }

    #[test]
    fn an_answer_that_means_nothing_is_asked_for_again() {
        let (args, out) = answer("0\n99\nsymmetry-parallel\nmaybe\nn\n0\n\n");
        assert_eq!(out.matches("Method, 1 to").count(), 3, "{out}");
        assert_eq!(out.matches("Print the boards").count(), 2, "{out}");
        let args = args.unwrap();
        assert_eq!(args.method.as_deref(), Some("symmetry-parallel"));
        assert_eq!((args.n, args.style), (Sizes::read("4..=12"), None));
    }

    #[test]
    fn an_answer_that_means_nothing_is_told_why() {
        let (args, out) = answer("99\nbitmap\nmaybe\ny\nboth\n\n11\n40\n6\n");
        for why in [
            "There is no method \"99\": answer a number or a name.",
            "Answer y for yes or n for no.",
            "Boards are printed in one style: recursive, iterative.",
            "Boards are printed up to 10 × 10.",
            "from 1 to 32",
        ] {
            assert!(out.contains(why), "{why}: {out}");
        }
        assert_eq!(args.unwrap().style, Some(StyleChoice::Recursive));
    }

    #[test]
    fn every_style_of_a_method_is_offered() {
        let (args, out) = answer("node-layer\nn\ne\n8\n");
        assert!(out.contains("recursive, iterative, gpu, emulated"), "{out}");
        assert_eq!(args.unwrap().style, Some(StyleChoice::Emulated));
        let (args, out) = answer("node-layer\ny\ng\ni\n8\n");
        assert!(out.contains("one of recursive, iterative, or"), "{out}");
        assert_eq!(args.unwrap().style, Some(StyleChoice::Iterative));
        let (args, _) = answer("bit-board\n\n8\n");
        assert_eq!(args.unwrap().style, None);
    }

    #[test]
    fn a_method_that_needs_a_device_is_not_asked_for_boards() {
        let (args, out) = answer("bit-board\ngpu\n8\n");
        assert!(!out.contains("Print the boards"), "{out}");
        assert_eq!(args.unwrap().boards, None);
    }

    #[test]
    fn the_end_of_the_answers_ends_the_questions() {
        assert_eq!(answer("1\n").0, None);
        assert_eq!(answer("").0, None);
    }
}
