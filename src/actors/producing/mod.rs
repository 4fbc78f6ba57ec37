//! Which task is next, and for whom? Sources of tasks, the producer, and the queue that workers take batches from.
//!
//! * `source`: which tasks of a plan a run counts.
//! * `producer`: the actor that cuts them into batches; `queue`: where these wait.
//! * `balance`: how much each worker and device gets, so that all finish together.

pub(super) mod balance;
pub(super) mod producer;
pub(super) mod queue;
pub(super) mod source;
