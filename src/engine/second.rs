use super::{Counter, CounterSettings, Plan};
use crate::simd::Isa;

/// A counter of the same tasks by another kernel than the one named `first`, to check what that
/// one counted: the kernel of another instruction set, the widest there is, because it costs
/// little; else the oracle of the plan. `None` where the oracle is the first kernel itself.
pub fn second_counter(
    plan: &dyn Plan,
    settings: &CounterSettings,
    first: &str,
) -> Option<Box<dyn Counter>> {
    Isa::ALL
        .into_iter()
        .rev()
        .filter(|isa| isa.is_available() && isa.name() != first)
        .map(|isa| {
            plan.counter(&CounterSettings {
                isa,
                ..settings.clone()
            })
        })
        .chain(std::iter::once_with(|| plan.oracle()))
        .find(|counter| counter.backend() != first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::census::CensusPlan;

    #[test]
    fn the_second_kernel_is_never_the_first() {
        let plan = CensusPlan::new(Size::new(8).unwrap());
        let settings = CounterSettings {
            isa: Isa::best(),
            memory: 1 << 20,
        };
        let first = plan.counter(&settings).backend();
        let second = second_counter(&plan, &settings, first).unwrap();
        assert_ne!(second.backend(), first);
        let third = second_counter(&plan, &settings, second.backend()).unwrap();
        assert_eq!(third.backend(), first);
    }
}
