//! The name of this machine, as the environment has it.

/// The name of this machine; `None` where the system does not say.
pub fn name() -> Option<String> {
    std::env::var("COMPUTERNAME")
        .ok()
        .filter(|name| !name.is_empty())
}
