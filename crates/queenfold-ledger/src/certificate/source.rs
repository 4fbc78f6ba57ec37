//! The certificate of a shard as a ledger, to be merged.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use super::check::{Body, CheckError, check_with};
use super::line::{Counts, Line, OriginLine, tally_of};
use crate::ledger::{Entry, Facts, LedgerError, OriginColumns, RunInfo, Session, Store, unix_time};
use crate::system::files::open_regular;
use queenfold::engine::{Origin, Plan, TaskResult};

/// Opens what may be merged: the ledger of a directory, or what a file says that is the certificate of a shard, signed by one
/// key. It is checked to its end, and what it says of second counts and corrections is left out: who says so is the same.
///
/// # Errors
/// There is no such ledger, or the file is not such a certificate.
pub fn open_source(path: &Path) -> Result<Store, LedgerError> {
    if !path.is_file() {
        return Store::open_to_read(path);
    }
    let refused = |reason: String| LedgerError::other(path, reason);
    let input = open_regular(path).map_err(|error| refused(error.to_string()))?;
    let mut reading = Reading {
        path,
        store: None,
        origins: Vec::new(),
        sessions: BTreeMap::new(),
        now: unix_time(),
    };
    let checked = check_with(BufReader::new(input), |body, line| reading.take(body, line));
    let checked = checked.map_err(|error| match error {
        CheckError::Counts(_) => LedgerError::Counts(format!("{}: {error}", path.display())),
        _ => refused(error.to_string()),
    })?;
    let ([signed], Some(mut store)) = (&checked.signatures[..], reading.store) else {
        let signatures = checked.signatures.len();
        return Err(refused(format!(
            "it has {signatures} signatures, and what is gathered has that of its owner alone: `queenfold certify --key` signs"
        )));
    };
    store.commit()?;
    store.signed_by(&signed.key);
    Ok(store)
}

struct Reading<'a> {
    path: &'a Path,
    store: Option<Store>,
    /// Of each origin, its session.
    origins: Vec<(String, Origin)>,
    sessions: BTreeMap<String, Facts>,
    /// Certificates tell no times.
    now: i64,
}

impl Reading<'_> {
    fn take(&mut self, body: &Body, line: &Line) -> Result<(), String> {
        let text = |error: LedgerError| error.to_string();
        match (line, &self.store) {
            (Line::Head(head), _) => {
                let Some(part) = &body.checked.part else {
                    return Err("it is of a whole run, and those of shards are gathered".to_owned());
                };
                let mut info =
                    RunInfo::new(body.checked.board, &body.plans(), part.shard, String::new());
                info.program.clone_from(&head.program);
                let store = Store::temporary(self.path, &info).map_err(text)?;
                store.begin().map_err(text)?;
                self.store = Some(store);
            }
            (Line::Origin(line), Some(_)) => self.origin(line)?,
            (Line::Task(line), Some(store)) => {
                let plan = body.plan(&line.plan);
                let entry = plan.and_then(|plan| {
                    self.entry(plan.as_ref(), line.task, &line.tally, line.origin)
                });
                let entry = entry.ok_or("its origin is not described above")?;
                store.insert(&entry).map_err(text)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn origin(&mut self, line: &OriginLine) -> Result<(), String> {
        let columns = OriginColumns {
            backend: &line.backend,
            device: &line.device,
            worker: line.worker.clone(),
        };
        let origin = columns.read().ok_or("nothing counts there")?;
        let id = &line.session;
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("the id of a session has hexadecimal digits".to_owned());
        }
        self.origins.push((id.clone(), origin));
        let facts = Facts {
            host: line.host.clone(),
            processor: line.processor.clone(),
            program: line.program.clone(),
            started: self.now,
            number: self.sessions.len() as u64 + 1,
            ..Facts::default()
        };
        match (self.sessions.get(id), &self.store) {
            (Some(there), _) if there.is_on(&facts) => Ok(()),
            (None, Some(store)) => {
                self.sessions.insert(id.clone(), facts.clone());
                let session = Session {
                    id: id.clone(),
                    facts,
                    elapsed: Duration::ZERO,
                    cpu: None,
                    committed: self.now,
                };
                store
                    .put_session(&session)
                    .map_err(|error| error.to_string())
            }
            _ => Err("its session is described otherwise above".to_owned()),
        }
    }

    fn entry(&self, plan: &dyn Plan, task: u64, tally: &Counts, origin: u64) -> Option<Entry> {
        let (session, origin) = self.origins.get(usize::try_from(origin).ok()?)?;
        Some(Entry {
            result: TaskResult {
                key: plan.key(task),
                tally: tally_of(plan.engine(), tally)?,
                origin: origin.clone(),
                audited_by: None,
                duration: Duration::ZERO,
            },
            session: session.clone(),
            recorded_at: self.now,
        })
    }
}
