//! Whether a worker may take part in a run.

use super::protocol::{Hello, Offer};
use crate::ledger::Facts;

/// What becomes of the wish of a worker to take part.
pub enum Admission {
    /// It learns what is counted, and asks again.
    Learns,
    /// It takes part. This is what it runs on.
    TakesPart(Facts),
    /// It may not take part.
    Refused {
        /// Its host, if it said so.
        host: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
}

/// The longest facts that are believed, in bytes: the ledger keeps those of each session.
const MOST_FACTS: usize = 1 << 14;

impl Admission {
    /// Compares what a worker says with what the run has.
    pub fn of(hello: &Hello, offer: &Offer) -> Self {
        let facts = Some(&hello.facts).filter(|facts| facts.len() <= MOST_FACTS);
        let facts = facts.and_then(|facts| serde_json::from_str::<Facts>(facts).ok());
        let Some(facts) = facts else {
            return Self::Refused {
                host: None,
                reason: "it does not say what it runs on".to_owned(),
            };
        };
        match differs(hello, offer) {
            Some(reason) => Self::Refused {
                host: Some(facts.host),
                reason,
            },
            None if hello.plans.is_none() => Self::Learns,
            None => Self::TakesPart(facts),
        }
    }
}

/// What a worker has that differs from what the run has, if anything does. Another version of the program that has the
/// same plans may take part, so that hosts can be updated one after the other.
fn differs(hello: &Hello, offer: &Offer) -> Option<String> {
    let (plans, own) = (hello.plans.as_ref()?, &offer.plans);
    if plans == own {
        return None;
    }
    let differ = match plans.names == own.names {
        true => "whose tasks differ".to_owned(),
        false => format!("and this run has {}", own.names.join(" and ")),
    };
    Some(format!(
        "it has plan {}, {differ}",
        plans.names.join(" and ")
    ))
}
