//! The project itself: its layers, its README, the machine code that the compiler makes of it.

mod codegen;
mod layers;
mod modules;
mod readme;
#[path = "../common/skip.rs"]
mod skip;
