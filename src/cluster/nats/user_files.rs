//! The users of a NATS server, one for each host, as files: what the server is to include, and what each host gets.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::subjects::is_plain;
use crate::ledger::hex;
use crate::system::files::for_owner;

/// How a file with the user of a host ends. It is what `--credentials` takes.
const EXTENSION: &str = "credentials";

/// The file that the server includes.
const CONFIGURATION: &str = "hosts.conf";

/// The user of `serve`.
const COORDINATOR: &str = "coordinator";

/// Why a host gets no user.
#[derive(Debug, thiserror::Error)]
pub enum UserFileError {
    /// It cannot have this name.
    #[error(
        "`{0}` names no host: use up to 64 letters, digits, - and _, and none of `coordinator`, `worker` and `any`"
    )]
    Name(String),
    /// It has one.
    #[error("{} is there already: remove the host first, to give it another secret", .0.display())]
    There(PathBuf),
    /// There is none.
    #[error("there is no {}", .0.display())]
    Missing(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {why}", file.display())]
    Io {
        /// Which.
        file: PathBuf,
        /// Why.
        why: io::Error,
    },
}

fn io_error(file: &Path, why: io::Error) -> UserFileError {
    let file = file.to_owned();
    UserFileError::Io { file, why }
}

/// The folder of these files.
pub struct UserFiles(PathBuf);

impl UserFiles {
    /// The folder, which is made if need be.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: &Path) -> Result<Self, UserFileError> {
        fs::create_dir_all(folder).map_err(|error| io_error(folder, error))?;
        Ok(Self(folder.to_owned()))
    }

    /// The file that the server includes.
    pub fn configuration(&self) -> PathBuf {
        self.0.join(CONFIGURATION)
    }

    /// The file of the coordinator.
    pub fn coordinator(&self) -> PathBuf {
        self.file(COORDINATOR)
    }

    /// Makes users for hosts, and one for the coordinator unless there is one. Returns the files that the hosts get.
    ///
    /// # Errors
    /// See [`UserFileError`].
    pub fn add(&self, hosts: &[String]) -> Result<Vec<PathBuf>, UserFileError> {
        for host in hosts {
            check(host)?;
            let file = self.file(host);
            if file.exists() {
                return Err(UserFileError::There(file));
            }
        }
        if !self.coordinator().exists() {
            self.make(COORDINATOR)?;
        }
        let made: Result<_, _> = hosts.iter().map(|host| self.make(host)).collect();
        let made = made?;
        self.configure()?;
        Ok(made)
    }

    /// Removes the users of hosts.
    ///
    /// # Errors
    /// See [`UserFileError`].
    pub fn remove(&self, hosts: &[String]) -> Result<(), UserFileError> {
        for host in hosts {
            check(host)?;
            let file = self.file(host);
            match fs::remove_file(&file) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(UserFileError::Missing(file));
                }
                Err(error) => return Err(io_error(&file, error)),
            }
        }
        self.configure()
    }

    fn file(&self, user: &str) -> PathBuf {
        self.0.join(user).with_extension(EXTENSION)
    }

    fn make(&self, user: &str) -> Result<PathBuf, UserFileError> {
        let file = self.file(user);
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)
            .map_err(|error| io::Error::other(error.to_string()))
            .and_then(|()| write_new(&file, &format!("{user}:{}\n", hex(&secret))))
            .map_err(|error| io_error(&file, error))?;
        Ok(file)
    }

    /// Writes what the server includes, from the users that have files.
    fn configure(&self) -> Result<(), UserFileError> {
        let failed = |error| io_error(&self.configuration(), error);
        let mut users = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|is| is == EXTENSION) {
                let text = fs::read_to_string(&path).map_err(|error| io_error(&path, error))?;
                if let Some((name, secret)) = text.trim().split_once(':')
                    && is_plain(name)
                    && is_plain(secret)
                {
                    users.push(user(name, secret));
                }
            }
        }
        users.sort();
        let text = format!(
            "# Written by `queenfold hosts`: a user for each host, and what it may do (docs/CLUSTER.md). Nobody else may \
             read it.\n\nauthorization {{\n    users: [\n{}    ]\n}}\n",
            users.concat()
        );
        let draft = self.0.join("hosts.conf.new");
        // What a kill has left.
        let _ = fs::remove_file(&draft);
        write_new(&draft, &text)
            .and_then(|()| fs::rename(&draft, self.configuration()))
            .map_err(failed)
    }
}

/// Writes a file that nobody else may read.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let made = for_owner(&mut options)
        .write(true)
        .create_new(true)
        .open(file);
    made.and_then(|mut file| file.write_all(text.as_bytes()))
}

fn check(host: &str) -> Result<(), UserFileError> {
    let is_reserved = [COORDINATOR, "worker", "any"].contains(&host);
    match is_plain(host) && !is_reserved {
        true => Ok(()),
        false => Err(UserFileError::Name(host.to_owned())),
    }
}

/// A user, with what it may say and hear.
fn user(name: &str, secret: &str) -> String {
    let (publish, subscribe) = match name == COORDINATOR {
        true => (
            r#""queenfold.*.down.*.*", "queenfold.*.lease.*.*", "queenfold.*.coordinator", "$JS.API.>", "_INBOX.>""#
                .to_owned(),
            r#""queenfold.*.up.*.*", "queenfold.*.coordinator", "_INBOX.coordinator.>""#.to_owned(),
        ),
        false => (
            format!(
                r#""queenfold.*.up.{name}.*", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.MSG.NEXT.*.*", "$JS.ACK.>""#
            ),
            format!(r#""queenfold.*.down.{name}.*", "_INBOX.{name}.>""#),
        ),
    };
    format!(
        "        {{\n            user: \"{name}\"\n            password: \"{secret}\"\n            permissions: {{\n                \
         publish: [{publish}]\n                subscribe: [{subscribe}]\n            }}\n        }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_has_a_secret_of_its_own_and_its_subjects_alone() {
        let folder = tempfile::tempdir().unwrap();
        let files = UserFiles::open(folder.path()).unwrap();
        let names = ["anna", "bob-2"].map(str::to_owned);
        let made = files.add(&names).unwrap();
        let secrets = [&made[0], &made[1], &files.coordinator()].map(|file| {
            let text = fs::read_to_string(file).unwrap();
            text.trim().split_once(':').unwrap().1.to_owned()
        });
        let text = fs::read_to_string(files.configuration()).unwrap();
        for secret in &secrets {
            assert_eq!(text.matches(secret).count(), 1, "{text}");
        }
        for part in ["queenfold.*.up.anna.*", "_INBOX.bob-2.>"] {
            assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
        }
        assert!(matches!(files.add(&names), Err(UserFileError::There(_))));
        files.remove(&names[..1]).unwrap();
        let text = fs::read_to_string(files.configuration()).unwrap();
        assert!(
            !text.contains("anna") && text.contains(&secrets[1]),
            "{text}"
        );
        let missing = files.remove(&names[..1]);
        assert!(matches!(missing, Err(UserFileError::Missing(_))));
        for name in ["", "a b", "a.b", "../a", "any", "worker", "coordinator"] {
            let refused = files.add(&[name.to_owned()]);
            assert!(matches!(refused, Err(UserFileError::Name(_))), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_secrets() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let files = UserFiles::open(folder.path()).unwrap();
        files.add(&["anna".to_owned()]).unwrap();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    }
}
