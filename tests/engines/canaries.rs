//! The known counts of canaries are those of the oracles, and every kernel counts them.

use std::sync::Arc;

use queenfold::board::{Size, known};
use queenfold::engine::{CounterSettings, Engine, Plan, Tally};
use queenfold::job::plan;
use queenfold::simd::Isa;

fn of(engine: Engine, n: u32) -> Arc<dyn Plan> {
    plan(engine, Size::new(n).unwrap())
}

/// Boards with different canaries or kernels: n, and how many solutions the canary has if it is a board.
const BOARDS: [(Engine, u32); 7] = [
    (Engine::Chain, 18),
    (Engine::Chain, 19),
    (Engine::Colour, 20),
    (Engine::Colour, 21),
    (Engine::Colour, 30),
    (Engine::Census, 20),
    (Engine::Census, 25),
];

#[test]
fn the_oracle_counts_what_is_known_of_every_canary() {
    for (engine, n) in BOARDS {
        let canary = of(engine, n).canary().unwrap();
        let small = of(engine, canary.size().get());
        assert_eq!(canary.plan(), small.name());
        assert!(canary.tasks().len() >= 32);
        let mut oracle = small.oracle();
        let mut sum = Tally::default();
        for at in 0..canary.tasks().len() {
            let tally = oracle.count(&canary.task(at)).unwrap();
            canary.compare(at, &tally).unwrap();
            sum += tally;
            let mut wrong = tally;
            wrong.r180 += 1;
            assert!(canary.compare(at, &wrong).is_err());
        }
        let known = known(canary.size()).unwrap();
        let whole = match engine {
            Engine::Chain | Engine::Colour => Some(known.total),
            Engine::Census => Some(known.r180 + known.r90),
            _ => None,
        };
        assert!(whole.is_none_or(|whole| whole == sum.found()), "{engine}");
    }
}

#[test]
fn every_kernel_counts_every_canary_and_is_the_one_that_counts_the_run() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let settings = CounterSettings { isa };
        for (engine, n) in BOARDS {
            let plan = of(engine, n);
            let canary = plan.canary().unwrap();
            let mut counter = plan.canary_counter(&settings);
            assert_eq!(counter.backend(), plan.counter(&settings).backend());
            for at in 0..canary.tasks().len() {
                let tally = counter.count(&canary.task(at)).unwrap();
                canary.compare(at, &tally).unwrap();
            }
        }
    }
}
