//! The questions that `ladder` asks on a terminal if it has no flags. Answers are chosen with the arrow keys.

use std::io;

use console::{Key, Term};

use super::args::{Args, DRAWN, StyleChoice, Which};
use crate::cli::control::{signals, terminal};
use crate::cli::exit::{Exit, Failure};
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

/// Where questions are shown, and where keys come from.
trait Screen {
    /// Columns and lines.
    fn size(&self) -> [usize; 2];
    /// Shows lines in place of those shown before.
    fn show(&mut self, lines: &[String]) -> io::Result<()>;
    /// Leaves what is shown, and goes on below it.
    fn keep(&mut self);
    /// The next key.
    fn key(&mut self) -> io::Result<Key>;
}

/// The terminal of the process.
struct OnTerminal {
    term: Term,
    shown: usize,
}

impl Screen for OnTerminal {
    fn size(&self) -> [usize; 2] {
        let (lines, columns) = self.term.size();
        [columns.into(), lines.into()]
    }

    fn show(&mut self, lines: &[String]) -> io::Result<()> {
        self.term.clear_last_lines(self.shown)?;
        self.shown = lines.len();
        self.term.write_line(&lines.join("\n"))
    }

    fn keep(&mut self) {
        self.shown = 0;
    }

    fn key(&mut self) -> io::Result<Key> {
        match self.term.read_key_raw()? {
            Key::CtrlC => signals::end_at_once(Exit::Interrupted),
            // Ctrl-\: the terminal sends no signals while it waits for a key.
            Key::Char('\u{1c}') => signals::deliver(terminal::SignalKey::Quit),
            key => return Ok(key),
        }
        Ok(Key::Unknown)
    }
}

/// The methods, one a line: with their ideas if every line fits into `columns`, by name alone if not.
fn choices(columns: usize) -> Vec<String> {
    let abouts = METHODS.map(|method| method.about());
    let lines = abouts.map(|About { name, idea, .. }| format!("{name:<20}  {idea}"));
    // Before a line is the mark of the one that is chosen.
    match lines.iter().all(|line| line.chars().count() + 2 <= columns) {
        true => lines.into(),
        false => abouts.map(|about| about.name.to_owned()).into(),
    }
}

/// Asks what to run on the terminal. `None` if the user leaves.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn ask() -> Result<Option<Args>, Failure> {
    // A signal while it waits for a key finds the mode of the key.
    terminal::remember();
    let mut screen = OnTerminal {
        term: Term::stdout(),
        shown: 0,
    };
    Ok(ask_on(&mut screen)?)
}

/// Asks for method, boards, style and sizes.
fn ask_on(screen: &mut impl Screen) -> io::Result<Option<Args>> {
    let methods = choices(screen.size()[0]);
    let Some(chosen) = choose(screen, "Method", &methods)? else {
        return Ok(None);
    };
    let about = METHODS[chosen].about();
    // A device lists no solutions.
    let mut boards = false;
    if !about.styles.iter().all(|style| style.needs_device()) {
        let answers = ["no, a table of counts and times", "yes"].map(str::to_owned);
        let Some(chosen) = choose(screen, "Print the boards", &answers)? else {
            return Ok(None);
        };
        boards = chosen == 1;
    }
    let Some(style) = choose_style(screen, about, boards)? else {
        return Ok(None);
    };
    let last = if boards {
        about.reach.min(DRAWN)
    } else {
        about.reach
    };
    let Some(n) = ask_sizes(screen, &format!("4..={last}"), boards)? else {
        return Ok(None);
    };
    Ok(Some(Args {
        method: vec![about.name.to_owned()],
        n: Some(n),
        style,
        boards: boards.then_some(Which::All),
        ..Args::default()
    }))
}

/// Has one of the method's styles chosen, or all of them. If boards are printed, it offers single styles only, without
/// those that need a device. It asks nothing if there is no choice.
fn choose_style(
    screen: &mut impl Screen,
    about: &About,
    boards: bool,
) -> io::Result<Option<Option<StyleChoice>>> {
    let styles: Vec<_> = about
        .styles
        .iter()
        .filter(|style| !(boards && style.needs_device()))
        .filter_map(|style| Some((style.name()?, StyleChoice::of(*style)?)))
        .collect();
    if styles.len() < 2 {
        return Ok(Some(None));
    }
    let mut names: Vec<_> = styles.iter().map(|(name, _)| (*name).to_owned()).collect();
    if !boards {
        names.push("all".to_owned());
    }
    let chosen = choose(screen, "Style", &names)?;
    Ok(chosen.map(|chosen| styles.get(chosen).map(|(_, style)| *style)))
}

