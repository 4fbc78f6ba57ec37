//! Which kernel counts a recorded task again, and a plan whose counters use it.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::second_counter::unused;
use super::{
    Canary, CountedBy, Counter, CounterSettings, Engine, Launcher, Method, NoLauncher, NotCounted,
    Plan, PlanName, Tally, Task, TaskResult, TaskWatch, core_seconds, seconds_per_cost,
};
use crate::board::GivenBoard;
use crate::simd::Isa;

/// How many times as long as the widest kernel another one may take for a second count of a whole run.
/// AVX2 takes up to 2.5 times as long as AVX-512, portable code 7 to 18 times as long.
const SLOWEST: f64 = 4.0;

/// How long the oracle may take for the count of one task that decides between two others.
const PATIENCE: Duration = Duration::from_secs(600);

/// How many times as long as a kernel the oracle of an engine is expected to take, within a factor of 3. Measured on a
/// Zen 3 with AVX2: 21 times for the chain at n = 16; 41 to 52 times for the colour engine at n = 16, 18 and 20, and
/// 101 times at n = 17.
pub const fn oracle_slower(engine: Engine) -> u32 {
    match engine {
        Engine::Chain => 30,
        Engine::Colour => 60,
        Engine::Census | Engine::Own => 100,
    }
}

/// What counts a task on the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecountKernel {
    /// The [`recounter`](Plan::recounter) for this instruction set.
    Isa(Isa),
    /// The [`counter`](Plan::counter) for this instruction set, for what was first counted the other way.
    First(Isa),
    /// The oracle of the engine.
    Oracle,
}

impl RecountKernel {
    /// The one for this instruction set that counts another way than `first`, if the plan has two.
    pub fn other_way(isa: Isa, first: &CountedBy) -> Self {
        match first.is_transposed() {
            true => Self::First(isa),
            false => Self::Isa(isa),
        }
    }

    /// A counter of `plan` by it.
    pub fn counter(self, plan: &dyn Plan) -> Box<dyn Counter> {
        match self {
            Self::Isa(isa) => plan.recounter(&CounterSettings { isa }),
            Self::First(isa) => plan.counter(&CounterSettings { isa }),
            Self::Oracle => plan.oracle(),
        }
    }

    /// Core-seconds that it takes for a unit of the cost of `plan`: within a factor of 3. `None` for an own engine.
    pub fn seconds_per_cost(self, plan: &dyn Plan) -> Option<f64> {
        let of = |isa| seconds_per_cost(plan.engine(), plan.size(), isa);
        match self {
            Self::Isa(isa) | Self::First(isa) => of(isa),
            Self::Oracle => Some(of(Isa::best())? * f64::from(oracle_slower(plan.engine()))),
        }
    }
}

/// What counts recorded tasks again, to check them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckedBy {
    /// Another kernel than the one that counted the task. It takes about as long as that one.
    #[default]
    OtherKernel,
    /// The oracle, which takes many times as long and has nothing of the ideas of the kernels.
    Oracle,
}

impl CheckedBy {
    /// What checks a count of `plan` that `first` made: of the other kernels of this machine the widest, of those that
    /// count the other way if the plan has two; the oracle if there is none.
    pub fn against(self, plan: &dyn Plan, first: &CountedBy) -> RecountKernel {
        let others = match self {
            Self::OtherKernel => unused(plan, std::slice::from_ref(first)),
            Self::Oracle => Vec::new(),
        };
        others
            .last()
            .map_or(RecountKernel::Oracle, |kernel| *kernel)
    }
}

/// The kernel that counts a task a second time which `first` counted: of the others that take at most four
/// times as long as that of `settings`, the fastest; that of `settings` if there is none.
pub fn second_kernel(
    plan: &dyn Plan,
    settings: &CounterSettings,
    first: &CountedBy,
) -> RecountKernel {
    let cost = |isa| core_seconds(plan.engine(), plan.size(), isa);
    let most = SLOWEST * cost(settings.isa);
    let is_fast = |kernel: &RecountKernel| match kernel {
        RecountKernel::Isa(isa) | RecountKernel::First(isa) => cost(*isa) <= most,
        RecountKernel::Oracle => false,
    };
    let others = unused(plan, std::slice::from_ref(first)).into_iter();
    let fastest = others.rev().find(is_fast);
    fastest.unwrap_or(RecountKernel::Isa(settings.isa))
}

/// What decides between `results` of a task that differ: the oracle if it is expected to take ten minutes
/// at most, or if every kernel counted the task; otherwise the widest kernel that did not.
pub fn deciding_kernel(plan: &dyn Plan, results: &[TaskResult]) -> (RecountKernel, Method) {
    let longest = results.iter().map(|result| result.duration).max();
    let oracle = longest
        .unwrap_or_default()
        .saturating_mul(oracle_slower(plan.engine()));
    let used = results
        .iter()
        .map(|result| result.origin.counted_by.clone());
    match unused(plan, &used.collect::<Vec<_>>()).pop() {
        Some(kernel) if oracle > PATIENCE => (kernel, Method::OtherKernel),
        _ => (RecountKernel::Oracle, Method::Oracle),
    }
}

/// Chooses the kernel of a task, by its index in the plan.
pub type ChooseKernel = Arc<dyn Fn(u64) -> RecountKernel + Send + Sync>;

/// A plan whose tasks are counted on the CPU by a kernel that is chosen for each task.
pub struct RecountPlan {
    /// The plan.
    pub plan: Arc<dyn Plan>,
    /// Which kernel counts a task on the CPU.
    pub choose: ChooseKernel,
    /// Whether devices count by the [`relauncher`](Plan::relauncher).
    pub relaunches: bool,
}

