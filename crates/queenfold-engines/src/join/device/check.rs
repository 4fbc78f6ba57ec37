//! What a launch of the join must not hold: the kernel does not look where boards, lists and keys lie, nor whether a job that
//! it waits for will come.

use super::jobs::{JOB_WORDS, Job, MOST_BITS, Node, Share};
use super::tables::{Group, HEAD, List, Places, RUN_WORDS, crossed, groups};
use crate::engine::{LaunchError, LaunchWords, Scratch};

/// The most bits that keys of a list may have or lack: a block keeps its runs in a table of a thousand (`QF_MOST_FREE`).
const MOST_FREE: u32 = 10;

/// The most words of scratch memory: the kernel numbers keys and words with 32 bits.
const MOST_SCRATCH: u64 = 1 << 31;

/// The memory that a launch works in: its lists.
pub(super) fn scratch(words: &LaunchWords<'_>) -> Scratch {
    placed(words.tables).1.scratch()
}

/// The groups of checked tables with the places that their lists must have.
fn placed(tables: &[u32]) -> (Vec<Group>, Places) {
    let mut groups: Vec<Group> = groups(tables).collect();
    let mut places = Places::new(groups.iter().flat_map(|group| [group.bits; 2]));
    for group in &mut groups {
        for list in &mut group.lists {
            let keys: u64 = list.runs_in(tables).iter().map(crossed).sum();
            list.place = places.next(group.bits, keys as usize);
        }
    }
    (groups, places)
}

/// Refuses boards that are not within the tables, lists that are not where they should be in the scratch memory, and jobs
/// that are not of a list or that would wait for ever: the kernel does not look.
pub(super) fn check(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    let tables = words.tables;
    let value = |word: usize, least: usize, most: usize| {
        let found = tables.get(word).copied().unwrap_or_default();
        if (least..=most).contains(&(found as usize)) {
            return Ok(found as usize);
        }
        Err(LaunchError::TableValue {
            word,
            value: found,
            least: least as u32,
            most: most as u32,
        })
    };
    let count = tables.first().map_or(0, |&count| count as usize);
    // That all groups have room is known already; there may be nothing behind them.
    let groups_at = tables.len() - count * Group::WORDS;
    if groups_at < HEAD {
        return Err(LaunchError::TableWords {
            words: tables.len(),
            group_words: Group::WORDS,
            groups: "groups",
        });
    }
    value(1, groups_at, groups_at)?;
    let mut all_words = 0_u64;
    for (index, group) in groups(tables).enumerate() {
        let at = groups_at + index * Group::WORDS;
        value(at, 0, MOST_BITS as usize)?;
        value(at + 1, 0, group.bits as usize)?;
        value(at + 2, 0, 1)?;
        for (side, list) in group.lists.iter().enumerate() {
            // The order of words is that of `List`.
            let at = at + 3 + side * (Group::WORDS - 3) / 2;
            let runs = list.run_count as usize * RUN_WORDS;
            value(at, 0, groups_at.saturating_sub(runs))?;
            value(at + 1, 0, groups_at / RUN_WORDS)?;
            for quadrant in 0..2 {
                let boards = list.counts[quadrant] as usize * Group::board_words(group.high);
                value(at + 2 + quadrant, 0, groups_at.saturating_sub(boards))?;
                let most = groups_at / Group::board_words(group.high);
                value(at + 4 + quadrant, 0, most)?;
            }
            for (run, words) in list.runs_in(tables).iter().enumerate() {
                let at = list.runs as usize + run * RUN_WORDS;
                for quadrant in 0..2 {
                    let end = words[2 + quadrant] as usize;
                    value(at + 2 + quadrant, 0, list.counts[quadrant] as usize)?;
                    value(at + quadrant, 0, end)?;
                }
                all_words = all_words.saturating_add(crossed(words));
            }
            all_words = all_words.saturating_add(Places::words(group.bits));
        }
    }
    if all_words > MOST_SCRATCH {
        return Err(LaunchError::TooMuchMemory {
            bytes: all_words.saturating_mul(4),
            most: 4 * MOST_SCRATCH,
        });
    }
    let (placed, _) = placed(tables);
    for (index, (group, placed)) in groups(tables).zip(&placed).enumerate() {
        let words = [group.words(), placed.words()];
        if let Some(word) = (0..Group::WORDS).find(|&word| words[0][word] != words[1][word]) {
            let right = words[1][word] as usize;
            value(groups_at + index * Group::WORDS + word, right, right)?;
        }
    }
    check_jobs(words.jobs, &placed)
}

/// How far the jobs of a list are: runs and jobs that count keys, and those that write them.
#[derive(Clone, Copy, Default)]
struct Listed {
    counted: (u32, u32),
    written: (u32, u32),
}

impl Listed {
    /// Whether these `(runs, jobs)` are all of a list.
    fn is_all((runs, jobs): (u32, u32), list: &List) -> bool {
        runs == list.run_count && jobs == list.jobs && jobs > 0
    }
}

/// Refuses jobs that do not make up their lists, each run once, and those that come before the jobs that they wait for.
fn check_jobs(jobs: &[u32], groups: &[Group]) -> Result<(), LaunchError> {
    let mut listed = vec![[Listed::default(); 2]; groups.len()];
    for (job, words) in jobs.as_chunks::<JOB_WORDS>().0.iter().enumerate() {
        let number = words[0] as usize;
        check_job(Job::of(words), &groups[number], &mut listed[number])
            .map_err(|why| LaunchError::Job { job, why })?;
    }
    Ok(())
}

fn check_job(
    job: Option<Job>,
    group: &Group,
    listed: &mut [Listed; 2],
) -> Result<(), &'static str> {
    match job.ok_or("there is no such kind of job")? {
        Job::Count(share) | Job::Write(share) if share.side > 1 => Err("a group has two lists"),
        Job::Count(share) => {
            let side = share.side as usize;
            take_runs(&mut listed[side].counted, &group.lists[side], share)
        }
        Job::Write(share) => {
            let side = share.side as usize;
            let (list, listed) = (&group.lists[side], &mut listed[side]);
            if !Listed::is_all(listed.counted, list) {
                return Err("it would wait for keys to be counted");
            }
            take_runs(&mut listed.written, list, share)
        }
        Job::Pairs(node) => {
            let are_all = |side: usize| Listed::is_all(listed[side].written, &group.lists[side]);
            if !(are_all(0) && are_all(1)) {
                return Err("it would wait for keys to be written");
            }
            check_node(node, group)
        }
    }
}

/// Notes that a job takes these runs of a list, which must be the next ones.
fn take_runs(taken: &mut (u32, u32), list: &List, share: Share) -> Result<(), &'static str> {
    let (before, jobs) = *taken;
    let Share { first, runs, .. } = share;
    if first != before || runs > list.run_count - before || jobs == list.jobs {
        return Err("its runs are not the next ones of the list");
    }
    *taken = (before + runs, jobs + 1);
    Ok(())
}

fn check_node(node: Node, group: &Group) -> Result<(), &'static str> {
    if node.depth > group.bits {
        return Err("it settles more bits than the lists are sorted by");
    }
    let settled = (1 << group.bits) - (1 << (group.bits - node.depth));
    if (node.second | node.with) & !settled != 0 {
        return Err("its path goes beyond its depth");
    }
    let free = [node.second, !node.second].map(|split| settled & !node.with & split);
    if free.iter().any(|free| free.count_ones() > MOST_FREE) {
        return Err("its keys are in more runs than a block has room for");
    }
    Ok(())
}
