//! The NATS server of a run, and how to connect to it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::{Client, ConnectOptions};

/// How soon a connection that is cut without a word is noticed: after two of these.
const PING: Duration = Duration::from_secs(5);

/// How long a first connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A server, and with what to connect to it.
#[derive(Clone, Debug)]
pub struct Server {
    /// Such as `nats://host:4222`, or `tls://host:4222`.
    pub url: String,
    /// A file with a user: `NAME:PASSWORD`, an nkey seed, or a `.creds` file.
    pub credentials: Option<PathBuf>,
    /// The certificate of the authority that signed that of the server.
    pub authority: Option<PathBuf>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("{server}: {why}")]
pub struct ServerError {
    server: String,
    why: String,
}

impl Server {
    /// Connects. A connection that is lost later is made again, however long that takes.
    ///
    /// # Errors
    /// A file cannot be read; the server does not answer or refuses the user.
    pub async fn connect(&self, name: &str) -> Result<Client, ServerError> {
        let mut options = ConnectOptions::new()
            .name(name)
            .ping_interval(PING)
            .connection_timeout(CONNECT);
        if let Some(path) = &self.credentials {
            options = self.user(options, path)?;
        }
        if let Some(path) = &self.authority {
            // The library would name no file.
            fs::metadata(path).map_err(|error| self.file_error(path, &error))?;
            options = options
                .add_root_certificates(path.clone())
                .require_tls(true);
        }
        let connected = options.connect(self.url.as_str()).await;
        connected.map_err(|error| self.error(error))
    }

    fn user(&self, options: ConnectOptions, path: &Path) -> Result<ConnectOptions, ServerError> {
        let text = fs::read_to_string(path).map_err(|error| self.file_error(path, &error))?;
        let text = text.trim();
        if text.contains("-----BEGIN") {
            return options
                .credentials(text)
                .map_err(|error| self.file_error(path, &error));
        }
        if let Some((user, password)) = text.split_once(':') {
            return Ok(options.user_and_password(user.to_owned(), password.to_owned()));
        }
        match text.starts_with("SU") && !text.contains(char::is_whitespace) {
            true => Ok(options.nkey(text.to_owned())),
            false => Err(self.file_error(
                path,
                &"expected NAME:PASSWORD, an nkey seed (SU…), or a .creds file",
            )),
        }
    }

    fn file_error(&self, path: &Path, error: &dyn fmt::Display) -> ServerError {
        self.error(format!("{}: {error}", path.display()))
    }

    /// The URL for people to read.
    pub fn url_without_password(&self) -> String {
        let scheme = self.url.split_once("://").map_or("", |(scheme, _)| scheme);
        match self.url.rsplit_once('@') {
            Some((_, host)) => format!("{scheme}://{host}"),
            None => self.url.clone(),
        }
    }

    /// An error of this server.
    pub fn error(&self, why: impl fmt::Display) -> ServerError {
        ServerError {
            server: self.url_without_password(),
            why: why.to_string(),
        }
    }
}
