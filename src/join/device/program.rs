//! The pairs kernel as a program for devices.

use super::flat_lists::{FlatLists, MOST_BITS};
use super::planner::{MOST_FREE, SubProblem, subsets};
use crate::engine::{
    DeviceProgram, JobWords, LaunchError, LaunchWords, Layout, MACHINE_SOURCE, Specialisation,
    TableWords, ThreadUse,
};

/// Words of a job: `PairsJob` of `kernels/pairs.h`.
pub(super) const JOB_WORDS: usize = 10;
/// Sums of a group: pairs tested, discarded, found.
pub(super) const GROUP_SUMS: usize = 3;
/// Words of the tables before the lists: the number of groups, and the word at which they lie.
pub(super) const TABLES_HEAD: usize = 2;

const SOURCE: &[&str] = &[
    MACHINE_SOURCE,
    include_str!("../../../kernels/pairs.h"),
    include_str!("../../../kernels/pairs.cu"),
];

/// Bytes of shared memory of a block besides its keys: as `pairs_shared` of the kernel.
const BESIDES_KEYS: u32 = 848 + 4 * (29 * 16 + 4 * 128 * 32);

/// Bytes of shared memory that CUDA takes for itself in each block (CUDA Programming Guide, compute
/// capabilities 8.x to 12.x).
const RESERVED: u32 = 1024;

/// The variants: how many keys a block has room for, its threads, and how many such blocks a multiprocessor
/// should run at a time. With two blocks, one counts while the other waits for memory.
///
/// The first is for multiprocessors with 228 KB of shared memory, the second for 164 KB, the last for 100 KB.
/// No device was measured.
const VARIANTS: [(u32, u32, u32); 3] = [(11_776, 256, 2), (16_384, 512, 1), (8_192, 512, 1)];

/// All variants of the kernel.
pub fn programs() -> impl Iterator<Item = DeviceProgram> {
    let variants = VARIANTS.into_iter();
    variants.map(|(keys, threads, _)| program(keys, threads))
}

/// The variant for devices of which nothing is known.
pub(super) fn default_program() -> DeviceProgram {
    let (keys, threads, _) = VARIANTS[0];
    program(keys, threads)
}

/// The variant for devices whose multiprocessors have `shared_memory` bytes: the first whose blocks fit, or that
/// with the smallest blocks.
pub(super) fn fitted(shared_memory: u32) -> DeviceProgram {
    let fits = |(keys, _, blocks): &(u32, u32, u32)| {
        blocks * (BESIDES_KEYS + 4 * keys + RESERVED) <= shared_memory
    };
    let fitting = VARIANTS.into_iter().find(fits);
    let (keys, threads, _) = fitting.unwrap_or(VARIANTS[VARIANTS.len() - 1]);
    program(keys, threads)
}

/// How many keys a block has room for.
pub(super) fn room(program: &DeviceProgram) -> u32 {
    program.specialisation.map_or(0, |special| special.value)
}

/// The variant whose blocks have room for `keys` keys, an even number.
pub(super) fn program(keys: u32, threads: u32) -> DeviceProgram {
    DeviceProgram {
        entry: "pairs",
        source: SOURCE,
        specialisation: Some(Specialisation {
            macro_name: "QF_KEYS",
            value: keys,
        }),
        shared_memory: 0,
        threads: ThreadUse::WholeBlocks {
            threads,
            shared_memory: BESIDES_KEYS + 4 * keys,
        },
        layout: Layout {
            job_words: JobWords::Fixed(JOB_WORDS),
            group_word: Some(0),
            tables: TableWords::Counted {
                least: FlatLists::WORDS,
            },
            group_sums: GROUP_SUMS,
            check,
        },
    }
}

