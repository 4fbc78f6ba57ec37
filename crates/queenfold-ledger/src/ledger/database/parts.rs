//! The names of the partitions of a task, which depend on no order of a plan.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use queenfold::board::{GivenBoard, Size, Symmetry};
use queenfold::census::{CensusPartition, CensusPlan};
use queenfold::chain::{Border, ChainPlan};
use queenfold::colour::{ColourBoard, OF_SETS, RowSet};
use queenfold::engine::{Engine, Plan, PlanName, Tally};
use queenfold::job::plan;

/// Names the partitions of a plan.
pub(crate) enum Parts {
    Chain(ChainPlan),
    Colour(Box<ColourBoard>),
    Census(CensusPlan),
}

impl Parts {
    /// `None` for an engine of somebody else.
    pub fn new(engine: Engine, board: GivenBoard) -> Option<Self> {
        match engine {
            Engine::Chain => Some(Self::Chain(ChainPlan::new(board))),
            Engine::Colour => Some(Self::Colour(Box::new(board.into()))),
            Engine::Census => Some(Self::Census(CensusPlan::new(board))),
            Engine::Own => None,
        }
    }

    /// Whether the partitions of `ranks` can give a tally: completions have the weight of one of them.
    pub fn allow(&self, ranks: Range<u64>, tally: &Tally) -> bool {
        let weights = [1, 2, 4, 8].into_iter().zip(tally.completions.by_weight());
        let mut weights = weights
            .filter(|(_, count)| *count > 0)
            .map(|(weight, _)| weight);
        let is_turned = tally.r180 > 0 || tally.r90 > 0;
        match self {
            // Most have the largest weight, so the first one is soon found.
            Self::Chain(plan) => {
                let borders = plan.borders().list();
                let each = plan.ranks() / borders.len().max(1) as u64;
                let own = |rank: u64| (rank / each.max(1)) as usize;
                let own = borders.get(own(ranks.start)..own(ranks.end.saturating_sub(1)) + 1);
                !is_turned
                    && weights.all(|weight| {
                        own.is_some_and(|own| own.iter().any(|border| border.1 == weight))
                    })
            }
            Self::Colour(board) => {
                let own = ranks.filter_map(|rank| Some(board.partition(rank)?.set.weight));
                !is_turned && weights.all(|weight| own.clone().any(|own| own == weight))
            }
            Self::Census(plan) => {
                let has = |turn: fn(&CensusPartition) -> bool| {
                    ranks.clone().any(|rank| turn(&plan.partition(rank)))
                };
                weights.next().is_none()
                    && (tally.r180 == 0 || has(|turn| matches!(turn, CensusPartition::HalfTurn(_))))
                    && (tally.r90 == 0 || has(|turn| matches!(turn, CensusPartition::QuarterTurn)))
            }
        }
    }

    /// The names of the partitions of `ranks`, separated by blanks, by what they count for: a weight, or
    /// a turn.
    pub fn of(&self, ranks: Range<u64>) -> BTreeMap<String, String> {
        let mut parts: BTreeMap<String, String> = BTreeMap::new();
        let mut add = |key: String, name: String| {
            let names = parts.entry(key).or_default();
            if !names.is_empty() {
                names.push(' ');
            }
            names.push_str(&name);
        };
        match self {
            Self::Chain(plan) => chain(plan, ranks, &mut |weight, name| {
                add(weight.to_string(), name)
            }),
            Self::Colour(board) => {
                let kept = board.given().symmetries();
                let kept: Vec<_> = OF_SETS
                    .into_iter()
                    .filter(|of| kept.contains(*of))
                    .collect();
                let sets = ranks.filter_map(|rank| board.own_set(rank));
                let mut sets: Vec<_> = sets
                    .map(|set| (smallest(board.size(), &kept, &set), set.weight))
                    .collect();
                sets.sort_unstable();
                for weight in [1, 2, 4, 8] {
                    let own = sets.iter().filter(|set| set.1 == weight);
                    let names: Vec<_> = own.map(|(rows, _)| format!("{rows:x}")).collect();
                    if !names.is_empty() {
                        parts.insert(weight.to_string(), names.join(" "));
                    }
                }
            }
            Self::Census(plan) => {
                for rank in ranks {
                    match plan.partition(rank) {
                        CensusPartition::QuarterTurn => add("r90".to_owned(), "quarter".to_owned()),
                        CensusPartition::HalfTurn(None) => {
                            add("r180".to_owned(), "half".to_owned())
                        }
                        CensusPartition::HalfTurn(Some([first, second])) => {
                            add("r180".to_owned(), format!("{first}.{second}"));
                        }
                    }
                }
            }
        }
        parts
    }
}

/// The plan of this program with this name and so many tasks, and the names of its partitions; or why there is none.
pub(crate) fn own_plan(
    board: GivenBoard,
    name: &str,
    tasks: u64,
) -> Result<(Arc<dyn Plan>, Parts), String> {
    let engine = name.parse::<PlanName>().ok().map(|name| name.engine);
    let Some((engine, parts)) =
        engine.and_then(|engine| Some((engine, Parts::new(engine, board)?)))
    else {
        return Err(format!("{name:.64} is no plan of this program"));
    };
    let plan = plan(engine, board);
    if plan.name().to_string() != name {
        return Err(format!(
            "the plan is {name}, and this program makes {}: docs/check_certificate.py needs no plan",
            plan.name()
        ));
    }
    if plan.tasks() != tasks {
        return Err(format!(
            "{name} has {} tasks for {}, not {tasks}",
            plan.tasks(),
            board.in_words()
        ));
    }
    Ok((plan, parts))
}

/// The rows of the smallest image of a row set under the reflections of rows and columns that fix the given board.
fn smallest(n: Size, kept: &[Symmetry], set: &RowSet) -> u32 {
    let images = kept.iter().map(|symmetry| set.image(n, *symmetry).rows());
    images.min().unwrap_or_default()
}

/// Names the borders of `ranks`, or the part of a border: the queens of its first free rows, from and to. On a given
/// board, the number of a symmetry follows whose inverse makes the image that they are counted on.
fn chain(plan: &ChainPlan, ranks: Range<u64>, add: &mut impl FnMut(u8, String)) {
    let borders = plan.borders().list();
    let each = plan.ranks() / borders.len().max(1) as u64;
    let mut start = ranks.start;
    while start < ranks.end {
        let index = start / each;
        let end = ranks.end.min((index + 1) * each);
        let Some(&(border, weight)) = borders.get(index as usize) else {
            return;
        };
        let Border {
            top,
            bottom,
            left,
            right,
        } = border;
        let mut name = format!("{top}.{bottom}.{left}.{right}");
        if end - start < each {
            let [from, to] = [start, end - 1].map(|rank| {
                let columns = plan.prefix_columns(rank);
                columns
                    .iter()
                    .map(u8::to_string)
                    .collect::<Vec<_>>()
                    .join(".")
            });
            name += &format!(":{from}-{to}");
        }
        if !plan.borders().given().is_free() {
            let image = plan.borders().image(index as usize);
            name += &format!("@{}", plan.borders().symmetry(image) as u8);
        }
        add(weight, name);
        start = end;
    }
}
