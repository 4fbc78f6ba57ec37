//! What a user asks of the process by a signal or by a key of the terminal.

/// What a signal asks of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "there, all is a stop"))]
pub enum Asked {
    /// To stop: in order the first time, at once the second time.
    Stop,
    /// The same, but again within seconds it is the same request: a scheduler asks the program, and its script passes
    /// that on.
    Terminate,
    /// To stop in order, however often it comes: a terminal that closes asks more than once, and a limit of processor
    /// time asks once a second.
    HangUp,
    /// To end at once, as the system ends a process.
    Quit,
    /// To pause, or to go on.
    Pause,
}

/// A key that the terminal would turn into a signal, if it were not read as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKey {
    /// Ctrl-C.
    Interrupt,
    /// `Ctrl-\`.
    Quit,
    /// Ctrl-Z.
    Suspend,
}
