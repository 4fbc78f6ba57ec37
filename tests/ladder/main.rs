//! The ladder: its methods, its commands, its speed.

mod commands;
mod methods;
mod speed;
