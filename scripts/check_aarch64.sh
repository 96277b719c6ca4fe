#!/usr/bin/env bash
# Runs the numerical tests on an emulated ARM processor, and checks that the program translates, aligns and trains there as it
# does here. Needs Debian's qemu-user and gcc-aarch64-linux-gnu, and `rustup target add aarch64-unknown-linux-gnu`. Takes a
# quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
# Tests that start the program cannot run in an emulator; these do not. Finite differences of every parameter take too long.
cargo test --release --locked --target $target --lib --test reference --test gradients --test search --test metrics \
    --test aligner --test numeric_limits --test hostile_vocabularies -- --skip gradients_match_finite_differences

cargo build --release --locked
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
head -n 200 data/train.tsv > "$made/train.tsv"
head -n 40 data/test.tsv > "$made/test.tsv"
cut -f 1 "$made/test.tsv" > "$made/sentences"
use() { # name, command
    local out=$made/$1
    shift
    "$@" translate --input "$made/sentences" --format json > "$out.translations"
    "$@" align --pairs "$made/test.tsv" --format json > "$out.alignments"
    "$@" --threads 1 train --train "$made/train.tsv" --preset tiny --max-epochs 1 --out "$out" 2> /dev/null
}
use here target/release/softalign --quiet
# shellcheck disable=SC2086
use there $emulator target/$target/release/softalign --quiet
for what in .translations .alignments /model.safetensors; do
    cmp "$made/here$what" "$made/there$what"
done
echo "aarch64: the same translations, alignments and model, to the byte"
