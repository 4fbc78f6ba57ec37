//! The NATS server of a run, and how to connect to it.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};

use super::subjects::is_plain;

/// How soon a connection that is cut without a word is noticed: after two of these.
const PING: Duration = Duration::from_secs(5);

/// How long a first connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// What stands for the user in subjects where there is none, or one without a name.
pub const NO_USER: &str = "any";

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

/// What happens to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// It is lost, and made again when the server answers.
    Lost,
    /// It is there again.
    Back,
    /// The server refuses something, and why.
    Refused(String),
}

/// Hears what happens to a connection.
pub type ConnectionObserver = Arc<dyn Fn(Connection) + Send + Sync>;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("{server}: {why}")]
pub struct ServerError {
    server: String,
    why: String,
    /// Whether nobody answers, who may do so later.
    pub is_away: bool,
}

impl Server {
    /// The name of the user as a part of subjects, if it has one that may be.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn user_name(&self) -> Result<String, ServerError> {
        let text = match &self.credentials {
            Some(path) => {
                fs::read_to_string(path).map_err(|error| self.file_error(path, &error))?
            }
            None => self.url_user().to_owned(),
        };
        let name = text.trim().split_once(':').map(|(name, _)| name);
        let name = name.filter(|name| is_plain(name));
        Ok(name.unwrap_or(NO_USER).to_owned())
    }

    /// `NAME:PASSWORD` in the URL.
    fn url_user(&self) -> &str {
        let behind = self.url.split_once("://").map_or("", |(_, behind)| behind);
        behind.rsplit_once('@').map_or("", |(user, _)| user)
    }

    /// Connects. A connection that is lost later is made again, however long that takes; `observer` hears of it.
    ///
    /// # Errors
    /// A file cannot be read; the server does not answer or refuses the user.
    pub async fn connect(
        &self,
        name: &str,
        observer: ConnectionObserver,
    ) -> Result<Client, ServerError> {
        let is_lost = AtomicBool::new(false);
        let mut options = ConnectOptions::new()
            .name(name)
            .event_callback(move |event| {
                match event {
                    Event::Disconnected => {
                        is_lost.store(true, Ordering::Relaxed);
                        observer(Connection::Lost);
                    }
                    // The first time, it is no news.
                    Event::Connected if is_lost.swap(false, Ordering::Relaxed) => {
                        observer(Connection::Back);
                    }
                    Event::ServerError(error) => observer(Connection::Refused(error.to_string())),
                    _ => {}
                }
                async {}
            })
            .ping_interval(PING)
            .connection_timeout(CONNECT)
            // So that the server can let each user hear the answers to its own questions alone.
            .custom_inbox_prefix(format!("_INBOX.{}", self.user_name()?));
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
        connected.map_err(|error| ServerError {
            is_away: is_away(&error),
            ..self.error(error)
        })
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
            is_away: false,
        }
    }
}

/// Whether a server that is not up yet, or a network, would be told of so.
fn is_away(error: &ConnectError) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable, TimedOut,
    };
    let of_system = || {
        let kind = error.source()?.downcast_ref::<io::Error>()?.kind();
        let kinds = [
            ConnectionRefused,
            ConnectionReset,
            HostUnreachable,
            NetworkUnreachable,
            TimedOut,
        ];
        Some(kinds.contains(&kind))
    };
    match error.kind() {
        ConnectErrorKind::TimedOut | ConnectErrorKind::Dns => true,
        ConnectErrorKind::Io => of_system().unwrap_or(false),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_has_the_name_of_its_credentials() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("user");
        let name = |url: &str, credentials: Option<&str>| {
            fs::write(&file, credentials.unwrap_or_default()).unwrap();
            let server = Server {
                url: url.to_owned(),
                credentials: credentials.map(|_| file.clone()),
                authority: None,
            };
            server.user_name().unwrap()
        };
        assert_eq!(name("nats://host", None), NO_USER);
        assert_eq!(name("nats://anna:secret@host", None), "anna");
        assert_eq!(name("nats://anna:a@host", Some("bob-1:b:c\n")), "bob-1");
        for other in ["a.b:c", "SUAXYZ", "-----BEGIN NATS USER JWT-----\n", ":x"] {
            assert_eq!(name("nats://host", Some(other)), NO_USER, "{other}");
        }
    }
}
