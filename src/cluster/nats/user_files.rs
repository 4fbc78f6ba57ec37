//! The users of a NATS server, one for each host, as files: what the server is to include, and what each host gets.

use std::collections::BTreeSet;
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

/// How that file begins.
const FIRST_WORDS: &str = "# Written by `queenfold hosts`";

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
    /// A file with this name is no user.
    #[error("{} holds no user: it must be NAME:SECRET, with the name of the file", .0.display())]
    NoUser(PathBuf),
    /// The configuration is that of somebody else.
    #[error("{} is not of `queenfold hosts`, and is not replaced: give another folder", .0.display())]
    Foreign(PathBuf),
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
    /// The folder.
    pub fn of(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// The file that the server includes.
    pub fn configuration(&self) -> PathBuf {
        self.0.join(CONFIGURATION)
    }

    /// The file of the coordinator.
    pub fn coordinator(&self) -> PathBuf {
        self.file(COORDINATOR)
    }

    /// Makes users for hosts, and one for the coordinator unless there is one, and the folder if need be. Returns the files that the hosts get.
    ///
    /// # Errors
    /// See [`UserFileError`].
    pub fn add(&self, hosts: &[String]) -> Result<Vec<PathBuf>, UserFileError> {
        // Everything is checked before anything is written.
        let hosts: BTreeSet<&String> = hosts.iter().collect();
        for host in &hosts {
            check(host)?;
            let file = self.file(host);
            if file.symlink_metadata().is_ok() {
                return Err(UserFileError::There(file));
            }
        }
        fs::create_dir_all(&self.0).map_err(|error| io_error(&self.0, error))?;
        self.check_configuration()?;
        self.users()?;
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
        let hosts: BTreeSet<&String> = hosts.iter().collect();
        for host in &hosts {
            check(host)?;
        }
        fs::metadata(&self.0).map_err(|error| io_error(&self.0, error))?;
        self.check_configuration()?;
        let mut files = hosts.iter().map(|host| self.file(host));
        if let Some(missing) = files.find(|file| file.symlink_metadata().is_err()) {
            // A host whose file is gone is no user any more, whatever else is asked for.
            self.configure()?;
            return Err(UserFileError::Missing(missing));
        }
        for host in hosts {
            let file = self.file(host);
            fs::remove_file(&file).map_err(|error| io_error(&file, error))?;
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

    /// Refuses to replace a configuration that is not of this program.
    fn check_configuration(&self) -> Result<(), UserFileError> {
        let file = self.configuration();
        match fs::read_to_string(&file) {
            Ok(text) if !text.starts_with(FIRST_WORDS) => Err(UserFileError::Foreign(file)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&file, error)),
            _ => Ok(()),
        }
    }

    /// The users that have files, with what they may do, in the order of their names.
    fn users(&self) -> Result<Vec<String>, UserFileError> {
        let failed = |error| io_error(&self.0, error);
        let mut users = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_none_or(|is| is != EXTENSION) {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(|error| io_error(&path, error))?;
            let user = text.trim().split_once(':').filter(|(name, secret)| {
                path.file_stem().is_some_and(|stem| stem == *name) && is_plain(secret)
            });
            match user {
                Some((name, secret)) => users.push(self::user(name, secret)),
                None => return Err(UserFileError::NoUser(path)),
            }
        }
        users.sort();
        Ok(users)
    }

    /// Writes what the server includes, from the users that have files.
    fn configure(&self) -> Result<(), UserFileError> {
        let failed = |error| io_error(&self.configuration(), error);
        let users = self.users()?;
        let text = format!(
            "{FIRST_WORDS}: a user for each host, and what it may do (docs/CLUSTER.md). Nobody else may \
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
            r#""queenfold.*.down.*.*", "queenfold.*.coordinator", "_INBOX.>""#.to_owned(),
            r#""queenfold.*.up.*.*", "queenfold.*.coordinator", "_INBOX.coordinator.>""#.to_owned(),
        ),
        false => (
            format!(r#""queenfold.*.up.{name}.*""#),
            format!(r#""queenfold.*.down.{name}.*""#),
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
        let files = UserFiles::of(folder.path());
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
        for part in ["queenfold.*.up.anna.*", "queenfold.*.down.bob-2.*"] {
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
        // Nothing is done by halves.
        let some = ["bob-2", "bob-3"].map(str::to_owned);
        assert!(matches!(
            files.remove(&some),
            Err(UserFileError::Missing(_))
        ));
        let configured = || fs::read_to_string(files.configuration()).unwrap();
        assert!(files.file("bob-2").exists() && configured().contains("bob-2"));
        fs::remove_file(files.file("bob-2")).unwrap();
        assert!(files.remove(&some).is_err() && !configured().contains("bob-2"));
        files.add(&[some[0].clone(), some[0].clone()]).unwrap();
        fs::write(files.file("bob-2"), "somebody:secret").unwrap();
        let refused = files.add(&some[1..]);
        assert!(matches!(refused, Err(UserFileError::NoUser(_))));
        assert!(configured().contains("bob-2") && !files.file("bob-3").exists());
        fs::write(files.configuration(), "port: 4222\n").unwrap();
        let refused = files.add(&some[1..]);
        assert!(matches!(refused, Err(UserFileError::Foreign(_))));
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
        let files = UserFiles::of(folder.path());
        files.add(&["anna".to_owned()]).unwrap();
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
    }
}
