//! Launches, counted by the CPU's own pairs in place of a device.

use std::ops::Range;

use super::jobs::{Division, JOB_WORDS, Job, Node};
use super::launcher::JoinLauncher;
use super::program::{GROUP_SUMS, program, room};
use super::sample::keys;
use super::tables::{Group, groups};
use crate::board::{GivenBoard, Size};
use crate::engine::{
    Completed, CounterSettings, DeviceCanary, DeviceSpans, Launch, LaunchBatch, LaunchError,
    Launcher, PartTaker, Plan, Tally, Task, TaskWatch, Ticket,
};
use crate::join::leaf_audit::LeafAudit;
use crate::join::pairs::{Countable, Pairs};
use crate::join::{JoinBoard, JoinPlan};
use crate::simd::{Algorithm, Isa, Simd};

/// Counts every group of a launch by the CPU's own pairs. A device would discard some pairs; here all count as tested.
struct Exact<'a>(&'a Launch);

impl Algorithm for Exact<'_> {
    type Output = Completed;

    fn run<S: Simd>(self, simd: S) -> Completed {
        let launch = self.0;
        let mut pairs = Pairs::new(simd, LeafAudit::new(1 << 16));
        let watch = TaskWatch::default();
        let mut sums = Vec::new();
        for group in groups(launch.tables()) {
            let [mut top, mut bottom] =
                group.lists.map(|list| keys(&group, &list, launch.tables()));
            let counts = [top.len() as u64, bottom.len() as u64];
            let lists = [&mut top[..], &mut bottom[..]];
            let found = u64::count(&mut pairs, lists, watch.whole()).unwrap();
            let crossed = group.lists.map(|list| {
                let runs = list.runs_in(launch.tables()).iter();
                2 * runs.map(super::tables::crossed).sum::<u64>()
            });
            sums.extend([counts[0] * counts[1], 0]);
            sums.extend([crossed, counts, counts].concat());
            sums.push(found);
        }
        Completed {
            ticket: Ticket(0),
            sums,
            jobs_done: launch.job_count(),
            stream: 0,
            spans: DeviceSpans::default(),
        }
    }
}

fn exact(launch: &Launch) -> Completed {
    Isa::best().run(Exact(launch))
}

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn settings() -> CounterSettings {
    CounterSettings {
        isa: Isa::best(),
        memory: 1 << 30,
    }
}

fn task(plan: &JoinPlan, ranks: Range<u64>) -> Task {
    Task {
        ranks,
        ..plan.task(0)
    }
}

