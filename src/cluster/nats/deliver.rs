//! Delivers the journal that a worker left that is gone.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use futures_util::StreamExt;
use tokio::time::timeout;
use tracing::warn;

use super::subjects::RunName;
use crate::cluster::lease::{Down, Hello, LARGEST_REPORT, Leftover, Report, Up, decode};

/// How long an answer may take before everything is said again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Delivers everything in a journal, in the name of the worker that left it, and removes it then. If it is refused
/// it stays.
pub(super) async fn deliver(
    client: Client,
    run: RunName,
    user: String,
    left: Leftover,
    note: Arc<dyn Fn(&str) + Send + Sync>,
) {
    let worker = format!("{user}.{}", left.key.session());
    let Ok(mut down) = client.subscribe(run.down(&worker)).await else {
        return;
    };
    let up = run.up(&worker);
    let hello = |first: u64| {
        Up::Hello(Hello {
            facts: left.facts.clone(),
            plans: Some(left.plans.clone()),
            first,
            leases: Vec::new(),
        })
    };
    let end = left.first + left.items.len() as u64;
    let mut first = left.first;
    let mut is_welcome = false;
    while first < end {
        let said = match is_welcome {
            false => hello(first),
            true => {
                let items = &left.items[(first - left.first) as usize..];
                Up::Report(Report {
                    key: left.plans.key,
                    from: first,
                    items: items.iter().take(LARGEST_REPORT).cloned().collect(),
                })
            }
        };
        if client
            .publish(up.clone(), left.key.seal(&said).into())
            .await
            .is_err()
        {
            return;
        }
        match timeout(PATIENCE, down.next()).await {
            Ok(Some(message)) => match decode::<Down>(&message.payload) {
                Ok(Down::Welcome { .. }) => is_welcome = true,
                Ok(Down::Unknown) => is_welcome = false,
                Ok(Down::Receipt(number)) => first = first.max(number.min(end)),
                Ok(Down::Refused(why)) => {
                    warn!("the journal of a worker that is gone was refused: {why}");
                    return;
                }
                _ => {}
            },
            Ok(None) => return,
            Err(_) => {}
        }
    }
    let items = left.items.len();
    if items > 0 {
        // Who has said nothing is not to leave in order: the coordinator may still take this for the worker that is gone,
        // which had no last canary.
        let _ = client.publish(up, left.key.seal(&Up::Leave).into()).await;
    }
    match left.remove() {
        Ok(()) if items > 0 => note(&format!(
            "delivered {items} results that a worker before this one had left"
        )),
        Ok(()) => {}
        Err(error) => warn!("the journal of a worker that is gone cannot be removed: {error}"),
    }
}