/// Has one of these lines chosen. `None` if the user leaves.
fn choose(screen: &mut impl Screen, title: &str, lines: &[String]) -> io::Result<Option<usize>> {
    let mut at: usize = 0;
    loop {
        // As many as fit below the title and above the help, around the one that is chosen.
        let fit = screen.size()[1].saturating_sub(3).clamp(1, lines.len());
        let first = at.saturating_sub(fit / 2).min(lines.len() - fit);
        let mut shown = vec![format!("{title}:")];
        for (index, line) in lines.iter().enumerate().skip(first).take(fit) {
            let mark = if index == at { ">" } else { " " };
            shown.push(format!("{mark} {line}"));
        }
        let keys = "↑ ↓: choose   Enter: take it   q or Ctrl-C: leave";
        shown.push(help(screen, keys));
        screen.show(&shown)?;
        match screen.key()? {
            Key::ArrowUp | Key::Char('k') => at = (at + lines.len() - 1) % lines.len(),
            Key::ArrowDown | Key::Char('j') => at = (at + 1) % lines.len(),
            Key::Home => at = 0,
            Key::End => at = lines.len() - 1,
            Key::Enter => {
                screen.show(&[format!("{title}: {}", lines[at])])?;
                screen.keep();
                return Ok(Some(at));
            }
            key if leaves(&key) => return Ok(None),
            _ => {}
        }
    }
}

/// Asks for board sizes until they are valid. `None` if the user leaves.
fn ask_sizes(screen: &mut impl Screen, usual: &str, boards: bool) -> io::Result<Option<Sizes>> {
    let (mut typed, mut wrong) = (String::new(), None::<String>);
    loop {
        let shown = if typed.is_empty() { usual } else { &typed };
        let keys = "digits: another size or a range A..=B   Enter: take it   q or Ctrl-C: leave";
        let mut lines = vec![format!("Board size: {shown}"), help(screen, keys)];
        lines.extend(wrong.take());
        screen.show(&lines)?;
        match screen.key()? {
            Key::Enter => match Sizes::parse(shown) {
                Ok(sizes) if boards && sizes.last().get() > DRAWN => {
                    wrong = Some(format!("Boards are printed up to {DRAWN} × {DRAWN}."));
                }
                Ok(sizes) => {
                    screen.show(&lines[..1])?;
                    screen.keep();
                    return Ok(Some(sizes));
                }
                Err(error) => wrong = Some(format!("{error}.")),
            },
            Key::Backspace => {
                typed.pop();
            }
            Key::Char(key) if key.is_ascii_digit() || ".=,-".contains(key) => typed.push(key),
            key if leaves(&key) => return Ok(None),
            _ => {}
        }
    }
}

/// Which keys do what, if the line fits.
fn help(screen: &impl Screen, keys: &str) -> String {
    match keys.chars().count() < screen.size()[0] {
        true => keys.to_owned(),
        false => "Enter: take it   q: leave".to_owned(),
    }
}

