//! Every method of the ladder stops when it should, and refuses what it cannot do.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queenfold_cli::ladder::{Audience, METHODS, Scene, StopReason, run_method};

use super::methods::{request, styles};

#[test]
fn every_method_stops_at_its_time_limit_on_the_largest_board() {
    for method in METHODS {
        for style in styles(method) {
            let limit = Duration::from_millis(20);
            let start = Instant::now();
            let stopped = run_method(
                method,
                &request(32, style),
                Some(limit),
                &AtomicBool::new(false),
                None,
            );
            let title = method.name;
            assert_eq!(stopped, Err(StopReason::TimeLimit), "{title}");
            // A method that does not stop takes years.
            assert!(start.elapsed() < Duration::from_secs(120), "{title}");
        }
    }
}

#[test]
fn every_method_stops_when_interrupted() {
    for method in METHODS {
        for style in styles(method) {
            let interrupt = AtomicBool::new(true);
            let stopped = run_method(method, &request(15, style), None, &interrupt, None);
            assert_eq!(stopped, Err(StopReason::Interrupted), "{}", method.name);
        }
    }
}

/// An audience that leaves after this number of solutions.
struct Impatient(u32);

impl Audience for Impatient {
    fn wants_squares(&self) -> bool {
        false
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        if let Scene::Solution { .. } | Scene::Border { .. } = scene {
            // Other threads may still show what they found before they notice the `Break`.
            self.0 = self.0.saturating_sub(1);
        }
        if self.0 == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn every_method_stops_when_its_audience_leaves() {
    for method in METHODS {
        for style in styles(method) {
            let audience = Mutex::new(Impatient(1));
            let never = AtomicBool::new(false);
            let stopped = run_method(method, &request(6, style), None, &never, Some(&audience));
            assert_eq!(stopped, Err(StopReason::AudienceLeft), "{}", method.name);
        }
    }
}
