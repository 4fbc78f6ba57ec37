//! The second method of an audit: which counter checks a result.

use super::origin::is_transposed;
use super::{CountedBy, Counter, Plan, RecountKernel};
use crate::simd::Isa;

/// A counter of the same tasks by another kernel than those `used`, to check what these counted: that of the widest
/// instruction set which counts the other way, because it costs little; else the oracle of the plan. `None` where the
/// oracle is one of them itself.
pub fn other_counter(plan: &dyn Plan, used: &[CountedBy]) -> Option<Box<dyn Counter>> {
    let kernels = unused(plan, used).into_iter().rev();
    kernels
        .chain([RecountKernel::Oracle])
        .map(|kernel| kernel.counter(plan))
        .find(|counter| !is_used(counter.backend(), used))
}

/// The kernels of this machine that are not among those `used`. The best one is the last: first those that count the way
/// by which nobody counted, if the plan has two, then the widest.
pub(super) fn unused(plan: &dyn Plan, used: &[CountedBy]) -> Vec<RecountKernel> {
    let both = |isa: Isa| {
        let [first, other] = plan.kernels(isa);
        [
            (first, RecountKernel::First(isa)),
            (other, RecountKernel::Isa(isa)),
        ]
    };
    let machine = Isa::ALL.into_iter().filter(|isa| isa.is_available());
    let kernels = machine
        .flat_map(both)
        .filter(|(name, _)| !is_used(name, used));
    let is_known_way = |(name, _): &(&str, _)| {
        let way = is_transposed(name);
        used.iter().any(|used| used.is_transposed() == way)
    };
    let (known, other): (Vec<_>, Vec<_>) = kernels.partition(is_known_way);
    known
        .into_iter()
        .chain(other)
        .map(|(_, kernel)| kernel)
        .collect()
}

fn is_used<'a>(kernel: &str, used: impl IntoIterator<Item = &'a CountedBy>) -> bool {
    used.into_iter().any(|by| by.is_kernel(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::census::CensusPlan;
    use crate::engine::CounterSettings;

    #[test]
    fn the_second_kernel_is_never_the_first() {
        let plan = CensusPlan::new(Size::new(8).unwrap());
        let settings = CounterSettings { isa: Isa::best() };
        let first = plan.counter(&settings).backend();
        let second = other_counter(&plan, &[CountedBy::Cpu(first.into())]).unwrap();
        assert_ne!(second.backend(), first);
        let second = CountedBy::Cpu(second.backend().into());
        let third = other_counter(&plan, &[second]).unwrap();
        assert_eq!(third.backend(), first);
    }
}
