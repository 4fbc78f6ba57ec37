//! The name of this machine, as `uname` has it.

/// The name of this machine; `None` where the system does not say.
pub fn name() -> Option<String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_str().ok()?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
