//! The server as its clients meet it: the real program on a free port, and sockets.

#[path = "../common/mod.rs"]
mod common;

mod access;
mod answers;
mod bounds;
mod client;
mod collect;
mod errors;
mod files;
mod hostile;
mod libretranslate;
mod lifetime;
mod steps;