/// The tallies of these ranks, each a task of its own, in one launch for blocks of `keys` keys, equal those of
/// the counter, nodes included.
fn ranks_agree(plan: &JoinPlan, ranks: impl Iterator<Item = u64>, keys: u32) {
    let board = JoinBoard::from(plan.given());
    let launcher = JoinLauncher::with(board, program(keys, 32));
    let tasks: Vec<Task> = ranks.map(|rank| task(plan, rank..rank + 1)).collect();
    let batch = launcher.batch(&tasks, keys.into()).unwrap();
    let completed = batch.launch().map(exact);
    let tallies = batch.tallies(completed.as_ref()).unwrap();
    let mut counter = plan.counter(&settings());
    for (task, tally) in tasks.iter().zip(tallies) {
        let expected = counter.count(task).unwrap();
        assert_eq!(
            tally,
            expected,
            "n = {}, rank {}, {keys} keys",
            plan.size(),
            task.ranks.start
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn every_set_of_8_to_14_queens_has_the_same_half_boards_and_pairs() {
    for n in 8..=14 {
        let plan = JoinPlan::new(size(n));
        for keys in [96, 8_192] {
            ranks_agree(&plan, 0..plan.ranks(), keys);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn sets_of_larger_boards_have_the_same_half_boards_and_pairs() {
    for (n, sets, keys) in [
        (16, 40, 96),
        (17, 40, 1_024),
        (18, 40, 96),
        (18, 40, 1_024),
        (19, 40, 8_192),
        (20, 4, 1_024),
        (20, 8, 11_776),
        (21, 4, 8_192),
        (22, 2, 16_384),
        (22, 1, 1_024),
    ] {
        let plan = JoinPlan::new(size(n));
        let ranks = plan.ranks() / sets;
        // Every other rank is empty on some boards.
        ranks_agree(
            &plan,
            (0..sets).flat_map(|set| set * ranks + 1..set * ranks + 3),
            keys,
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn sets_of_23_and_24_queens_have_the_same_half_boards_and_pairs() {
    for n in [23, 24] {
        let plan = JoinPlan::new(size(n));
        let middle = plan.ranks() / 3;
        ranks_agree(&plan, middle..middle + 2, 11_776);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn given_boards_are_counted_where_their_solutions_stand() {
    for (n, queens) in [(10, "a3"), (13, "b4,m1"), (14, "c2")] {
        let plan = JoinPlan::new(GivenBoard::parse(size(n), queens, "").unwrap());
        ranks_agree(&plan, 0..plan.ranks(), 96);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn the_canary_is_counted_for_every_board() {
    for n in [8, 13, 22, 27] {
        let launcher = JoinPlan::new(size(n)).launcher().unwrap();
        let DeviceCanary { canary, batch } = launcher.canary(2).unwrap();
        let completed = exact(batch.launch().unwrap());
        let tallies = batch.tallies(Some(&completed)).unwrap();
        assert_eq!(tallies.len(), 2 * canary.tasks().len());
        for (at, tally) in tallies.iter().enumerate() {
            canary.compare(at % canary.tasks().len(), tally).unwrap();
        }
    }
}

/// Has room for so many bytes in all.
struct Budget {
    left: u64,
    taken: Vec<Box<dyn LaunchBatch>>,
}

impl PartTaker for Budget {
    fn has_room(&self, bytes: u64) -> bool {
        bytes <= self.left
    }

    fn take(&mut self, part: Box<dyn LaunchBatch>, work: f64) {
        let launch = part.launch().expect("there are pairs to count");
        self.left = self.left.saturating_sub(launch.bytes());
        assert!(work > 0.0);
        self.taken.push(part);
    }

    fn keep(&mut self, _: f64) {}
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn what_a_worker_counts_and_the_parts_of_a_device_add_up_to_the_task() {
    // From 22 queens on, lists may hold ties whose pairs are subtracted before the others are counted.
    for (n, ranks, budgets) in [
        (8, 0..35, [0, 1 << 20, 1 << 30]),
        (13, 100..400, [0, 50 << 10, 1 << 30]),
        (16, 0..300, [0, 1 << 20, 1 << 30]),
        (18, 1000..1100, [0, 1 << 20, 1 << 30]),
        (22, 100_001..100_005, [0, 10 << 20, 1 << 30]),
    ] {
        let plan = JoinPlan::new(size(n));
        let task = task(&plan, ranks);
        let expected = plan.counter(&settings()).count(&task).unwrap();
        let launcher = plan.launcher().unwrap();
        let mut preparer = launcher.preparer(&settings()).unwrap();
        for budget in budgets {
            let mut device = Budget {
                left: budget,
                taken: Vec::new(),
            };
            let mut sum = preparer
                .prepare(&task, &TaskWatch::default(), &mut device)
                .unwrap();
            assert_eq!(device.taken.is_empty(), budget == 0, "n = {n}");
            assert_eq!(sum == expected, budget == 0, "n = {n}");
            for part in device.taken {
                let completed = exact(part.launch().unwrap());
                let tallies = part.tallies(Some(&completed)).unwrap();
                assert_eq!(tallies.len(), 1);
                sum += tallies[0];
            }
            assert_eq!(sum, expected, "n = {n}, {budget} bytes");
        }
    }
}

/// All tasks of 10 queens as a batch.
fn batch() -> Box<dyn LaunchBatch> {
    let plan = JoinPlan::new(size(10));
    let tasks: Vec<Task> = (0..plan.tasks()).map(|index| plan.task(index)).collect();
    plan.launcher().unwrap().batch(&tasks, 3).unwrap()
}

#[test]
fn a_device_that_counts_wrongly_is_noticed() {
    let wrong = |alter: &dyn Fn(&mut Completed)| {
        let batch = batch();
        let mut completed = exact(batch.launch().unwrap());
        alter(&mut completed);
        batch.tallies(Some(&completed)).map(drop)
    };
    assert!(wrong(&|_| ()).is_ok());
    let says = |said: &str, alter: &dyn Fn(&mut Completed)| {
        let message = wrong(alter).unwrap_err().0;
        assert!(message.contains(said), "{message}");
    };
    says("jobs of", &|completed| completed.jobs_done -= 1);
    says("returned 3 sums", &|completed| completed.sums.truncate(3));
    says("tested", &|completed| completed.sums[0] -= 1);
    says("discarded", &|completed| completed.sums[1] += 1);
    says("found", &|completed| {
        completed.sums[8] = completed.sums[0] + 1
    });
    for side in 0..2 {
        says("crossed", &|completed| completed.sums[2 + side] -= 1);
        says("counted", &|completed| completed.sums[4 + side] += 1);
        says("wrote", &|completed| completed.sums[6 + side] -= 1);
    }
    // The sample is the last group.
    let of_sample = |completed: &Completed| completed.sums.len() - GROUP_SUMS;
    for (sum, said) in [
        "tested",
        "discarded",
        "crossed",
        "crossed",
        "a sample",
        "a sample",
        "wrote",
        "wrote",
        "a sample",
    ]
    .into_iter()
    .enumerate()
    {
        says(said, &|completed| {
            let at = of_sample(completed) + sum;
            completed.sums[at] += 1;
        });
    }
    assert!(batch().tallies(None).is_err());
}

/// Each pair of keys that share none of the settled bits belongs to one node, and other pairs to none.
#[test]
fn nodes_divide_all_pairs_among_jobs() {
    for (bits, settled) in [(0, 0), (1, 1), (6, 3), (6, 6)] {
        let nodes = Division { bits, settled }.nodes();
        assert_eq!(nodes.len(), 1 << settled);
        let all = (1_u32 << bits) - 1;
        let of_settled = all & !(all >> settled);
        for (top, bottom) in (0..=all).flat_map(|top| (0..=all).map(move |bottom| (top, bottom))) {
            let belongs = |node: &&Node| {
                let with = [node.with & !node.second, node.with & node.second];
                let without = of_settled & !node.with;
                let lacks = [
                    without & !node.second | with[1],
                    without & node.second | with[0],
                ];
                let fits = |key: u32, side: usize| {
                    key & with[side] == with[side] && key & lacks[side] == 0
                };
                fits(top, 0) && fits(bottom, 1)
            };
            let found = nodes.iter().filter(belongs).count();
            let expected = usize::from(top & bottom & of_settled == 0);
            assert_eq!(
                found, expected,
                "{bits} bits, {settled} settled: {top:b} {bottom:b}"
            );
        }
    }
}

/// A launch of all sets of 8 queens, and one that is changed.
#[test]
fn words_that_would_lead_the_kernel_out_of_its_memory_are_refused() {
    let plan = JoinPlan::new(size(8));
    let launcher = JoinLauncher::with(size(8).into(), program(96, 32));
    let tasks: Vec<Task> = (0..plan.tasks()).map(|index| plan.task(index)).collect();
    let batch = launcher.batch(&tasks, 0).unwrap();
    let (jobs, tables) = {
        let launch = batch.launch().unwrap();
        (launch.jobs().to_vec(), launch.tables().to_vec())
    };
    let launch = |change: &dyn Fn(&mut Vec<u32>, &mut Vec<u32>)| {
        let (mut jobs, mut tables) = (jobs.clone(), tables.clone());
        change(&mut jobs, &mut tables);
        Launch::new(program(96, 32), jobs, tables)
    };
    assert!(launch(&|_, _| ()).is_ok());
    let groups_at = tables[1] as usize;
    // Where the groups are, and how many.
    for (word, value) in [
        (0, u32::MAX),
        (0, tables[0] + 1),
        (1, tables[1] - 1),
        (1, u32::MAX),
    ] {
        let refused = launch(&|_, tables| tables[word] = value).unwrap_err();
        assert!(
            matches!(
                refused,
                LaunchError::TableValue { .. } | LaunchError::TableWords { .. }
            ),
            "word {word}: {refused}"
        );
    }
    // Every word of a group but the bits that leave keys out; `sorted` and `high` in one direction.
    let list_words = (Group::WORDS - 3) / 2;
    for word in 0..Group::WORDS {
        let of_list = (word >= 3).then(|| (word - 3) % list_words);
        if matches!(of_list, Some(6 | 7)) {
            continue;
        }
        let refused = launch(&|_, tables| tables[groups_at + word] = u32::MAX);
        assert!(refused.is_err(), "word {word} of a group");
        // The places in the scratch memory are those that they must be.
        if of_list.is_some_and(|word| word > 8) {
            assert!(launch(&|_, tables| tables[groups_at + word] += 1).is_err());
        }
    }
    // Runs that end before they begin, or behind the boards.
    let lists = groups(&tables).flat_map(|group| group.lists);
    let run = lists.map(|list| (list.run_count > 0).then_some(list.runs as usize));
    let run = run.flatten().next().unwrap();
    for word in 0..4 {
        assert!(launch(&|_, tables| tables[run + word] = u32::MAX).is_err());
    }
    let kinds: Vec<_> = jobs
        .as_chunks::<JOB_WORDS>()
        .0
        .iter()
        .map(|job| Job::of(job).unwrap())
        .collect();
    let first = |is: fn(&Job) -> bool| kinds.iter().position(is).unwrap() * JOB_WORDS;
    let count = first(|job| matches!(job, Job::Count(_)));
    let write = first(|job| matches!(job, Job::Write(_)));
    let pairs = first(|job| matches!(job, Job::Pairs(_)));
    let job = |word: usize, value: u32, says: &str| {
        let refused = launch(&|jobs, _| jobs[word] = value).unwrap_err();
        assert!(refused.to_string().contains(says), "word {word}: {refused}");
    };
    job(count, tables[0], "groups");
    job(count + 1, 3, "no such kind");
    job(count + 1, 2 << 8, "two lists");
    job(count + 2, u32::MAX, "not the next ones");
    job(count + 3, u32::MAX, "not the next ones");
    job(write + 2, u32::MAX, "not the next ones");
    job(write + 1, 1 | 9 << 8, "two lists");
    job(pairs + 1, 2 | 30 << 8, "more bits");
    job(pairs + 2, 1, "beyond its depth");
    job(pairs + 3, 1, "beyond its depth");
    // A job that would wait for one that comes later, or never.
    let swapped = |one: usize, other: usize| {
        let refused = launch(&|jobs, _| {
            for word in 0..JOB_WORDS {
                jobs.swap(one + word, other + word);
            }
        });
        assert!(refused.unwrap_err().to_string().contains("would wait"));
    };
    swapped(count, pairs);
    swapped(write, pairs);
    swapped(count, write);
    let refused = launch(&|jobs, _| drop(jobs.drain(write..write + JOB_WORDS)));
    assert!(refused.unwrap_err().to_string().contains("would wait"));
    // A job once more: its keys would have no room.
    for (at, says) in [(count, "next ones"), (write, "next ones")] {
        let refused = launch(&|jobs, _| {
            let again: Vec<u32> = jobs[at..at + JOB_WORDS].to_vec();
            jobs.splice(at..at, again);
        });
        assert!(refused.unwrap_err().to_string().contains(says));
    }
    // Lists that say that they have other jobs, or none.
    let of_group = jobs[pairs] as usize;
    let jobs_of_list = groups_at + of_group * Group::WORDS + 3 + 8;
    for more in [u32::MAX, 1] {
        let refused = launch(&|_, tables| {
            tables[jobs_of_list] = tables[jobs_of_list].wrapping_add(more);
        });
        assert!(refused.is_err(), "{more} more jobs");
    }
}

#[test]
fn a_device_gets_blocks_that_fit() {
    let launcher = JoinPlan::new(size(20)).launcher().unwrap();
    let room_on = |kilobytes: u32| {
        let fitted = launcher.fitted(kilobytes * 1024);
        room(&fitted.map_or(launcher.program(), |fitted| fitted.program()))
    };
    // An H100, an A100, and an RTX 3090, 4090 or 5090.
    assert_eq!([228, 164, 100].map(room_on), [11_776, 16_384, 8_192]);
    // The most that a block may have: CUDA keeps 1 KB.
    for program in super::programs() {
        let most = match room(&program) {
            11_776 => 228 / 2 - 1,
            16_384 => 163,
            _ => 99,
        };
        assert!(program.block_memory(0) <= most * 1024, "{program:?}");
    }
}

#[test]
fn tallies_of_no_sets_are_empty() {
    let plan = JoinPlan::new(size(8));
    let launcher = plan.launcher().unwrap();
    let batch = launcher.batch(&[task(&plan, 0..0)], 0).unwrap();
    assert!(batch.launch().is_none());
    assert_eq!(batch.tallies(None).unwrap(), [Tally::default()]);
}
