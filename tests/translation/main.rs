//! Translating and scoring.

#[path = "../common/mod.rs"]
mod common;

mod confidence;
mod constraints;
mod documents;
mod ensemble;
mod markup;
mod newcomers;
mod score;
mod streams;
mod trace;
mod translate;
mod written_text;
