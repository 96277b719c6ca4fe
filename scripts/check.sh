#!/usr/bin/env bash
# Everything that must hold before a push: format, lints, tests, docs, and the page where there is a browser. Needs nothing
# but Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --check
cargo clippy --release --all-targets --locked -- --deny warnings
cargo test --release --locked
RUSTDOCFLAGS="--deny warnings" cargo doc --no-deps --locked
# The page in a real browser, where there is one: python3 and Debian's chromium and chromium-driver.
if command -v python3 > /dev/null; then
    cargo build --release --locked
    python3 scripts/check_page.py
else
    echo "python3 not found: page not tested"
fi
