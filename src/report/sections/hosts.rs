//! What each host did, if there are several.

use std::cmp::Reverse;

use crate::ledger::HostShare;
use crate::report::RunReport;
use crate::report::markup::{name as name_of, table, utc};
use crate::telemetry::rate;

impl RunReport {
    /// The same figures as those of `status`. Those that did most come first.
    pub(in crate::report) fn hosts_section(&self) -> String {
        let hosts = &self.status.hosts;
        if hosts.len() < 2 {
            return String::new();
        }
        let all = HostShare::all_nodes(hosts);
        let mut order: Vec<_> = hosts.iter().collect();
        order.sort_by_key(|(_, host)| Reverse(host.nodes));
        // What no host has needs no column.
        let has_devices = hosts.values().any(|host| !host.devices.is_empty());
        let has_faults = !self.status.sick.is_empty();
        let mut columns = vec![
            "host",
            "share",
            "tasks",
            "speed",
            "sessions",
            "last commit",
            "audits",
        ];
        columns.extend(has_devices.then_some("devices"));
        columns.extend(has_faults.then_some("faulty"));
        let row = |(name, host): (&String, &HostShare)| {
            let mut row = vec![
                name_of(name),
                format!("{:.1} %", 100.0 * host.share_of(all)),
                host.tasks.to_string(),
                rate(host.nodes, host.elapsed),
                host.sessions.to_string(),
                utc(host.last_seen),
                host.audits.to_string(),
            ];
            let devices = host.devices.iter().map(String::as_str);
            row.extend(has_devices.then(|| listed(devices)));
            row.extend(has_faults.then(|| listed(self.faulty_on(name).iter().map(String::as_str))));
            row
        };
        table(
            "Share: of the nodes. Speed: of the sessions, each from its start to its last commit",
            &columns,
            &order.into_iter().map(row).collect::<Vec<_>>(),
        )
    }

    /// Workers and devices of a host that counted wrongly.
    fn faulty_on(&self, host: &str) -> Vec<String> {
        let sick = self.status.sick.iter().filter(|(of, _)| of == host);
        sick.map(|(_, sick)| sick.worker.to_string()).collect()
    }
}

/// Names one after the other.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    match names.as_slice() {
        [] => "–".to_owned(),
        names => name_of(&names.join(", ")),
    }
}
