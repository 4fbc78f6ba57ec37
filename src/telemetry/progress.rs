use super::{duration, rate};
use crate::actors::{Progress, RunState};

/// How far a run is, in one line without colours or a line end: state (unless it runs or is over),
/// share of the estimated work if that is known, solutions so far, nodes per second since the run
/// began, time elapsed, and, while the run goes on and that is known, time left with half the width of
/// its 95 % interval.
pub fn progress_line(progress: &Progress) -> String {
    let mut parts = Vec::new();
    match progress.state {
        RunState::Planning => parts.push("planning".to_owned()),
        RunState::Pausing => parts.push("paused".to_owned()),
        RunState::Draining => parts.push("stopping".to_owned()),
        RunState::Running | RunState::Done | RunState::Failed => {}
    }
    if let Some(share) = progress.share {
        // Rounded down, so that 100 % means all.
        let percent = (share * 1000.0).floor() / 10.0;
        parts.push(format!("{percent:.1} %"));
    }
    parts.push(format!("{} solutions", progress.solutions));
    parts.push(rate(progress.nodes, progress.elapsed));
    parts.push(duration(progress.elapsed));
    if let Some(eta) = progress.eta {
        let (left, spread) = (duration(eta.left), duration(eta.uncertainty));
        parts.push(format!("ETA {left} ± {spread}"));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::actors::Eta;

    #[test]
    fn a_line_tells_share_solutions_speed_time_and_what_is_left() {
        let progress = Progress {
            state: RunState::Running,
            share: Some(0.371_99),
            solutions: 5_400_000_000,
            nodes: 36_100_000_000,
            elapsed: Duration::from_secs(10),
            eta: Some(Eta {
                left: Duration::from_secs(187),
                uncertainty: Duration::from_millis(2_340),
            }),
            ..Progress::default()
        };
        assert_eq!(
            progress_line(&progress),
            "37.1 % · 5400000000 solutions · 3.61 Gnode/s · 10 s · ETA 3:07 ± 2.3 s"
        );
    }

    #[test]
    fn a_line_is_sensible_before_anything_is_known() {
        assert_eq!(
            progress_line(&Progress::default()),
            "planning · 0 solutions · 0.00 node/s · 0.0 s"
        );
    }

    #[test]
    fn a_share_short_of_all_is_never_shown_as_100() {
        let progress = Progress {
            share: Some(0.999_999),
            ..Progress::default()
        };
        assert!(progress_line(&progress).contains("99.9 %"));
    }
}
