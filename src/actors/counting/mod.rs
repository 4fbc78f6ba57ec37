//! Who counts? CPU workers and devices, their tries of a task, canaries and audits.
//!
//! * `worker`: the actor of a CPU worker or device; `cpu_worker` and `device_loop`: what their threads do.
//! * `attempt`: one try of a task on the CPU; `in_flight`: the tasks that are counted now, and when they are given up.
//! * `audit`: which tasks are counted a second time; `canary_schedule`: when canaries are due.

pub(super) mod attempt;
pub(super) mod audit;
pub(super) mod canary_schedule;
pub(super) mod cpu_worker;
pub(super) mod device_loop;
pub(super) mod in_flight;
pub(super) mod worker;
