#!/usr/bin/env bash
# Runs the numerical tests on an emulated ARM processor, and checks that translations, alignments and a trained model equal those
# of this machine. Needs Debian's qemu-user and gcc-aarch64-linux-gnu, and `rustup target add aarch64-unknown-linux-gnu`. Takes
# a quarter of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
emulator="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$emulator
# Tests that start the program cannot run in the emulator; these do not. Finite differences of every parameter and whole
# runs take too long.
cargo test --release --locked --target $target --lib --test library -- \
    --skip gradients_match_finite_differences --skip cpu_vs_reference::

cargo build --release --locked
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
head -n 200 data/train.tsv > "$work/train.tsv"
head -n 40 data/test.tsv > "$work/test.tsv"
cut -f 1 "$work/test.tsv" > "$work/sentences"
run_all() { # name, command
    local out=$work/$1
    shift
    "$@" translate --input "$work/sentences" --format json > "$out.translations"
    "$@" align --pairs "$work/test.tsv" --format json > "$out.alignments"
    "$@" --threads 1 train --train "$work/train.tsv" --preset tiny --max-epochs 1 --out "$out" 2> /dev/null
}
run_all native target/release/softalign --quiet
# shellcheck disable=SC2086
run_all emulated $emulator target/$target/release/softalign --quiet
for file in .translations .alignments /model.safetensors; do
    cmp "$work/native$file" "$work/emulated$file"
done
echo "aarch64: translations, alignments and model are byte-identical"
