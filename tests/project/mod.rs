//! The project itself: its layers, its pages, and its machine code.

mod archive;
mod build;
mod codegen;
mod facade;
mod figures;
mod generated;
mod layers;
mod links;
mod numbers;
mod pages;
mod records;
mod skipped;
mod user_crate;
mod versions;
mod ways;
