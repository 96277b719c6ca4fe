//! Records the commit for `softalign --version`.

use std::process::Command;

fn main() {
    // The log of HEAD changes with every commit and checkout.
    for path in ["build.rs", ".git/logs/HEAD"] {
        if std::path::Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = Command::new("git").args(["rev-parse", "--short=9", "HEAD"]).output().ok();
    let commit = commit.filter(|output| output.status.success() && std::path::Path::new(".git").exists());
    let commit =
        commit.map_or_else(|| "unknown".to_owned(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=SOFTALIGN_COMMIT={commit}");
}
