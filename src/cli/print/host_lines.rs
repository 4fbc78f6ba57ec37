//! What each host did of a run, as lines and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::actors::SickWorker;
use crate::ledger::{HostShare, unix_time};
use crate::telemetry::{RunFacts, duration, rate, several};

/// A line of a status for each host, with its share of the work, its speed, and when it was last seen.
pub fn host_lines(hosts: &BTreeMap<String, HostShare>) -> Vec<String> {
    let all = HostShare::all_nodes(hosts);
    let line = |(name, host): (&String, &HostShare)| {
        let seen = Duration::from_secs(seen_ago(host));
        let mut line = format!(
            "host        {name}: {}, {:.1} % of the nodes, {} in {}, last seen {} ago, {}",
            several(host.tasks, "task"),
            100.0 * host.share_of(all),
            rate(host.nodes, host.elapsed),
            several(host.sessions, "session"),
            duration(seen),
            several(host.audits, "audit"),
        );
        if !host.devices.is_empty() {
            let devices: Vec<_> = host.devices.iter().map(String::as_str).collect();
            line += &format!(", {}", devices.join(", "));
        }
        line
    };
    hosts.iter().map(line).collect()
}

/// The same for programs.
pub fn host_json(hosts: &BTreeMap<String, HostShare>) -> Json {
    let all = HostShare::all_nodes(hosts);
    let object = |(name, host): (&String, &HostShare)| {
        json!({
            "host": name,
            "tasks": host.tasks,
            "nodes": host.nodes.to_string(),
            "share": host.share_of(all),
            "nodes_per_second": host.nodes_per_second(),
            "sessions": host.sessions,
            "last_seen_seconds": seen_ago(host),
            "audits": host.audits,
            "devices": host.devices,
        })
    };
    hosts.iter().map(object).collect()
}

/// Seconds since the last commit. The clocks of two machines may differ.
fn seen_ago(host: &HostShare) -> u64 {
    u64::try_from(unix_time().saturating_sub(host.last_seen)).unwrap_or(0)
}

/// A line for each worker that counted wrongly, with what it counted wrongly.
pub fn faulty_lines(facts: &RunFacts) -> impl Iterator<Item = String> {
    let reasons = facts.faulty.iter().map(|(_, sick)| &sick.reason);
    let lines = facts.faulty().zip(reasons);
    lines.map(|(fact, reason)| format!("{}: {reason}", fact.line()))
}

/// The same for programs.
pub fn sick_json(sick: &[(String, SickWorker)]) -> Json {
    let object = |(host, sick): &(String, SickWorker)| {
        json!({
            "worker": sick.worker.to_string(),
            "host": host,
            "doubted": sick.suspects,
            "reason": sick.reason,
        })
    };
    sick.iter().map(object).collect()
}
