use actix::Recipient;

use super::messages::ActorDied;

/// Tells the run when the actor that holds it is gone. During a run only a panic in a handler ends an
/// actor, which is a bug, and actix reports nothing.
pub(super) struct DeathNotice {
    actor: &'static str,
    run: Recipient<ActorDied>,
}

impl DeathNotice {
    pub(super) fn new(actor: &'static str, run: Recipient<ActorDied>) -> Self {
        Self { actor, run }
    }
}

impl Drop for DeathNotice {
    fn drop(&mut self) {
        self.run.do_send(ActorDied(self.actor));
    }
}
