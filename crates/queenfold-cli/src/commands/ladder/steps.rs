//! `--step`: shows a search one step at a time.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;

use console::{Key, Term};

use super::show::Shows;
use crate::control::{signals, terminal};
use crate::exit::Exit;
use crate::ladder::Scene;
use crate::output::Stdout;
use queenfold::board::{Drawing, Size};

/// Whether each step waits for a key.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Shows a search frame by frame: on a terminal one for each key, otherwise all of them as text.
pub struct StepViewer {
    n: Size,
    /// Where keys come from; `None` without a terminal.
    terminal: Option<Term>,
    frames: u64,
    solutions: u64,
}

impl StepViewer {
    /// Shows a search on the board of size `n`.
    pub fn new(n: Size) -> Self {
        let terminal = is_interactive().then(Term::stdout);
        if terminal.is_some() {
            // A signal while it waits for a key finds the mode of the key.
            terminal::remember();
        }
        Self {
            n,
            terminal,
            frames: 0,
            solutions: 0,
        }
    }
}

impl Shows for StepViewer {
    fn show(&mut self, scene: Scene, out: &mut BufWriter<Stdout>) -> io::Result<ControlFlow<()>> {
        self.solutions += u64::from(matches!(scene, Scene::Solution { .. }));
        let Some(frame) = frame(self.n, &scene, self.solutions) else {
            return Ok(ControlFlow::Continue(()));
        };
        self.frames += 1;
        if let Some(terminal) = &self.terminal {
            terminal.clear_screen()?;
        }
        writeln!(out, "{}. {frame}", self.frames)?;
        let Some(terminal) = &self.terminal else {
            return Ok(ControlFlow::Continue(()));
        };
        writeln!(out, "arrow or space: go on   q: quit")?;
        out.flush()?;
        wait(terminal)
    }
}

/// Waits for a key that continues or quits.
fn wait(terminal: &Term) -> io::Result<ControlFlow<()>> {
    loop {
        match terminal.read_key_raw()? {
            Key::ArrowRight | Key::ArrowDown | Key::ArrowLeft | Key::ArrowUp => break,
            Key::Enter | Key::Char(' ') => break,
            // Ctrl-\: the terminal sends no signals while it waits for a key.
            Key::Char('\u{1c}') => signals::deliver(terminal::SignalKey::Quit),
            // Also a signal that interrupted the wait.
            Key::CtrlC => signals::end_at_once(Exit::Interrupted),
            Key::Char('q' | 'Q') | Key::Escape => return Ok(ControlFlow::Break(())),
            _ => {}
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// A scene in words and as a drawing: `Q` a queen, `x` an attacked square, `.` an empty one.
/// `None` for a full board that earlier frames have shown queen by queen.
fn frame(n: Size, scene: &Scene, solutions: u64) -> Option<String> {
    let (words, rows, attacked) = match scene {
        Scene::Placed { rows, row } => {
            let column = rows.get(*row).copied().flatten()?;
            let words = format!("row {row}, a queen in column {column}");
            (words, rows, None)
        }
        Scene::Attacked { rows, column } => {
            let words = format!("row {}, column {column} is attacked", rows.len());
            (words, rows, Some((rows.len(), *column)))
        }
        Scene::Side { rows, side } => (format!("the queens along the {side}"), rows, None),
        Scene::Solution { rows, .. } => (format!("solution {solutions}"), rows, None),
        Scene::Border { rows, size } => (format!("a border, orbit of {size}"), rows, None),
    };
    let n = n.get() as usize;
    let mut rows = rows.clone();
    rows.resize(n, None);
    let mut squares = Drawing(&rows).to_string();
    if let Some((row, column)) = attacked {
        let at = 2 * (row * n + usize::from(column));
        squares.replace_range(at..=at, "x");
    }
    Some(format!("{words}\n{squares}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_and_draws_what_happens() {
        let n = Size::new(4).unwrap();
        let rows = vec![Some(1)];
        let scene = Scene::Placed {
            rows: rows.clone(),
            row: 0,
        };
        let placed = frame(n, &scene, 0).unwrap();
        assert_eq!(
            placed,
            "row 0, a queen in column 1\n. Q . .\n. . . .\n. . . .\n. . . .\n"
        );
        let refused = frame(n, &Scene::Attacked { rows, column: 2 }, 0).unwrap();
        assert_eq!(
            refused,
            "row 1, column 2 is attacked\n. Q . .\n. . x .\n. . . .\n. . . .\n"
        );
    }
}
