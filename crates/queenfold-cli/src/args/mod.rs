//! What a command line may say: flags, boards, and what is answered to one that is refused.

pub mod boards;
pub mod command_groups;
pub mod flags;
pub mod hints;
pub mod kept_settings;
pub mod tilde;
pub mod timestamp;
pub mod usage;
pub mod version;
