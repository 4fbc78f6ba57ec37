//! Who gets how much: how fast CPU workers and devices count, what each holds, and how large its batches are, so that all
//! finish together.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::actors::{Batch, PlanIndex, Roster, WorkerIndex};

/// How many batches each worker should still get from what is left. Batches that shrink with what
/// is left let the workers finish together (guided self-scheduling: Polychronopoulos and Kuck, IEEE
/// Transactions on Computers 36, 1987, with 1 in place of this). With more than 1 a batch that takes
/// three times as long as expected does not end last.
const SHARES: f64 = 3.0;

/// The shortest batch, in seconds, however close the end: its messages take about 10 µs, 1 % of
/// this.
const SHORTEST: f64 = 1e-3;

/// The part of its fair share of what is left that a device may hold. The other half is handed out
/// later, when its speed is better known (factoring: Hummel, Schonberg and Flynn, Communications of
/// the ACM 35, 1992, who found a half robust).
const HELD: f64 = 0.5;

/// The part of its fair share of what is left that a device may hold before its speed is known. It may be a hundredth as
/// fast as a worker: then all wait for what it holds.
const HELD_AT_FIRST: f64 = 0.02;

/// How many launches the share that a device may hold is cut into: one is made and checked while another runs.
const LAUNCHES_HELD: f64 = 2.0;

/// The shortest batch for a device, in seconds, so that making, copying and checking a launch stays
/// a small part of it.
const SHORTEST_ON_DEVICE: f64 = 20e-3;

/// How fast each counts, and who holds how much of the plan that devices count. Costs are in
/// core-seconds by the plan's estimate, speeds in cost per second.
#[derive(Debug)]
pub(crate) struct Balance {
    /// What devices count.
    plan: Option<PlanIndex>,
    /// How many CPU workers count that plan, and how many devices.
    sharers: usize,
    devices_left: usize,
    /// What a CPU worker takes for a unit of cost of each plan, once known.
    seconds_per_cost: Vec<Option<f64>>,
    /// The speed of each device, once known.
    devices: BTreeMap<WorkerIndex, f64>,
    /// What only one of them may count, of each CPU worker, then of each device.
    held: Vec<Held>,
    /// What any CPU worker may count.
    queued: Held,
    cpu_workers: usize,
}

/// What somebody holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    batches: u64,
    /// Of the plan that devices count.
    cost: f64,
}

impl Balance {
    /// Devices count this one of so many plans.
    pub(crate) fn new(roster: &Roster, plans: usize, plan: Option<PlanIndex>) -> Self {
        Self {
            plan,
            sharers: 0,
            devices_left: 0,
            seconds_per_cost: vec![None; plans],
            devices: BTreeMap::new(),
            held: vec![Held::default(); roster.workers()],
            queued: Held::default(),
            cpu_workers: roster.cpu_workers(),
        }
    }

    /// Notes what a CPU worker takes for a unit of cost of this plan, once known.
    pub(crate) fn note_cpu(&mut self, plan: PlanIndex, seconds_per_cost: Option<f64>) {
        self.seconds_per_cost[plan.0] = seconds_per_cost.filter(|seconds| *seconds > 0.0);
    }

    /// Seconds that a CPU worker takes for such a cost of this plan, once known.
    pub(crate) fn seconds(&self, plan: PlanIndex, cost: f64) -> Option<f64> {
        self.seconds_per_cost[plan.0].map(|per_cost| cost * per_cost)
    }

    /// Notes how many CPU workers are left that count what devices count, and how many devices.
    pub(crate) const fn note_left(&mut self, sharers: usize, devices: usize) {
        (self.sharers, self.devices_left) = (sharers, devices);
    }

    /// The speed of all devices. One whose speed is not known is taken for a mean one.
    fn all_devices(&self) -> f64 {
        let known = self.devices.len().max(1);
        let sum: f64 = self.devices.values().sum();
        sum * self.devices_left.max(known) as f64 / known as f64
    }

    /// The speed of a CPU worker, once known; `None` if there are none.
    fn worker(&self) -> Option<f64> {
        let seconds = self.seconds_per_cost[self.plan?.0];
        seconds.filter(|_| self.sharers > 0).map(f64::recip)
    }

    pub(crate) fn note_device(&mut self, device: WorkerIndex, speed: f64) {
        self.devices.insert(device, speed);
    }

    /// Notes that a device takes no more.
    pub(crate) fn forget(&mut self, device: WorkerIndex) {
        self.devices.remove(&device);
    }

    /// Notes that a worker or device holds the batch.
    pub(crate) fn hand_out(&mut self, batch: &Batch) {
        let cost = self.shared_cost(batch);
        let held = self.held_by(batch.only);
        held.batches += 1;
        held.cost += cost;
    }