/// The words of a job, for the group with the number `group`.
pub(super) fn job_words(group: u32, part: &SubProblem) -> [u32; JOB_WORDS] {
    let SubProblem {
        run,
        own,
        free,
        skip,
        count,
    } = *part;
    let [top, bottom] = [0, 1].map(|side| [own[side], free[side], skip[side], count[side]]);
    let mut words = [0; JOB_WORDS];
    words[0] = group;
    words[1] = run[0] | run[1] << 8;
    words[2..6].copy_from_slice(&top);
    words[6..].copy_from_slice(&bottom);
    words
}

/// The part that a job names.
pub(super) fn part_of(job: &[u32; JOB_WORDS]) -> SubProblem {
    let of_both = |word: usize| [job[word], job[word + 4]];
    SubProblem {
        run: [job[1] & 0xff, job[1] >> 8],
        own: of_both(2),
        free: of_both(3),
        skip: of_both(4),
        count: of_both(5),
    }
}

/// The lists of each group.
pub(super) fn groups(tables: &[u32]) -> impl Iterator<Item = FlatLists> {
    let at = tables.get(1).map_or(0, |&at| at as usize);
    let (groups, _) = tables.get(at..).unwrap_or_default().as_chunks();
    groups.iter().copied().map(FlatLists::of)
}

/// Refuses lists that are not within the tables, and jobs whose keys are not within their lists or do not fit a
/// block: the kernel copies what a job names without looking where that is.
fn check(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
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
    let groups_at = tables.len() - count * FlatLists::WORDS;
    if groups_at < TABLES_HEAD {
        return Err(LaunchError::TableWords {
            words: tables.len(),
            group_words: FlatLists::WORDS,
            groups: "groups",
        });
    }
    value(1, groups_at, groups_at)?;
    let groups: Vec<FlatLists> = groups(tables).collect();
    for (index, group) in groups.iter().enumerate() {
        let at = groups_at + index * FlatLists::WORDS;
        value(at, 0, MOST_BITS as usize)?;
        let offsets = (1 << group.bits) + 1;
        for side in 0..2 {
            let most = groups_at.saturating_sub(offsets);
            let first = value(at + 1 + 2 * side, 0, most)?;
            let keys = value(at + 2 + 2 * side, 0, groups_at)?;
            let ends = &tables[first..][..offsets];
            // Offsets that grow to the last one, which is within the lists.
            value(first + offsets - 1, 0, groups_at - keys)?;
            if let Some(bucket) = ends.windows(2).position(|ends| ends[0] > ends[1]) {
                value(first + bucket, 0, ends[bucket + 1] as usize)?;
            }
        }
    }
    let room = words.specialisation;
    let (jobs, _) = words.jobs.as_chunks::<JOB_WORDS>();
    for (index, job) in jobs.iter().enumerate() {
        let group = groups[job[0] as usize];
        if let Err(why) = check_part(&part_of(job), group, tables, room) {
            return Err(LaunchError::Job { job: index, why });
        }
    }
    Ok(())
}

fn check_part(
    part: &SubProblem,
    group: FlatLists,
    tables: &[u32],
    room: u32,
) -> Result<(), &'static str> {
    let [top, bottom] = part.count;
    if top.checked_add(bottom).is_none_or(|keys| keys > room) {
        return Err("its keys do not fit a block");
    }
    for side in 0..2 {
        let [run, own, free] = [part.run[side], part.own[side], part.free[side]];
        if run > group.bits {
            return Err("a run has more buckets than a list");
        }
        let within_run = (1_u32 << run) - 1;
        let beyond = !0_u32 << group.bits;
        if own & free != 0 || (own | free) & (within_run | beyond) != 0 {
            return Err("its runs overlap, or are not within the list");
        }
        if free.count_ones() > MOST_FREE {
            return Err("it has more runs than a block has room for");
        }
        let offsets = group.offsets(side, tables);
        let lengths = subsets(free).map(|set| {
            let bucket = (own | set) as usize;
            u64::from(offsets[bucket + (1 << run)] - offsets[bucket])
        });
        let there: u64 = lengths.sum();
        if u64::from(part.skip[side]) + u64::from(part.count[side]) > there {
            return Err("its runs have fewer keys than it says");
        }
    }
    Ok(())
}
