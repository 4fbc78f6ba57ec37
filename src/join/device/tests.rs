//! Lists, parts and launches, counted by the CPU's own pairs in place of a device.

use std::ops::Range;

use super::launcher::JoinLauncher;
use super::planner::{SubProblem, subsets};
use super::program::{GROUP_SUMS, JOB_WORDS, groups, part_of, program, room};
use crate::board::{GivenBoard, Size};
use crate::engine::{
    Completed, CounterSettings, DeviceCanary, DeviceSpans, Launch, LaunchBatch, LaunchError,
    Launcher, PartTaker, Plan, Tally, Task, TaskWatch, Ticket,
};
use crate::join::leaf_audit::LeafAudit;
use crate::join::pairs::{Countable, Pairs};
use crate::join::{JoinBoard, JoinPlan};
use crate::simd::{Algorithm, Isa, Simd};

/// Counts every job of a launch by the CPU's own pairs. The host has discarded what the parts lack; a device
/// would discard more of what it is given, so all pairs count as tested.
struct Exact<'a>(&'a Launch);

impl Algorithm for Exact<'_> {
    type Output = Completed;

    fn run<S: Simd>(self, simd: S) -> Completed {
        let launch = self.0;
        let mut pairs = Pairs::new(simd, LeafAudit::new(1 << 16));
        let watch = TaskWatch::default();
        let mut sums = vec![0; launch.sums()];
        let groups: Vec<_> = groups(launch.tables()).collect();
        for job in launch.jobs().as_chunks::<JOB_WORDS>().0 {
            let part = part_of(job);
            let group = job[0] as usize;
            let [mut top, mut bottom] =
                [0, 1].map(|side| part.keys(side, groups[group], launch.tables()));
            assert!(top.len() + bottom.len() <= room(&launch.program()) as usize);
            let lists = [&mut top[..], &mut bottom[..]];
            let found = u32::count(&mut pairs, lists, watch.whole()).unwrap();
            sums[group * GROUP_SUMS] += part.pairs();
            sums[group * GROUP_SUMS + 2] += found;
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
fn every_set_of_8_to_14_queens_is_divided_into_parts_that_give_the_same_count() {
    for n in 8..=14 {
        let plan = JoinPlan::new(size(n));
        for keys in [2, 96, 8_192] {
            // Blocks of two keys make a part of every pair.
            if keys > 2 || n <= 10 {
                ranks_agree(&plan, 0..plan.ranks(), keys);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn sets_of_larger_boards_are_divided_into_parts_that_give_the_same_count() {
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
#[ignore = "a minute: cargo test --release --lib join::device -- --ignored"]
fn sets_of_23_and_24_queens_are_divided_into_parts_that_give_the_same_count() {
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
        let bytes = 4 * (launch.jobs().len() + launch.tables().len()) as u64;
        self.left = self.left.saturating_sub(bytes);
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
        (22, 100_001..100_005, [0, 5 << 20, 1 << 30]),
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
    let wrong = |alter: fn(&mut Completed)| {
        let batch = batch();
        let mut completed = exact(batch.launch().unwrap());
        alter(&mut completed);
        batch.tallies(Some(&completed)).map(drop)
    };
    assert!(wrong(|_| ()).is_ok());
    let messages = [
        wrong(|completed| completed.jobs_done -= 1),
        wrong(|completed| completed.sums.truncate(3)),
        // The sampled part is the last group.
        wrong(|completed| *completed.sums.last_mut().unwrap() += 1),
        wrong(|completed| completed.sums[0] -= 1),
        wrong(|completed| completed.sums[1] += 1),
        wrong(|completed| completed.sums[2] = completed.sums[0] + 1),
    ]
    .map(|outcome| outcome.unwrap_err().0);
    for (message, said) in messages.iter().zip([
        "jobs of",
        "returned 3 sums",
        "a sampled part",
        "tested",
        "discarded",
        "found",
    ]) {
        assert!(message.contains(said), "{message}");
    }
    assert!(batch().tallies(None).is_err());
}

#[test]
fn subsets_come_in_the_order_of_their_numbers() {
    assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
    assert_eq!(
        subsets(0b1010).collect::<Vec<_>>(),
        [0, 0b10, 0b1000, 0b1010]
    );
    assert_eq!(subsets(0b111 << 17).count(), 8);
}

/// One group of lists of two bits, three keys and four keys, and a job of some of them.
fn small_launch() -> (Vec<u32>, Vec<u32>) {
    let tables = [
        &[1, 19][..],
        &[0, 1, 1, 2, 3],
        &[7, 8, 9],
        &[0, 2, 2, 2, 4],
        &[1, 2, 3, 4],
        &[2, 2, 7, 10, 15],
    ]
    .concat();
    let part = SubProblem {
        run: [0, 1],
        own: [0b10, 0],
        free: [0b01, 0b10],
        skip: [0, 1],
        count: [2, 3],
    };
    (super::program::job_words(0, &part).to_vec(), tables)
}

#[test]
fn words_that_would_lead_the_kernel_out_of_its_lists_are_refused() {
    let launch = |change: &dyn Fn(&mut Vec<u32>, &mut Vec<u32>)| {
        let (mut jobs, mut tables) = small_launch();
        change(&mut jobs, &mut tables);
        Launch::new(program(96, 32), jobs, tables)
    };
    assert!(launch(&|_, _| ()).is_ok());
    let table = |word: usize, value: u32| {
        let refused = launch(&|_, tables| tables[word] = value).unwrap_err();
        assert!(
            matches!(
                refused,
                LaunchError::TableValue { .. } | LaunchError::TableWords { .. }
            ),
            "word {word}: {refused}"
        );
    };
    // The groups are somewhere else, or more.
    table(1, 18);
    table(1, u32::MAX);
    table(0, 4);
    table(0, 5);
    // More bits; offsets or keys beyond the lists.
    table(19, 21);
    table(19, 4);
    table(20, 15);
    table(20, u32::MAX);
    table(21, 17);
    table(21, u32::MAX);
    table(23, 18);
    // Offsets that fall, and that reach beyond the lists.
    table(3, 2);
    table(6, 13);
    table(14, u32::MAX);
    let job = |word: usize, value: u32, says: &str| {
        let refused = launch(&|jobs, _| jobs[word] = value).unwrap_err();
        assert!(refused.to_string().contains(says), "word {word}: {refused}");
    };
    job(0, 1, "group 1");
    job(1, 3, "more buckets");
    job(1, 3 << 8, "more buckets");
    job(1, 1 << 16, "more buckets");
    job(1, 1 | 1 << 8, "overlap");
    job(2, 0b11, "overlap");
    job(2, 0b110, "overlap");
    job(3, 0b101, "overlap");
    job(4, 1, "fewer keys");
    job(5, 3, "fewer keys");
    job(8, u32::MAX, "fewer keys");
    job(9, 4, "fewer keys");
    job(9, 95, "fit a block");
    job(9, u32::MAX, "fit a block");
    // More runs than a block has room for.
    let bits = 11;
    let offsets = (1 << bits) + 1;
    let lists = [vec![0; offsets], vec![0; offsets]].concat();
    let at = 2 + lists.len() as u32;
    let group = [bits, 2, at, 2, at];
    let tables = [&[1, at][..], &lists, &group].concat();
    let part = |free| SubProblem {
        run: [0; 2],
        own: [0; 2],
        free: [free, 0],
        skip: [0; 2],
        count: [0; 2],
    };
    for (free, fits) in [(0b0111_1111_1111, false), (0b0011_1111_1111, true)] {
        let job = super::program::job_words(0, &part(free)).to_vec();
        let launch = Launch::new(program(96, 32), job, tables.clone());
        assert_eq!(launch.is_ok(), fits);
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
