use actix::Recipient;

use super::messages::Gone;

/// Tells the run that the actor which holds it is gone. While the run is on, no actor may be: only
/// a panic in one of its handlers, a bug, ends it, and actix would say nothing.
pub(super) struct Lifeline {
    actor: &'static str,
    run: Recipient<Gone>,
}

impl Lifeline {
    pub(super) fn new(actor: &'static str, run: Recipient<Gone>) -> Self {
        Self { actor, run }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.run.do_send(Gone(self.actor));
    }
}
