//! Children, and the priority of this process.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Puts the child into a group of its own: Ctrl-C is for this process.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills a child that was put [into a group of its own](in_own_group), with its own children.
pub fn kill_group(child: &mut std::process::Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // An error means that it is gone.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// The priority that is lower than that of this thread by `nice`, 1 to 19.
///
/// # Errors
/// The system does not tell.
pub fn priority_below(nice: i32) -> std::io::Result<i32> {
    Ok(rustix::process::getpriority_process(None)? + nice)
}

/// Gives this thread a [priority](priority_below). Systems other than Linux have one for all threads of a process.
///
/// # Errors
/// The system refuses.
pub fn set_priority(priority: i32) -> std::io::Result<()> {
    Ok(rustix::process::setpriority_process(None, priority)?)
}

/// A shell that runs the command.
pub fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command);
    shell
}
