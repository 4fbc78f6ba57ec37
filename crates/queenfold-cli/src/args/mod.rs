//! What a command line may say: flags, boards, and what is answered to one that is refused.

pub mod boards;
pub mod command_groups;
pub mod flags;
pub mod hints;
pub mod kept_settings;
pub mod old_names;
pub mod tilde;
pub mod usage;
pub mod version;
