//! Files and text that are read and written, broken ones among them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/corrupt.rs"]
mod corrupt;

mod bad_input;
mod csv_input;
mod formats;
mod input;
mod mutations;
mod output_files;
mod table_files;
mod unicode;
mod unreadable_lines;
