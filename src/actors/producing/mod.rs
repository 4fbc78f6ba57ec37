//! Which task is next, and for whom? Sources of tasks, the producer, and the queue that workers take batches from.

pub(super) mod balance;
pub(super) mod producer;
pub(super) mod queue;
pub(super) mod source;