/// Ctrl-D too, the end of the input.
fn leaves(key: &Key) -> bool {
    matches!(key, Key::Char('q' | 'Q' | '\u{4}') | Key::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that are pressed one after the other, and what is shown before each.
    struct Script {
        size: [usize; 2],
        keys: std::vec::IntoIter<Key>,
        shown: Vec<Vec<String>>,
    }

    impl Screen for Script {
        fn size(&self) -> [usize; 2] {
            self.size
        }

        fn show(&mut self, lines: &[String]) -> io::Result<()> {
            self.shown.push(lines.to_vec());
            Ok(())
        }

        fn keep(&mut self) {}

        fn key(&mut self) -> io::Result<Key> {
            Ok(self.keys.next().unwrap_or(Key::Escape))
        }
    }

    /// Presses keys: `v` and `^` are arrows, `/` is Enter, `<` is Backspace.
    fn press(keys: &str) -> (Option<Args>, Vec<Vec<String>>) {
        let key = |key| match key {
            'v' => Key::ArrowDown,
            '^' => Key::ArrowUp,
            '/' => Key::Enter,
            '<' => Key::Backspace,
            key => Key::Char(key),
        };
        let keys: Vec<_> = keys.chars().map(key).collect();
        let mut script = Script {
            size: [80, 24],
            keys: keys.into_iter(),
            shown: Vec::new(),
        };
        (ask_on(&mut script).unwrap(), script.shown)
    }

    #[test]
    fn the_menu_fits_24_rows_of_80_columns_and_narrow_terminals() {
        let (_, shown) = press("");
        assert!(shown[0].len() < 24, "{shown:#?}");
        let fits = |line: &String| line.chars().count() <= 80;
        assert!(shown[0].iter().all(fits), "{shown:#?}");
        assert!(shown[0][1].starts_with("> tuples") && shown[0][1].contains("n^n"));
        let narrow = choices(40);
        assert!(
            narrow.iter().all(|line| line.chars().count() <= 38),
            "{narrow:#?}"
        );
        assert_eq!(narrow.len(), METHODS.len());
    }

    #[test]
    fn a_low_terminal_shows_the_lines_around_the_chosen_one() {
        let lines: Vec<_> = (0..16).map(|line| line.to_string()).collect();
        for (up, marked) in [(0, "> 0"), (1, "> 15"), (5, "> 11")] {
            let mut script = Script {
                size: [80, 8],
                keys: vec![Key::ArrowUp; up].into_iter(),
                shown: Vec::new(),
            };
            assert_eq!(choose(&mut script, "Line", &lines).unwrap(), None);
            let last = script.shown.last().unwrap();
            assert_eq!(last.len(), 7, "{last:#?}");
            assert!(last.iter().any(|line| line == marked), "{last:#?}");
        }
    }

    #[test]
    fn arrows_choose_and_become_flags() {
        let (args, _) = press("vvvv/v/v/6/");
        let expected = Args {
            method: vec!["bitmap".into()],
            n: Sizes::read("6"),
            style: Some(StyleChoice::Iterative),
            boards: Some(Which::All),
            ..Args::default()
        };
        assert_eq!(args, Some(expected));
        // Upwards from the first is the last.
        let args = press("^//8/").0.unwrap();
        assert_eq!(args.method, ["colour"]);
        assert_eq!(args.style, None);
    }

    #[test]
    fn sizes_are_typed_and_what_is_wrong_is_told() {
        let (args, shown) = press("vvvv/v//11/<<40/<<4..=6/");
        let told = |why: &str| shown.iter().flatten().any(|line| line.contains(why));
        assert!(told("Boards are printed up to 10 × 10."), "{shown:#?}");
        assert!(told("from 1 to 32"), "{shown:#?}");
        assert_eq!(args.unwrap().n, Sizes::read("4..=6"));
        assert_eq!(press("vvvv///").0, None, "no size yet");
        assert_eq!(press("vvvv////").0.unwrap().n, Sizes::read("4..=12"));
    }

    #[test]
    fn every_style_of_a_method_is_offered() {
        let node_layer = "vvvvvvvvvvv/";
        let (args, shown) = press(&format!("{node_layer}/vvv/8/"));
        let styles = shown.iter().find(|lines| lines[0] == "Style:").unwrap();
        let names = ["> recursive", "  iterative", "  gpu", "  emulated", "  all"];
        assert_eq!(styles[1..6], names);
        assert_eq!(args.unwrap().style, Some(StyleChoice::Emulated));
        // With boards, neither the devices nor all.
        let (_, shown) = press(&format!("{node_layer}v/"));
        let last = shown.last().unwrap();
        assert_eq!(
            (&last[1..3], last.len()),
            (&names.map(String::from)[..2], 4)
        );
    }

    #[test]
    fn a_method_that_needs_a_device_is_not_asked_for_boards() {
        let (args, shown) = press("vvvvvvvvvvvv//8/");
        let asked = |what: &str| shown.iter().any(|lines| lines[0].starts_with(what));
        assert!(!asked("Print the boards") && asked("Style"), "{shown:#?}");
        let args = args.unwrap();
        assert_eq!(args.method, ["bit-board"]);
        assert_eq!(args.boards, None);
    }

    #[test]
    fn q_and_escape_leave_every_question() {
        for keys in ["q", "/q", "//q", "///q", "///4q", "Q", "\u{4}", "///8"] {
            assert_eq!(press(keys).0, None, "{keys:?}");
        }
    }
}
