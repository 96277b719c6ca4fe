#!/usr/bin/env bash
# Everything that must hold before a push: format, lints, tests, docs, the corpus and the examples of the docs where there is
# Python, and the page where there is a browser. Needs nothing but Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --check
# Doc comments begin with a noun phrase or a verb; one name means one thing.
if grep -rnE '^\s*//[/!] (What|Whether|How)\b' src; then
    echo "doc comments begin with a noun phrase or a verb, not with What, Whether or How" >&2
    exit 1
fi
twice=$(grep -rhoE '^(pub(\([a-z]+\))? )?(struct|enum|trait|union|type) \w+' src | awk '{print $NF}' | sort | uniq -d)
if [ -n "$twice" ]; then
    echo "types defined twice: $twice" >&2
    exit 1
fi
cargo clippy --release --all-targets --locked -- --deny warnings
# The library alone, without the command line.
cargo check --no-default-features --locked
cargo test --release --locked
# The unit tests once more with debug assertions and overflow checks; the dependencies stay as they are built.
cargo test --release --lib --locked --config profile.release.package.softalign.debug-assertions=true \
    --config profile.release.package.softalign.overflow-checks=true
RUSTDOCFLAGS="--deny warnings" cargo doc --no-deps --locked
# What is built upon, where cargo-deny is installed: the crates of all platforms, so after `cargo fetch`. What is known to be
# vulnerable is looked up elsewhere, with a network.
if command -v cargo-deny > /dev/null; then
    cargo deny --locked --offline check bans licenses sources
else
    echo "cargo-deny not found: dependencies not checked"
fi
# The corpus made anew, where there is python3: the grammar and data/ belong together, to the byte.
if command -v python3 > /dev/null; then
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    python3 -B data/generator --out "$made" > /dev/null
    if ! diff -rq --exclude README.md --exclude generator data "$made"; then
        echo "data/ is not what data/generator makes: run \`python3 data/generator\` and see what changed in data/" >&2
        exit 1
    fi
else
    echo "python3 not found: corpus not made anew"
fi
# The examples and links of the documentation, and the page in a real browser, where there is one: python3 and Debian's chromium
# and chromium-driver.
if command -v python3 > /dev/null; then
    cargo build --release --locked
    python3 -B scripts/check_docs.py
    python3 scripts/test_html_page.py
else
    echo "python3 not found: examples of the docs and page not tested"
fi
