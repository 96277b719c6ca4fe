#!/usr/bin/env bash
# Everything that must hold before a push: format, lints, tests, docs. Needs nothing but Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --check
cargo clippy --release --all-targets --locked -- --deny warnings
cargo test --release --locked
RUSTDOCFLAGS="--deny warnings" cargo doc --no-deps --locked
