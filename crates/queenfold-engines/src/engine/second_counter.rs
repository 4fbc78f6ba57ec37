//! The second method of an audit: which counter checks a result.

use super::{CountedBy, Counter, CounterSettings, Plan};
use crate::simd::Isa;

/// A counter of the same tasks by another kernel than `first`, to check what that one counted: the
/// [`recounter`](Plan::recounter) of the widest instruction set, because it costs little; else the oracle of the
/// plan. `None` where the oracle is the first kernel itself.
pub fn second_counter(plan: &dyn Plan, first: &CountedBy) -> Option<Box<dyn Counter>> {
    other_counter(plan, std::slice::from_ref(first))
}

/// The same for a task that several kernels have counted: none of them.
pub fn other_counter(plan: &dyn Plan, used: &[CountedBy]) -> Option<Box<dyn Counter>> {
    let widest = Isa::ALL.into_iter().rev();
    widest
        .filter(|isa| isa.is_available() && !is_used(plan.recount_kernel(*isa), used))
        .map(|isa| plan.recounter(&CounterSettings { isa }))
        .chain(std::iter::once_with(|| plan.oracle()))
        .find(|counter| !is_used(counter.backend(), used))
}

/// The instruction sets of this machine whose kernels are not among those `used`, the widest last.
pub(super) fn unused<'a>(
    used: impl IntoIterator<Item = &'a CountedBy, IntoIter: Clone + 'a>,
) -> impl DoubleEndedIterator<Item = Isa> + 'a {
    let used = used.into_iter();
    Isa::ALL
        .into_iter()
        .filter(move |isa| isa.is_available() && !is_used(isa.name(), used.clone()))
}

fn is_used<'a>(kernel: &str, used: impl IntoIterator<Item = &'a CountedBy>) -> bool {
    used.into_iter().any(|by| by.is_kernel(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::census::CensusPlan;

    #[test]
    fn the_second_kernel_is_never_the_first() {
        let plan = CensusPlan::new(Size::new(8).unwrap());
        let settings = CounterSettings { isa: Isa::best() };
        let first = plan.counter(&settings).backend();
        let second = second_counter(&plan, &CountedBy::Cpu(first.into())).unwrap();
        assert_ne!(second.backend(), first);
        let second = CountedBy::Cpu(second.backend().into());
        let third = second_counter(&plan, &second).unwrap();
        assert_eq!(third.backend(), first);
    }
}