    /// Notes that a batch has come back, counted or not.
    pub(crate) fn take_back(&mut self, batch: &Batch) {
        let cost = self.shared_cost(batch);
        let held = self.held_by(batch.only);
        held.batches = held.batches.saturating_sub(1);
        // Sums and differences of costs are rounded: what is left of them is nothing if no batch is held.
        held.cost = match held.batches {
            0 => 0.0,
            _ => (held.cost - cost).max(0.0),
        };
    }

    /// The cost of a batch of the plan that devices count.
    fn shared_cost(&self, batch: &Batch) -> f64 {
        match self.plan == Some(batch.plan) {
            true => batch.cost,
            false => 0.0,
        }
    }

    fn held_by(&mut self, only: Option<WorkerIndex>) -> &mut Held {
        only.map_or(&mut self.queued, |worker| &mut self.held[worker.0])
    }

    /// How many batches CPU workers hold, or may take.
    pub(crate) fn batches_on_cpu(&self) -> u64 {
        let alone = self.held[..self.cpu_workers].iter();
        self.queued.batches + alone.map(|held| held.batches).sum::<u64>()
    }

    /// Whether nobody holds a batch, and none waits.
    pub(crate) fn nothing_is_out(&self) -> bool {
        let all = self.held.iter().chain([&self.queued]);
        all.map(|held| held.batches).sum::<u64>() == 0
    }

    /// How many batches a worker holds that are for it alone.
    pub(crate) fn batches_of(&self, worker: WorkerIndex) -> u64 {
        self.held[worker.0].batches
    }

    /// Seconds that the next batch of a CPU worker should take, `most` at most, where one worker took so many for all
    /// that is `left`.
    pub(crate) fn batch_seconds(&self, left: f64, most: Duration) -> f64 {
        let in_workers = self.worker();
        let in_workers = in_workers.map_or(0.0, |worker| self.all_devices() / worker);
        let workers = self.cpu_workers as f64 + in_workers;
        // One worker alone has nobody to wait for.
        let fair = if workers > 1.0 {
            left / (SHARES * workers)
        } else {
            left
        };
        fair.max(SHORTEST).min(most.as_secs_f64())
    }

    /// The cost that CPU workers hold of the plan that devices count.
    fn held_by_cpu(&self) -> f64 {
        let alone = self.held[..self.cpu_workers].iter();
        self.queued.cost + alone.map(|held| held.cost).sum::<f64>()
    }

    /// Seconds until all is counted if everybody keeps counting. `left` is the cost that nobody holds.
    /// `None` while no speed is known.
    fn seconds_left(&self, left: f64) -> Option<f64> {
        let cpu = self.worker().unwrap_or(0.0) * self.sharers as f64;
        let speed = cpu + self.all_devices();
        let on_devices = self.held[self.cpu_workers..].iter().map(|held| held.cost);
        let held = self.held_by_cpu() + on_devices.sum::<f64>();
        (speed > 0.0).then(|| (left + held) / speed)
    }

    /// Seconds that the fastest worker or device takes for this cost.
    fn least_seconds(&self, cost: f64) -> f64 {
        let speeds = self.devices.values().copied().chain(self.worker());
        cost / speeds.fold(0.0, f64::max)
    }

    /// The cost that a device gets that asks for `wanted`; `None` if it holds its share. `left`: the cost that nobody holds; `task`:
    /// the cost of the next task.
    pub(crate) fn grant(
        &self,
        device: WorkerIndex,
        wanted: f64,
        left: f64,
        task: f64,
    ) -> Option<f64> {
        let workers = self.sharers + self.devices_left;
        let Held { batches, cost } = self.held[device.0];
        let (most, least) = match self.devices.get(&device) {
            None => {
                // Nobody waits for what counts alone.
                let part = if workers == 1 { HELD } else { HELD_AT_FIRST };
                (part * (left + cost) / workers as f64, 0.0)
            }
            Some(&speed) => {
                let Some(seconds) = self.seconds_left(left) else {
                    return Some(wanted);
                };
                // Near the end a slow device must leave a long task to those who finish it sooner.
                if self.sharers > 0 && task / speed > seconds + self.least_seconds(task) {
                    return None;
                }
                (HELD * speed * seconds, speed * SHORTEST_ON_DEVICE)
            }
        };
        if cost >= most && batches > 0 {
            return None;
        }
        let launch = (most - cost).min(most / LAUNCHES_HELD);
        Some(launch.max(least).min(wanted))
    }

