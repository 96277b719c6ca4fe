#!/usr/bin/env bash
# Trains the same model by one, two and four processes through MPI and compares them. Needs Open MPI with its headers, libclang
# and a C compiler, and builds the program with the feature mpi.
#   scripts/check_mpi.sh
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --features mpi
program=${CARGO_TARGET_DIR:-target}/release/softalign
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
head -n 1000 data/train.tsv > "$work/pairs.tsv"

# train PROCESSES NAME [options]
train() {
    mpirun -n "$1" --oversubscribe "$program" train --threads 1 --quiet --out "$work/$2" "${@:3}"
}

fail() {
    echo "check_mpi: $1" >&2
    exit 1
}

losses() {
    grep '"event":"validation"' "$work/$1/log.jsonl" | grep -oE '"loss":[0-9.]+' | cut -d : -f 2
}

for processes in 1 2 4; do
    train $processes "of-$processes" "$work/pairs.tsv" --max-epochs 2
    paste <(losses of-1) <(losses "of-$processes") |
        awk '{ d = ($1 - $2) / $1; if (d * d > 1e-10) exit 1; n++ } END { if (n != 2) exit 1 }' ||
        fail "$processes processes train another model than one"
done
train 2 repeated "$work/pairs.tsv" --max-epochs 2
cmp "$work/of-2/model.safetensors" "$work/repeated/model.safetensors" || fail "two processes do not repeat themselves"

train 4 repeated --resume --max-epochs 3
[ "$(losses repeated | wc -l)" = 3 ] || fail "four processes do not continue what two began"

# Each failure is reported once, and leaves no process behind.
refused() {
    local status=0
    train 2 refused "${@:3}" 2> "$work/errors" || status=$?
    [ "$status" = "$1" ] || fail "exit code $status instead of $1: ${*:3}"
    [ "$(grep -c "^error: .*$2" "$work/errors")" = 1 ] || fail "not one error about $2: $(cat "$work/errors")"
}
refused 1 "No such file" "$work/missing.tsv"
refused 2 "dropout" "$work/pairs.tsv" --dropout 3
refused 2 "auxiliary" "$work/pairs.tsv" --teachers 1

timeout --signal INT 10 mpirun -n 2 --oversubscribe "$program" train --threads 1 --quiet --out "$work/stopped" \
    "$work/pairs.tsv" --max-epochs 500 > /dev/null 2>&1 || true
train 2 stopped --resume --max-epochs 1 || fail "an interrupted training does not continue"
echo "check_mpi: one, two and four processes train the same model"
