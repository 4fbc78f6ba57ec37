//! The program as a user runs it.

mod bench;
mod commands;
mod config;
mod counts;
mod dashboard;
mod estimate;
mod events;
mod faults;
mod files;
mod first_hour;
mod first_tries;
mod given;
mod json;
mod json_schema;
mod pipes;
mod report;
mod schema;
mod signals;
mod terminals;
mod threads;
mod throttle;
