//! What no process of a run can have counted, and is therefore not recorded.

use std::ops::Range;
use std::sync::Arc;

use super::{Coverage, Entry, row};
use crate::engine::{Plan, TaskResult};

/// The most nodes a second that are believed of one worker: more than a hundred times what a device places.
const MOST_NODES_A_SECOND: f64 = 1e13;

/// Nodes that are believed of any task: short times are not measured well.
const NODES_AT_ONCE: f64 = 1e9;

/// In tasks of more ranks, legal partitions are not counted: that takes some 50 ns each.
const MOST_RANKS: u64 = 1 << 16;

/// What is wrong with results that are said to be of one task, if no process of the run can deliver them. `tasks`
/// knows the tasks of the run.
pub fn objection(
    plans: &[Arc<dyn Plan>],
    tasks: &Coverage,
    results: &[&TaskResult],
) -> Option<String> {
    let first = results.first()?.key;
    results.iter().find_map(|result| {
        let key = result.key;
        if !tasks.is_task(key) {
            Some(format!(
                "it delivered task {key}, which the run does not have"
            ))
        } else if key != first {
            Some(format!("it corrected task {first} with a count of {key}"))
        } else if !is_possible(plans, result) {
            Some(format!(
                "it delivered a result of task {key} that no count gives"
            ))
        } else {
            None
        }
    })
}

fn is_possible(plans: &[Arc<dyn Plan>], result: &TaskResult) -> bool {
    let entry = Entry {
        result: result.clone(),
        session: String::new(),
        recorded_at: 0,
    };
    let plan = plans.iter().find(|plan| plan.engine() == result.key.engine);
    row::is_plausible(&entry)
        && is_fast_enough(result)
        && plan.is_none_or(|plan| {
            let ranks = plan.ranks_of(result.key.index);
            has_partitions(plan.as_ref(), ranks, result.tally.partitions)
        })
}

fn is_fast_enough(result: &TaskResult) -> bool {
    let most = NODES_AT_ONCE + MOST_NODES_A_SECOND * result.duration.as_secs_f64();
    result.tally.nodes as f64 <= most
}

/// Whether a task of these ranks can have so many partitions: as many as are legal, where the plan tells that before
/// they are counted, and otherwise not more than ranks.
fn has_partitions(plan: &dyn Plan, ranks: Range<u64>, partitions: u64) -> bool {
    let most = ranks.end - ranks.start;
    if most <= MOST_RANKS {
        let legal = ranks.filter(|rank| !plan.partition_words(*rank).is_empty());
        match legal.count() as u64 {
            // The plan does not tell.
            0 => {}
            legal => return partitions == legal,
        }
    }
    partitions <= most
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::board::Size;
    use crate::engine::{CountedBy, CounterSettings, Engine, Origin, WorkerId};
    use crate::ledger::{RunInfo, Shard};
    use crate::simd::Isa;

    fn result(plan: &dyn Plan, index: u64) -> TaskResult {
        let isa = Isa::best();
        let mut counter = plan.counter(&CounterSettings { isa });
        TaskResult {
            key: plan.key(index),
            tally: counter.count(&plan.task(index)).unwrap(),
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu(counter.backend().into()),
            },
            audited_by: None,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_is_counted_is_believed_and_what_no_processor_reaches_is_not() {
        let n = Size::new(14).unwrap();
        for engine in [Engine::Chain, Engine::Colour, Engine::Census] {
            let plans = [crate::job::plan(engine, n)];
            let info = RunInfo::new(n, &plans, Shard::WHOLE, String::new());
            let tasks = Coverage::none_of(n, &info.plans);
            let plan = plans[0].as_ref();
            for index in 0..plan.tasks() {
                let right = result(plan, index);
                let refused = |result: &TaskResult| objection(&plans, &tasks, &[result]).is_some();
                assert!(!refused(&right), "{:?}", right.key);
                let with = |change: fn(&mut TaskResult)| {
                    let mut other = right.clone();
                    change(&mut other);
                    other
                };
                assert!(refused(&with(|other| other.tally.nodes = 1 << 40)));
                assert!(refused(&with(|other| other.tally.partitions = 1 << 30)));
                let more = with(|other| other.tally.partitions += 1);
                assert_eq!(
                    refused(&more),
                    engine == Engine::Colour || {
                        let ranks = plan.ranks_of(index);
                        more.tally.partitions > ranks.end - ranks.start
                    }
                );
            }
        }
    }
}
