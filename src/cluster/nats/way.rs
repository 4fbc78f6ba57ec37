//! The way of leases from the coordinator to a worker: a JetStream stream, and a pull consumer for each worker.
//!
//! The stream only saves a worker that was cut off from waiting: nothing depends on what the server says it has
//! stored. What does not arrive is sent again, and a stream that was lost is made again, from what the ledger says is
//! left.

use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};

use super::subjects::{RunName, session};

/// How long a lease stays in the stream. It ended long ago if nobody took it.
const KEPT: Duration = Duration::from_secs(15 * 60);

/// How long a consumer stays that nobody asks.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// How long a message that was not acknowledged waits before it is sent again.
const ACKNOWLEDGED: Duration = Duration::from_secs(10);

/// The most leases in the stream for one worker. It holds a few at a time.
const LEASES: i64 = 64;

/// The most consumers of the stream: a ledger takes no more sessions. Unless a stream says so, a server from 2.15 on
/// allows a thousand (nats-server, pull request 8337).
const CONSUMERS: i32 = 1 << 16;

/// Makes the stream of a run, unless it is there.
pub async fn make_stream(context: &Context, run: &RunName) -> Result<(), String> {
    let config = Config {
        name: run.stream(),
        description: Some("leases of a run of Queenfold".to_owned()),
        subjects: vec![run.lease("*.*")],
        retention: RetentionPolicy::Limits,
        discard: DiscardPolicy::Old,
        max_consumers: CONSUMERS,
        max_messages_per_subject: LEASES,
        max_age: KEPT,
        storage: StorageType::File,
        num_replicas: 1,
        ..Config::default()
    };
    let made = context.get_or_create_stream(config).await;
    made.map(drop).map_err(|error| error.to_string())
}

/// Makes the consumer of a worker, and the stream if it is gone.
pub async fn make_consumer(context: &Context, run: &RunName, worker: &str) -> Result<(), String> {
    make_stream(context, run).await?;
    let config = pull::Config {
        durable_name: Some(session(worker).to_owned()),
        filter_subject: run.lease(worker),
        ack_policy: AckPolicy::Explicit,
        ack_wait: ACKNOWLEDGED,
        // As often as it takes.
        max_deliver: -1,
        inactive_threshold: IDLE,
        // Who has read what is not worth a write to the disk: leases have names.
        memory_storage: true,
        ..pull::Config::default()
    };
    let made = context
        .create_consumer_on_stream(config, run.stream())
        .await;
    made.map(drop).map_err(|error| error.to_string())
}

/// Puts a lease on the way of a worker.
pub async fn send(
    context: &Context,
    run: &RunName,
    worker: &str,
    lease: Vec<u8>,
) -> Result<(), String> {
    let sent = context.publish(run.lease(worker), lease.into()).await;
    let sent = sent.map_err(|error| error.to_string())?;
    sent.await.map(drop).map_err(|error| error.to_string())
}

/// Removes the consumer of a worker.
pub async fn remove_consumer(context: &Context, run: &RunName, worker: &str) {
    // It would be removed when nobody has asked it for long.
    let _ = context
        .delete_consumer_from_stream(session(worker), run.stream())
        .await;
}

/// The leases of a worker.
pub async fn leases(
    context: &Context,
    run: &RunName,
    worker: &str,
) -> Result<pull::Stream, String> {
    let consumer: async_nats::jetstream::consumer::Consumer<pull::Config> = context
        .get_consumer_from_stream(session(worker), run.stream())
        .await
        .map_err(|error| error.to_string())?;
    consumer
        .stream()
        .max_messages_per_batch(8)
        .expires(Duration::from_secs(20))
        .heartbeat(Duration::from_secs(3))
        .messages()
        .await
        .map_err(|error| error.to_string())
}