    /// Whether CPU workers must leave what is `left` to devices: because they hold their share and all
    /// of them are `busy`, or because a CPU worker would finish last with a task of this cost.
    pub(crate) fn keeps_cpu_waiting(&self, left: f64, task: f64, busy: bool) -> bool {
        let (Some(worker), Some(seconds), false) = (
            self.worker(),
            self.seconds_left(left),
            self.devices.is_empty(),
        ) else {
            return false;
        };
        let cpu = worker * self.sharers as f64;
        task / worker > seconds + self.least_seconds(task)
            || (busy && self.held_by_cpu() >= cpu * seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: PlanIndex = PlanIndex(0);
    const DEVICE: WorkerIndex = WorkerIndex(2);

    fn batch(device: Option<WorkerIndex>, cost: f64) -> Batch {
        Batch {
            cost,
            only: device,
            ..Batch::of(PLAN, Vec::new())
        }
    }

    /// Two workers that count 1 a second each, and a device that counts `speed`.
    fn balance(speed: f64) -> Balance {
        let mut balance = unknown(2);
        balance.note_cpu(PLAN, Some(1.0));
        balance.note_device(DEVICE, speed);
        balance
    }

    /// So many of two workers share what the device counts.
    fn unknown(sharers: usize) -> Balance {
        let mut balance = Balance::new(&Roster::new(2, 0..1), 1, Some(PLAN));
        balance.note_left(sharers, 1);
        balance
    }

    /// The device gets two launches of `cost` when so much is `left`, and no third one while it holds them.
    fn gets_two_launches(mut balance: Balance, mut left: f64, cost: f64) {
        for _ in 0..2 {
            let grant = balance.grant(DEVICE, 100.0, left, 0.1);
            assert_eq!(grant, Some(cost));
            balance.hand_out(&batch(Some(DEVICE), cost));
            left -= cost;
        }
        let third = balance.grant(DEVICE, 100.0, left, 0.1);
        assert_eq!(third, None);
    }

    #[test]
    fn a_device_gets_half_its_share_of_what_is_left_in_two_launches() {
        let balance = balance(8.0);
        assert_eq!(balance.grant(DEVICE, 1.0, 10.0, 0.1), Some(1.0));
        gets_two_launches(balance, 10.0, 2.0);
    }

    #[test]
    fn a_device_of_unknown_speed_gets_little_until_it_is_known() {
        gets_two_launches(unknown(2), 300.0, 1.0);
    }

    #[test]
    fn a_device_that_counts_alone_gets_much_at_once() {
        let balance = unknown(0);
        let first = balance.grant(DEVICE, 12.0, 300.0, 0.1);
        assert_eq!(first, Some(12.0));
        let of_little = balance.grant(DEVICE, 12.0, 10.0, 0.1);
        assert_eq!(of_little, Some(2.5));
    }

    #[test]
    fn a_slow_device_leaves_the_last_tasks_to_the_workers() {
        let balance = balance(0.1);
        // A task of a second takes the device ten.
        assert_eq!(balance.grant(DEVICE, 1.0, 4.0, 1.0), None);
        assert!(balance.grant(DEVICE, 1.0, 40.0, 1.0).is_some());
        assert!(!balance.keeps_cpu_waiting(1.0, 1.0, false));
    }

    #[test]
    fn slow_workers_leave_the_last_tasks_to_the_device() {
        let balance = balance(1000.0);
        assert!(balance.keeps_cpu_waiting(500.0, 1.0, false));
        assert!(!balance.keeps_cpu_waiting(5000.0, 1.0, false));
        assert!(balance.grant(DEVICE, 100.0, 1.0, 1.0).is_some());
    }

    #[test]
    fn workers_that_hold_their_share_wait_unless_one_is_idle() {
        let mut balance = balance(2.0);
        balance.hand_out(&batch(None, 3.0));
        assert!(balance.keeps_cpu_waiting(1.0, 0.01, true));
        assert!(!balance.keeps_cpu_waiting(1.0, 0.01, false));
        balance.forget(DEVICE);
        assert!(!balance.keeps_cpu_waiting(1.0, 0.01, true));
    }

    #[test]
    fn a_device_that_holds_nothing_gets_something_however_its_costs_were_rounded() {
        let mut balance = unknown(0);
        balance.note_device(DEVICE, 8.0);
        let costs = [0.1, 0.2, 0.3];
        for cost in costs {
            balance.hand_out(&batch(Some(DEVICE), cost));
        }
        for cost in costs {
            balance.take_back(&batch(Some(DEVICE), cost));
        }
        // More tasks than expected: nothing seems to be left.
        assert_eq!(
            balance.grant(DEVICE, 100.0, 0.0, 0.1),
            Some(8.0 * SHORTEST_ON_DEVICE)
        );
    }

    #[test]
    fn somebody_may_always_take_the_rest() {
        // If all are idle, one of them gets the last task, whatever the speeds and however many workers are left.
        for speed in [1e-3, 0.3, 1.0, 3.0, 1e3] {
            for task in [1e-3, 1.0, 1e3] {
                for left in [2, 1, 0] {
                    let mut balance = balance(speed);
                    balance.note_left(left, 1);
                    let device = balance.grant(DEVICE, 1.0, task, task).is_some();
                    let cpu = left > 0 && !balance.keeps_cpu_waiting(task, task, false);
                    assert!(device || cpu, "{speed}, {task}, {left} workers");
                }
            }
        }
    }
}
