#!/usr/bin/env bash
# Checks tests with several threads for data races with ThreadSanitizer, and the tests that Miri can run within minutes for
# undefined behavior. Needs a nightly compiler: `rustup toolchain install nightly --component rust-src miri`. Takes half an hour.
set -euo pipefail
cd "$(dirname "$0")/.."

build=(-Zbuild-std --target x86_64-unknown-linux-gnu --target-dir target/tsan --release --locked)
export RUSTFLAGS="-Zsanitizer=thread"
cargo +nightly test "${build[@]}" --lib
cargo +nightly test "${build[@]}" --test library --test translation -- \
    search:: gradients:: translate:: streams:: --skip gradients_match_finite_differences
unset RUSTFLAGS
# Long numerical loops and threads that read files would take hours.
MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --target-dir target/miri --lib -- \
    kernels::buffer kernels::simd::tests::dot_sums kernels::matrix::tests::product_of_a kernels::matrix::tests::row_sums \
    kernels::matrix::tests::tiny alignment:: metrics::bleu metrics::chrf random::
