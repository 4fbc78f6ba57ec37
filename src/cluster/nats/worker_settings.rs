use std::path::PathBuf;
use std::sync::Arc;

use super::server::Server;
use super::subjects::RunName;

/// What a worker needs to find its run.
#[derive(Clone)]
pub struct WorkerSettings {
    /// The server.
    pub server: Server,
    /// The name of the run there.
    pub run: RunName,
    /// Where journals are kept; `None`: nowhere, so that what has no receipt is lost with the process.
    pub journals: Option<PathBuf>,
    /// Tells the user something.
    pub note: Arc<dyn Fn(&str) + Send + Sync>,
    /// Whether the worker is to stop before it has found its run.
    pub stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}
