//! Every method of the ladder counts correctly, and shows what it really does.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use queenfold::board::{Size, Symmetry, known};
use queenfold_cli::ladder::{
    Audience, Images, METHODS, Method, MethodRequest, Scene, Style, TableRow, method, run_method,
};

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

pub fn request(n: u32, style: Style) -> MethodRequest {
    MethodRequest { n: size(n), style }
}

fn run(method: &Method, request: &MethodRequest) -> TableRow {
    run_method(method, request, None, &AtomicBool::new(false), None).unwrap()
}

/// The styles of a method that run on any machine.
pub fn styles(method: &Method) -> impl Iterator<Item = Style> {
    let styles = method.styles.iter().copied();
    styles.filter(|style| !style.needs_device())
}

/// The methods that count orbits, too.
const UNIQUE: &str = "orbits bitmap-orbits bound1 symmetry symmetry-parallel bit-board carry-chain carry-chain-parallel";

/// Asserts that a row agrees with everything known about its board.
pub fn assert_known(row: &TableRow) {
    let known = known(row.n).unwrap();
    let title = format!("{} n = {}", row.title(), row.n);
    assert_eq!(row.total, known.total, "{title}");
    let is_unique = UNIQUE.split(' ').any(|name| name == row.method);
    let expected = is_unique.then(|| known.orbits(row.n));
    assert_eq!(
        row.unique,
        expected.map(|orbits| orbits.unique()),
        "{title}"
    );
    assert_eq!(row.classes, expected, "{title}");
}

#[test]
fn every_method_in_every_style_counts_right_as_far_as_it_reaches() {
    for method in METHODS {
        assert!(method.reach >= 7, "{} reaches nowhere", method.name);
        for style in styles(method) {
            for n in 1..=method.reach {
                assert_known(&run(method, &request(n, style)));
            }
        }
    }
}

/// An audience that keeps everything that a method shows it.
#[derive(Default)]
struct Witness {
    squares: bool,
    scenes: Vec<Scene>,
}

impl Audience for Witness {
    fn wants_squares(&self) -> bool {
        self.squares
    }

    fn see(&mut self, scene: Scene) -> ControlFlow<()> {
        self.scenes.push(scene);
        ControlFlow::Continue(())
    }
}

fn witnessed(method: &Method, request: &MethodRequest, squares: bool) -> (TableRow, Vec<Scene>) {
    let witness = Mutex::new(Witness {
        squares,
        ..Witness::default()
    });
    let row = run_method(
        method,
        request,
        None,
        &AtomicBool::new(false),
        Some(&witness),
    )
    .unwrap();
    (row, witness.into_inner().scenes)
}

#[test]
fn eight_queens_have_the_known_number_of_safe_placements_at_each_depth() {
    for name in ["backtrack", "flags", "bitmap", "orbits", "bitmap-orbits"] {
        for &style in Style::BOTH {
            let (_, scenes) = witnessed(method(name).unwrap(), &request(8, style), true);
            // The empty board is a safe placement but not a scene.
            let mut depths = [1, 0, 0, 0, 0, 0, 0, 0, 0];
            for scene in scenes {
                if let Scene::Placed { rows, .. } = scene {
                    depths[rows.len()] += 1;
                }
            }
            assert_eq!(depths, [1, 8, 42, 140, 344, 568, 550, 312, 92], "{name}");
        }
    }
}

#[test]
fn a_square_is_refused_for_each_that_flags_test_in_vain() {
    for name in ["backtrack", "flags"] {
        let (row, scenes) = witnessed(method(name).unwrap(), &request(8, Style::Iterative), true);
        let refused = |scene: &&Scene| matches!(scene, Scene::Attacked { .. });
        let tests = scenes.iter().filter(refused).count() as u128 + row.nodes;
        assert_eq!(tests, 15_720, "{name}");
    }
}

#[test]
fn the_trees_have_the_known_sizes() {
    let whole = [16, 53, 152, 551, 2056, 8393, 35_538];
    let trees = [
        ("backtrack", whole),
        ("flags", whole),
        ("bitmap", whole),
        ("orbits", whole),
        ("bitmap-orbits", whole),
    ];
    for (name, sizes) in trees {
        for &style in Style::BOTH {
            for (n, nodes) in (4..).zip(sizes) {
                let row = run(method(name).unwrap(), &request(n, style));
                assert_eq!(row.nodes, nodes, "{name} n = {n}");
            }
        }
    }
    // Half of the tree, if no queen is in the centre of the first row.
    for name in ["mirror", "node-layer"] {
        let method = method(name).unwrap();
        for style in styles(method) {
            for (n, nodes) in [(4, 8), (6, 76), (8, 1028), (10, 17_769)] {
                let row = run(method, &request(n, style));
                assert_eq!(row.nodes, nodes, "{name} n = {n}");
            }
        }
    }
    // As another program counted them. For an odd number of queens it has no mirror.
    let colour = [1, 1, 9, 17, 101, 166, 1052, 1855, 12_772, 24_062, 179_647];
    for (n, nodes) in (1..).zip(colour) {
        let row = run(method("colour").unwrap(), &request(n, Style::Recursive));
        assert_eq!(row.nodes, nodes, "colour n = {n}");
    }
    let nodes = |name, n, style| run(method(name).unwrap(), &request(n, style)).nodes;
    for &style in Style::BOTH {
        for n in 1..=9_u32 {
            assert_eq!(
                nodes("permutations", n, style),
                (1..=u128::from(n)).product()
            );
        }
        for n in 1..=6 {
            assert_eq!(nodes("tuples", n, style), u128::from(n).pow(n));
        }
    }
}

