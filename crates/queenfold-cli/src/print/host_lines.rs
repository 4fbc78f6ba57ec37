//! What each host did of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use crate::telemetry::Fact;
use queenfold::words::{duration, percent, rate, several};
use queenfold_ledger::ledger::{HostShare, unix_time};

/// Each host, with its share of the work, its speed, and when it was last seen.
pub fn host_fact(hosts: &BTreeMap<String, HostShare>) -> Fact {
    let all = HostShare::all_nodes(hosts);
    let told = hosts.iter().map(|(name, host)| {
        let devices = host.devices.iter().map(|device| format!(", {device}"));
        let line = format!(
            "{name}: {}, {} of the nodes, {} in {}, last seen {} ago, {}{}",
            several(host.tasks, "task"),
            percent(host.share_of(all)),
            rate(host.nodes, host.elapsed),
            several(host.sessions, "session"),
            duration(Duration::from_secs(seen_ago(host))),
            several(host.audits, "audit"),
            devices.collect::<String>(),
        );
        let value = json!({
            "host": name,
            "tasks": host.tasks,
            "nodes": host.nodes.to_string(),
            "share": host.share_of(all),
            "nodes_per_second": host.nodes_per_second(),
            "sessions": host.sessions,
            "last_seen_seconds": seen_ago(host),
            "audits": host.audits,
            "devices": host.devices,
        });
        (line, value)
    });
    let (lines, values): (Vec<_>, Vec<_>) = told.unzip();
    Fact::new("host", lines).key("hosts", values)
}

/// Seconds since the last commit. The clocks of two machines may differ.
pub fn seen_ago(host: &HostShare) -> u64 {
    u64::try_from(unix_time().saturating_sub(host.last_seen)).unwrap_or(0)
}
