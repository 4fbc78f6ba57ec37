use std::io::{self, BufRead, Write};

use super::{Args, Choice, DRAWN, Which};
use crate::config::{Sizes, Value};
use crate::ladder::{About, METHODS, Style};

/// A method as the list shows it.
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

/// Asks what to run: method, boards, style, sizes. `None` when the answers end.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn ask(answers: &mut impl BufRead, out: &mut impl Write) -> io::Result<Option<Args>> {
    for (number, method) in (1..).zip(METHODS) {
        writeln!(out, "{number:>3}  {}", entry(method.about()))?;
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
    })?
    else {
        return Ok(None);
    };
    let Some(boards) =
        question_until(
            answers,
            out,
            "Print the boards, y or n [n]: ",
            |answer| match answer {
                "y" | "yes" => Some(true),
                "" | "n" | "no" => Some(false),
                _ => None,
            },
        )?
    else {
        return Ok(None);
    };
    let mut style = None;
    if about.styles == Style::BOTH {
        let question = "Style, r for recursive or i for iterative [both]: ";
        let Some(choice) = question_until(answers, out, question, |answer| match answer {
            "r" | "recursive" => Some(Choice::Recursive),
            "i" | "iterative" => Some(Choice::Iterative),
            "" | "b" | "both" => Some(Choice::Both),
            _ => None,
        })?
        else {
            return Ok(None);
        };
        style = Some(choice);
    }
    let last = if boards {
        about.reach.min(DRAWN)
    } else {
        about.reach
    };
    let usual = format!("4..={last}");
    let question = format!("Board size, or a range A..=B [{usual}]: ");
    let Some(n) = question_until(answers, out, &question, |answer| {
        let sizes = Sizes::read(if answer.is_empty() { &usual } else { answer })?;
        (!boards || sizes.last().get() <= DRAWN).then_some(sizes)
    })?
    else {
        return Ok(None);
    };
    Ok(Some(Args {
        method: Some(about.name.to_owned()),
        n: Some(n),
        style: style.filter(|_| !boards || style != Some(Choice::Both)),
        boards: boards.then_some(Which::All),
        ..Args::default()
    }))
}

/// Asks until the answer means something; `None` at the end of the input.
fn question_until<T>(
    answers: &mut impl BufRead,
    out: &mut impl Write,
    question: &str,
    read: impl Fn(&str) -> Option<T>,
) -> io::Result<Option<T>> {
    loop {
        write!(out, "{question}")?;
        out.flush()?;
        let mut answer = String::new();
        if answers.read_line(&mut answer)? == 0 {
            writeln!(out)?;
            return Ok(None);
        }
        if let Some(meant) = read(answer.trim()) {
            return Ok(Some(meant));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (Option<Args>, String) {
        let mut out = Vec::new();
        let args = ask(&mut text.as_bytes(), &mut out).unwrap();
        (args, String::from_utf8(out).unwrap())
    }

    #[test]
    fn answers_become_flags() {
        let (args, out) = answer("5\ny\ni\n6\n");
        assert!(out.contains("  5  bitmap"), "{out}");
        let expected = Args {
            method: Some("bitmap".into()),
            n: Sizes::read("6"),
            style: Some(Choice::Iterative),
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
    fn the_end_of_the_answers_ends_the_questions() {
        assert_eq!(answer("1\n").0, None);
        assert_eq!(answer("").0, None);
    }
}