#[test]
fn the_methods_of_one_search_have_the_same_nodes_in_every_style() {
    let nodes = |name, n| {
        let method = method(name).unwrap();
        let mut nodes: Vec<_> = styles(method)
            .map(|s| run(method, &request(n, s)).nodes)
            .collect();
        nodes.dedup();
        assert!(nodes.len() <= 1, "{name} n = {n}: {nodes:?}");
        nodes.pop()
    };
    for n in 1..=11 {
        for family in [
            &["symmetry", "symmetry-parallel", "bit-board"][..],
            &["carry-chain", "carry-chain-parallel"],
        ] {
            let mut all: Vec<_> = family.iter().filter_map(|name| nodes(name, n)).collect();
            all.dedup();
            assert_eq!(all.len(), 1, "{family:?} n = {n}: {all:?}");
        }
    }
}

#[test]
fn colour_places_queens_of_one_colour_until_a_solution_is_shown() {
    for n in [7, 8] {
        let colour = method("colour").unwrap();
        let ((alone, _), (watched, scenes)) = (
            witnessed(colour, &request(n, Style::Recursive), false),
            witnessed(colour, &request(n, Style::Recursive), true),
        );
        assert_eq!(alone.nodes, watched.nodes, "n = {n}");
        let is_white = |(row, column): (usize, u8)| (row + usize::from(column)).is_multiple_of(2);
        let (mut pure, mut mixed, mut solutions) = (0, 0, 0);
        for scene in scenes {
            match scene {
                Scene::Placed { rows, .. } => {
                    let placed = rows.iter().enumerate();
                    let placed = placed.filter_map(|(row, column)| Some((row, (*column)?)));
                    let white = placed.clone().filter(|square| is_white(*square)).count();
                    if white == 0 || white == placed.count() {
                        pure += 1;
                    } else {
                        mixed += 1;
                    }
                }
                Scene::Solution { .. } => solutions += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(pure, alone.nodes, "n = {n}");
        // Each solution shown needs at least one queen of the other colour.
        assert!(mixed >= solutions && solutions > 0, "n = {n}: {mixed}");
    }
}

#[test]
fn the_carry_chain_hands_on_one_border_for_each_class() {
    let known = [3, 8, 32, 179, 861, 3739, 14_666, 51_484];
    for name in ["carry-chain", "carry-chain-parallel"] {
        let method = method(name).unwrap();
        for style in styles(method) {
            for (n, borders) in (5..).zip(known) {
                let (_, scenes) = witnessed(method, &request(n, style), false);
                let border = |scene: &&Scene| matches!(scene, Scene::Border { .. });
                assert_eq!(
                    scenes.iter().filter(border).count(),
                    borders,
                    "{name} n = {n}"
                );
            }
        }
    }
}

#[test]
fn border_classes_alone_would_miscount_twelve_queens_and_the_row_does_not() {
    for (n, says, unique) in [(11, None, 341), (12, Some("would give 1788"), 1787)] {
        for name in ["carry-chain", "carry-chain-parallel"] {
            let method = method(name).unwrap();
            for style in styles(method) {
                let row = run(method, &request(n, style));
                assert_eq!(row.unique, Some(unique));
                let note = row.note.as_deref();
                assert_eq!(note.and_then(|note| note.get(note.len() - 15..)), says);
            }
        }
    }
}

#[test]
fn every_method_shows_every_solution_once() {
    for method in METHODS {
        if method.name.starts_with("carry-chain") {
            continue;
        }
        for style in styles(method) {
            for n in 1..=8.min(method.reach) {
                let (row, scenes) = witnessed(method, &request(n, style), false);
                let mut shown: Vec<Vec<u8>> = Vec::new();
                for scene in scenes {
                    let Scene::Solution { rows, images } = scene else {
                        continue;
                    };
                    let found: Vec<u8> = rows.into_iter().map(Option::unwrap).collect();
                    let symmetries = match images {
                        Images::Itself => vec![Symmetry::Identity],
                        Images::Mirrored => vec![Symmetry::Identity, Symmetry::MirrorColumns],
                        Images::Orbit(_) => Symmetry::ALL.to_vec(),
                    };
                    let mut stands_for: Vec<_> = symmetries
                        .into_iter()
                        .map(|symmetry| symmetry.apply_to_placement(&found))
                        .collect();
                    stands_for.sort();
                    stands_for.dedup();
                    if let Images::Orbit(size) = images {
                        assert_eq!(stands_for.len(), usize::from(size));
                    }
                    shown.extend(stands_for);
                }
                let count = shown.len() as u128;
                shown.sort();
                shown.dedup();
                let title = format!("{} n = {n}", row.title());
                assert_eq!(
                    (count, shown.len() as u128),
                    (row.total, row.total),
                    "{title}"
                );
            }
        }
    }
}

#[test]
fn every_method_is_explained_in_half_a_page_under_its_own_name_in_the_order_of_the_steps() {
    assert!(METHODS.is_sorted_by_key(|method| method.step));
    for method in METHODS {
        let lines = method.text.lines().count();
        assert!((12..=60).contains(&lines), "{}: {lines} lines", method.name);
        for part in ["Idea.", "Cost.", "Due to."] {
            assert!(method.text.contains(part), "{} lacks {part}", method.name);
        }
        let same = METHODS.iter().filter(|other| other.name == method.name);
        assert_eq!(same.count(), 1, "{}", method.name);
    }
}
