//! The ladder: every method counts right, stops in time, and its course tells the truth.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use queenfold::board::{Size, Symmetry, known};
use queenfold::ladder::{
    Ask, Audience, Halt, Images, METHODS, Method, Row, Scene, Settings, Style, climb, method,
};

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn ask(n: u32, style: Style) -> Ask {
    Ask {
        n: size(n),
        style,
        settings: Settings::default(),
    }
}

fn run(method: &dyn Method, ask: &Ask) -> Row {
    climb(method, ask, None, &AtomicBool::new(false), None).unwrap()
}

/// The styles of a method that need no device.
fn styles(method: &dyn Method) -> impl Iterator<Item = Style> {
    let styles = method.about().styles.iter().copied();
    styles.filter(|style| *style != Style::Gpu)
}

/// What one method in one style must give for one board: all that is known of it.
fn assert_known(row: &Row, unique: bool) {
    let known = known(row.n).unwrap();
    let title = format!("{} n = {}", row.title(), row.n);
    assert_eq!(row.total, known.total, "{title}");
    let expected = unique.then(|| known.orbits(row.n));
    assert_eq!(
        row.unique,
        expected.map(|orbits| orbits.unique()),
        "{title}"
    );
    assert_eq!(row.classes, expected.map(Into::into), "{title}");
}

#[test]
fn every_method_in_every_style_counts_right_as_far_as_it_reaches() {
    for method in METHODS {
        let about = method.about();
        assert!(about.reach >= 7, "{} reaches nowhere", about.name);
        for style in styles(method) {
            for n in 1..=about.reach {
                assert_known(&run(method, &ask(n, style)), about.unique);
            }
        }
    }
}
