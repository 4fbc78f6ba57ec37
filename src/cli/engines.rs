use std::sync::Arc;

use crate::board::Size;
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::config::Auto;
use crate::engine::{Engine, Plan};
use crate::join::JoinPlan;
use crate::simd::Isa;

/// The smallest even and the smallest odd board that the join counts faster, by instruction set.
/// The middle row costs the join more than the chain, so that odd boards come later.
///
/// Measured by `queenfold bench --calibrate`: CPU seconds of one core, chain and join. Portable and
/// AVX2 on an AMD EPYC (Zen 3), AVX-512 on an AMD EPYC (Zen 5), both on 2026-11-22 on two shared cores
/// with other work beside, so that the ratios are good to a quarter.
///
/// | n | portable | AVX2 | AVX-512 |
/// |---|---|---|---|
/// | 12 | 0.0013, 0.0010 | 0.0005, 0.0006 | 0.0002, 0.0004 |
/// | 13 | 0.0055, 0.0065 | 0.0015, 0.0050 | 0.0004, 0.0028 |
/// | 14 | 0.029, 0.012 | 0.0066, 0.0050 | 0.0013, 0.0022 |
/// | 15 | 0.18, 0.10 | 0.036, 0.050 | 0.0058, 0.018 |
/// | 16 | 1.16, 0.25 | 0.22, 0.091 | 0.033, 0.026 |
/// | 17 | 7.8, 1.9 | 1.49, 0.78 | 0.23, 0.175 |
/// | 18 | 59, 9.1 | 11.4, 2.7 | 1.69, 0.66 |
const fn first_join(isa: Isa) -> [u32; 2] {
    match isa {
        Isa::Portable => [14, 15],
        // At 14 the join makes up for its start in long tasks only: whole runs took 0.0067 and 0.0087 s.
        Isa::Avx2 => [16, 17],
        // Whole runs of 16 and 17 queens by two workers take as long by either.
        Isa::Avx512 => [18, 19],
    }
}

/// The largest board that the join is taken for: a few sets of 29 to 32 queens are all that was
/// counted of larger ones, and beyond 29 there are more tasks than a ledger keeps.
const LAST_JOIN: u32 = 28;

/// The engine for the board: the one asked for, or the fastest with `isa` and without devices.
pub fn choose(asked: Auto<Engine>, n: Size, isa: Isa) -> Engine {
    let first = first_join(isa)[(n.get() % 2) as usize];
    let join_is_faster = (first..=LAST_JOIN).contains(&n.get());
    asked.0.unwrap_or(if join_is_faster {
        Engine::Join
    } else {
        Engine::Chain
    })
}

/// The plan of an engine for the board.
pub fn plan(engine: Engine, n: Size) -> Arc<dyn Plan> {
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(n)),
        Engine::Join => Arc::new(JoinPlan::new(n)),
        Engine::Census => Arc::new(CensusPlan::new(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_the_join_for_large_boards() {
        use Engine::{Chain, Join};
        let choose = |n| super::choose(Auto(None), Size::new(n).unwrap(), Isa::Avx512);
        assert_eq!(
            [1, 16, 17, 18, 19, 28, 29, 32].map(choose),
            [Chain, Chain, Chain, Join, Join, Join, Chain, Chain]
        );
    }

    #[test]
    fn narrower_vectors_take_the_join_no_later() {
        for isas in Isa::ALL.windows(2) {
            let [narrow, wide] = [isas[0], isas[1]].map(first_join);
            assert!(narrow[0] <= wide[0] && narrow[1] <= wide[1], "{isas:?}");
        }
    }

    #[test]
    fn an_engine_asked_for_by_name_is_taken() {
        let n = Size::new(20).unwrap();
        let asked = Auto(Some(Engine::Chain));
        assert_eq!(choose(asked, n, Isa::Portable), Engine::Chain);
    }
}
