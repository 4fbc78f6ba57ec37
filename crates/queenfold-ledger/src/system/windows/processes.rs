//! Children, and the priority of this process.

use std::os::windows::process::CommandExt;
use std::process::Command;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

/// Puts the child into a group of its own: Ctrl-C is for this process.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Kills a child. Its own children go on: a group cannot be killed here.
pub fn kill_group(child: &mut std::process::Child) {
    // An error means that it is gone.
    let _ = child.kill();
}

/// The priority that is lower than that of this process by `nice`, 1 to 19: `nice` itself.
///
/// # Errors
/// Never.
pub const fn priority_below(nice: i32) -> std::io::Result<i32> {
    Ok(nice)
}

/// Gives this process a [priority](priority_below): up to 9 the class below the normal one, from 10 on the lowest.
///
/// # Errors
/// The system refuses.
#[expect(unsafe_code, reason = "a call of Windows")]
pub fn set_priority(priority: i32) -> std::io::Result<()> {
    use windows_sys::Win32::System::Threading::{
        BELOW_NORMAL_PRIORITY_CLASS, GetCurrentProcess, IDLE_PRIORITY_CLASS, SetPriorityClass,
    };
    let class = match priority {
        ..10 => BELOW_NORMAL_PRIORITY_CLASS,
        10.. => IDLE_PRIORITY_CLASS,
    };
    // SAFETY: the handle of the current process is always valid.
    match unsafe { SetPriorityClass(GetCurrentProcess(), class) } {
        0 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A shell that runs the command.
pub fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    // `cmd` reads the rest of its line as it is, without the outer quotes.
    shell
        .args(["/D", "/S", "/C"])
        .raw_arg(format!("\"{command}\""));
    shell
}
