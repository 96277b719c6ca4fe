#!/usr/bin/env bash
# Data races by ThreadSanitizer, over the tests that share work among threads, and undefined behaviour by Miri, over those that
# it can run in minutes. Needs a nightly compiler: `rustup toolchain install nightly --component rust-src miri`. Takes half an
# hour.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="-Zsanitizer=thread" cargo +nightly test -Zbuild-std --target x86_64-unknown-linux-gnu --target-dir target/tsan \
    --release --locked --lib --test translate --test search --test gradients --test streams -- --skip slopes
# Long loops over numbers, and waiting for threads that read files, would take hours.
MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --target-dir target/miri --lib -- \
    kernels::buffer kernels::simd::tests::sums kernels::matrix::tests::parts kernels::matrix::tests::row_sums \
    kernels::matrix::tests::what_is alignment:: metrics::bleu metrics::chrf random::
