#!/usr/bin/env bash
# All checks before a push: format, lints, tests and docs; with Python, also the corpus and the examples of the docs, and with
# numpy and pytest the Python package; with a browser, also the HTML pages. Requires only Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all --check
# The Python package is an extension module for any Python, and compiles without one.
export PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1
cargo clippy --release --workspace --all-targets --locked -- --deny warnings
# The library alone, and the command without the server.
cargo check --release --no-default-features --locked
cargo check --release --no-default-features --features cli --locked
cargo test --release --locked
# The unit tests again with debug assertions and overflow checks in this crate only. It is not optimized, to compile faster.
cargo test --release --lib --locked --config profile.release.package.softalign.debug-assertions=true \
    --config profile.release.package.softalign.overflow-checks=true \
    --config profile.release.package.softalign.opt-level=0 --config profile.release.package.softalign.codegen-units=16
RUSTDOCFLAGS="--deny warnings" cargo doc --release --no-deps --locked
# Dependencies on all platforms, if cargo-deny is installed; needs `cargo fetch` first. Advisories are checked elsewhere, with a
# network.
if command -v cargo-deny > /dev/null; then
    cargo deny --locked --offline check bans licenses sources
else
    echo "cargo-deny not found: dependencies not checked"
fi
# The Python package, if numpy and pytest are installed. scripts/check_python.sh tests all of it and needs a network.
if python3 -c "import sys, numpy, pytest; sys.exit(sys.version_info < (3, 9))" 2> /dev/null; then
    cargo build --release --locked --package softalign-python
    package=$(mktemp -d)
    trap 'rm -rf "$package"' EXIT
    cp -r bindings/python/python/softalign "$package"
    for library in "${CARGO_TARGET_DIR:-target}"/release/lib_native.{so,dylib}; do
        [ ! -e "$library" ] || cp "$library" "$package/softalign/_native.abi3.so"
    done
    PYTHONPATH=$package python3 -B -m pytest -q -p no:cacheprovider
else
    echo "Python 3.9 with numpy and pytest not found: Python package not tested"
fi
# The generated corpus must equal data/ byte for byte.
if command -v python3 > /dev/null; then
    generated=$(mktemp -d)
    trap 'rm -rf "$generated" "${package:-$generated}"' EXIT
    python3 -B data/generator --out "$generated" > /dev/null
    if ! diff -rq --exclude README.md --exclude generator data "$generated"; then
        echo "data/ differs from the output of data/generator: run \`python3 data/generator\` and check the changes in data/" >&2
        exit 1
    fi
else
    echo "python3 not found: corpus not checked"
fi
# The examples and links of the documentation, translated documents in the programs that they come from, and both HTML pages in a
# browser if Debian's chromium and chromium-driver are installed.
if command -v python3 > /dev/null; then
    cargo build --release --locked
    program=${CARGO_TARGET_DIR:-target}/release/softalign
    python3 -B scripts/check_docs.py --program "$program"
    python3 -B scripts/check_documents.py --binary "$program"
    python3 scripts/test_html_page.py --binary "$program"
    python3 scripts/test_serve_page.py --binary "$program"
else
    echo "python3 not found: examples of the docs and HTML pages not tested"
fi
