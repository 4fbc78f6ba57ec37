//! How far a run is, in one line.

use super::{RunFacts, state_in_words};
use queenfold::actors::{Progress, RunState};
use queenfold::words::{duration, grouped, percent, speed};

/// How far a run is, in one line of at most `width` characters, without colours or a line end: state
/// (unless it runs or is over), share of the estimated work if that is known, solutions so far, nodes
/// per second (nothing before the first search has reported its nodes, or in a pause), time elapsed, and, while the run goes on and that is known, time left
/// with its 95 % interval, or `about` where it is only known from the costs of the plan.
///
/// If they do not all fit, the solutions are left out first, then speed, time elapsed, the width of the
/// interval, share and state; the time left stays longest. What is left is cut off at `width`.
pub fn progress_line(progress: &Progress, width: usize) -> String {
    let mut parts: Vec<Part> = Vec::new();
    let mut add = |leaves, text: String| parts.push((leaves, format!("{BETWEEN}{text}")));
    match progress.state {
        RunState::Planning | RunState::Paused | RunState::Draining => {
            add(1, state_in_words(progress.state, &progress.paused_for));
        }
        RunState::Running | RunState::Finished | RunState::Stopped | RunState::Failed => {}
    }
    let facts = RunFacts::of(progress, "");
    if let Some(share) = facts.share {
        add(2, percent(share));
    }
    add(6, format!("{} solutions", grouped(progress.solutions)));
    if progress.nodes_per_second > SLOWEST {
        add(5, speed(progress.nodes_per_second));
    }
    add(4, duration(progress.elapsed));
    if let Some(left) = facts.left() {
        let (left, uncertainty) = left.split_at(left.find(" ±").unwrap_or(left.len()));
        add(0, format!("left {left}"));
        parts.push((3, uncertainty.to_owned()));
    }
    fit(parts, width)
}

/// Nodes per second that every search exceeds, also on one slow core. Before a search has reported its nodes, only the few
/// of borders are known, which are no speed.
const SLOWEST: f64 = 1000.0;

/// What stands between two parts.
const BETWEEN: &str = " · ";

/// A part of the line: the one with the highest number is left out first. Its text has what stands between it and the part
/// before.
type Part = (u8, String);

/// The parts that fit into `width` characters, at least one of them.
fn fit(mut parts: Vec<Part>, width: usize) -> String {
    loop {
        let line: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        let line = line.trim_start_matches(BETWEEN);
        let first = (0..parts.len()).max_by_key(|&index| parts[index].0);
        match first {
            Some(index) if parts.len() > 1 && line.chars().count() > width => parts.remove(index),
            _ => return line.chars().take(width).collect(),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use queenfold::actors::Eta;

    #[test]
    fn a_line_fits_and_what_is_left_goes_last() {
        let progress = Progress {
            state: RunState::Draining,
            share: Some(0.371_99),
            solutions: 234_907_967_154_122_528,
            nodes_per_second: 361_000.0,
            elapsed: Duration::from_secs(100_000),
            eta: Some(Eta {
                left: Duration::from_secs(86_400_000),
                uncertainty: Some(Duration::from_secs(864_000)),
            }),
            ..Progress::default()
        };
        for (width, line) in [
            (
                105,
                "draining · 37.1 % · 234,907,967,154,122,528 solutions · 361 knode/s · 1 d 03:46 · \
                 left 1000 d 00:00 ± 10 d 00:00",
            ),
            (
                104,
                "draining · 37.1 % · 361 knode/s · 1 d 03:46 · left 1000 d 00:00 ± 10 d 00:00",
            ),
            (
                70,
                "draining · 37.1 % · 1 d 03:46 · left 1000 d 00:00 ± 10 d 00:00",
            ),
            (52, "draining · 37.1 % · left 1000 d 00:00 ± 10 d 00:00"),
            (48, "draining · 37.1 % · left 1000 d 00:00"),
            (32, "draining · left 1000 d 00:00"),
            (20, "left 1000 d 00:00"),
            (7, "left 10"),
            (0, ""),
        ] {
            let longest = if width == 105 { 300 } else { width };
            assert_eq!(progress_line(&progress, longest), line);
        }
        for width in 32..300 {
            let line = progress_line(&progress, width);
            assert!(
                line.chars().count() <= width && line.contains("left"),
                "{line}"
            );
        }
    }

    #[test]
    fn a_line_is_sensible_whatever_is_known() {
        let running = Progress {
            state: RunState::Running,
            elapsed: Duration::from_secs(2),
            ..Progress::default()
        };
        // A share short of all is never 100 %, and a few nodes are no speed.
        let known = Progress {
            share: Some(0.999_999),
            nodes_per_second: 1e8,
            eta: Some(Eta {
                left: Duration::from_secs(200 * 31_557_600),
                uncertainty: None,
            }),
            ..running.clone()
        };
        let slow = Progress {
            nodes_per_second: 1.0,
            ..running
        };
        for (progress, line) in [
            (Progress::default(), "planning · 0 solutions · 0.0 s"),
            (slow, "0 solutions · 2.0 s"),
            (
                known,
                "99.9 % · 0 solutions · 100 Mnode/s · 2.0 s · left about 200 years",
            ),
        ] {
            assert_eq!(progress_line(&progress, 300), line);
        }
    }
}
