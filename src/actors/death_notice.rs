use actix::Recipient;

use super::ToRun;

/// Tells the run when the actor that holds it is gone. During a run only a panic in a handler ends an
/// actor, which is a bug, and actix reports nothing.
pub(super) struct DeathNotice {
    actor: &'static str,
    run: Recipient<ToRun>,
}

impl DeathNotice {
    pub(super) fn new(actor: &'static str, run: Recipient<ToRun>) -> Self {
        Self { actor, run }
    }
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        self.run.do_send(ToRun::ActorDied(self.actor));
    }
}
