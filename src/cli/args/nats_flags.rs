//! The flags that say which NATS server is used.

use std::path::PathBuf;

use async_nats::ServerAddr;

use crate::cluster::nats::Server;

/// Which server, and with what to connect to it.
#[derive(Debug, clap::Args)]
pub struct NatsFlags {
    /// The NATS server, such as `nats://host:4222` or `tls://host:4222`
    #[arg(long = "nats", value_name = "URL", value_parser = url)]
    url: String,

    /// A file with the user for the server: `NAME:PASSWORD`, an nkey seed, or a .creds file
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,

    /// The certificate of the authority that signed the server's, in PEM; the connection must use TLS then
    #[arg(long, value_name = "FILE")]
    authority: Option<PathBuf>,
}

/// Refuses what is no URL before anything is made for a run.
fn url(text: &str) -> Result<String, String> {
    match text.parse::<ServerAddr>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!(
            "{error}; write nats://HOST:PORT or tls://HOST:PORT"
        )),
    }
}

impl NatsFlags {
    /// The server.
    pub fn server(&self) -> Server {
        Server {
            url: self.url.clone(),
            credentials: self.credentials.clone(),
            authority: self.authority.clone(),
        }
    }
}