impl Plan for RecountPlan {
    fn name(&self) -> PlanName {
        self.plan.name()
    }

    fn given(&self) -> GivenBoard {
        self.plan.given()
    }

    fn tasks(&self) -> u64 {
        self.plan.tasks()
    }

    fn task(&self, index: u64) -> Task {
        self.plan.task(index)
    }

    fn ranks_of(&self, index: u64) -> Range<u64> {
        self.plan.ranks_of(index)
    }

    fn total_cost(&self) -> f64 {
        self.plan.total_cost()
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        Box::new(RecountCounter {
            plan: Arc::clone(&self.plan),
            choose: Arc::clone(&self.choose),
            settings: settings.clone(),
            counter: None,
        })
    }

    fn oracle(&self) -> Box<dyn Counter> {
        self.plan.oracle()
    }

    fn canary(&self) -> Option<Canary> {
        self.plan.canary()
    }

    /// By the kernel of the settings: it shows whether the hardware counts correctly, whatever kernel a task takes.
    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        self.plan.canary_counter(settings)
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        match self.relaunches {
            true => self.plan.relauncher(),
            false => self.plan.launcher(),
        }
    }
}

struct RecountCounter {
    plan: Arc<dyn Plan>,
    choose: ChooseKernel,
    settings: CounterSettings,
    /// The counter that was used last. Two at once could need twice the memory.
    counter: Option<(RecountKernel, Box<dyn Counter>)>,
}

impl Counter for RecountCounter {
    /// The kernel of the last task.
    fn backend(&self) -> &'static str {
        match &self.counter {
            Some((_, counter)) => counter.backend(),
            None => self.plan.recounter(&self.settings).backend(),
        }
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let kernel = (self.choose)(task.key.index);
        if self.counter.as_ref().is_none_or(|(own, _)| *own != kernel) {
            self.counter = None;
        }
        let plan = self.plan.as_ref();
        let (_, counter) = self
            .counter
            .get_or_insert_with(|| (kernel, kernel.counter(plan)));
        counter.count_watched(task, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::chain::ChainPlan;
    use crate::colour::ColourPlan;
    use crate::engine::{Origin, WorkerId};

    fn settings() -> CounterSettings {
        CounterSettings { isa: Isa::best() }
    }

    #[test]
    fn a_second_count_is_by_another_kernel_that_is_not_much_slower() {
        let plan = ChainPlan::new(Size::new(18).unwrap());
        for first in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let by = CountedBy::Cpu(first.name().into());
            let RecountKernel::Isa(second) = second_kernel(&plan, &settings(), &by) else {
                panic!("the oracle");
            };
            let cost = |isa| core_seconds(Engine::Chain, plan.size(), isa);
            assert!(cost(second) <= SLOWEST * cost(Isa::best()));
            let others = Isa::ALL.into_iter().filter(|isa| {
                isa.is_available() && *isa != first && cost(*isa) <= SLOWEST * cost(Isa::best())
            });
            assert_eq!(second == first, others.count() == 0, "{first}, {second}");
        }
    }

    #[test]
    fn the_oracle_decides_short_tasks_and_a_third_kernel_long_ones() {
        let result = |plan: &dyn Plan, by: &str, duration| TaskResult {
            key: plan.key(0),
            tally: Tally::default(),
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu(by.to_owned().into()),
            },
            audited_by: None,
            duration,
        };
        let (short, long) = (Duration::from_secs(1), Duration::from_secs(3600));
        let (n, best) = (Size::new(18).unwrap(), Isa::best());
        let chain = ChainPlan::new(n);
        let of = |duration| deciding_kernel(&chain, &[result(&chain, best.name(), duration)]);
        assert_eq!(of(short), (RecountKernel::Oracle, Method::Oracle));
        if best != Isa::Portable {
            let (kernel, method) = of(long);
            assert_eq!(method, Method::OtherKernel);
            assert_ne!(kernel, RecountKernel::Isa(best));
        }
        // Of two ways, the one by which nobody counted comes first; else a kernel that did not count.
        let colour = ColourPlan::new(n);
        let transposed = colour.kernels(best)[1];
        for (used, kernel) in [
            (&["cuda"][..], RecountKernel::Isa(best)),
            (&["cuda-transposed"], RecountKernel::First(best)),
            (&["cuda", transposed], RecountKernel::First(best)),
            (&["cuda-transposed", best.name()], RecountKernel::Isa(best)),
        ] {
            let results = used.iter().map(|by| result(&colour, by, long));
            let results: Vec<_> = results.collect();
            assert_eq!(deciding_kernel(&colour, &results).0, kernel, "{used:?}");
        }
    }

    #[test]
    fn each_task_is_counted_by_the_kernel_that_was_chosen() {
        let plan: Arc<dyn Plan> = Arc::new(ChainPlan::new(Size::new(13).unwrap()));
        let recount = RecountPlan {
            plan: Arc::clone(&plan),
            choose: Arc::new(|task| match task % 2 {
                0 => RecountKernel::Oracle,
                _ => RecountKernel::Isa(Isa::Portable),
            }),
            relaunches: true,
        };
        let mut counter = recount.counter(&settings());
        let mut first = plan.counter(&settings());
        for index in 0..4.min(plan.tasks()) {
            let task = plan.task(index);
            let (one, other) = (first.count(&task).unwrap(), counter.count(&task).unwrap());
            assert!(one.agrees_with(&other));
            let portable = counter.backend() == "portable";
            assert_eq!(portable, index % 2 == 1);
        }
    }
}
