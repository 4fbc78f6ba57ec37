//! Who counts? CPU workers and devices, their tries of a task, canaries and audits.

pub(super) mod attempt;
pub(super) mod audit;
pub(super) mod canary_schedule;
pub(super) mod cpu_worker;
pub(super) mod device_loop;
pub(super) mod in_flight;
pub(super) mod worker;
