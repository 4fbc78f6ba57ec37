//! What the page says, section by section. Each is markup, and empty if there is nothing to say.

mod checks;
mod over_time;
mod processes;
mod result;
