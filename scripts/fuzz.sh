#!/usr/bin/env bash
# Coverage-guided fuzzing of every text reader and every file of a model directory, for some seconds each (default 60).
# `--seeds` instead writes the minimized inputs of the text readers to tests/fuzz/seeds.txt, which CI replays. Needs
# `rustup toolchain install nightly`, `cargo install cargo-fuzz` and a C++ compiler. Inputs stay in target/fuzz between runs. A
# crash is saved there and ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

work=target/fuzz
# Without a sanitizer, which is faster; the fuzzed code is safe Rust.
fuzz() { # command of cargo fuzz, target, directory of inputs, options of libFuzzer
    local command=$1 target=$2 inputs=$3
    shift 3
    cargo +nightly fuzz "$command" --fuzz-dir tests/fuzz --target-dir "$PWD/$work/build" --sanitizer none "$target" \
        "$inputs" -- "$@"
}

if [ "${1:-}" = --seeds ]; then
    rm -rf "$work/minimized"
    cp -r "$work/seeds" "$work/minimized"
    fuzz cmin bytes "$work/minimized" > /dev/null 2>&1
    # Long inputs are mutations of settings and tokenizers, which tests/files/mutations.rs makes itself.
    find "$work/minimized" -type f -size -200c -exec sh -c 'od -An -v -tx1 "$1" | tr -d " \n"; echo' _ {} \; \
        | LC_ALL=C sort -u > tests/fuzz/seeds.txt
    wc -l tests/fuzz/seeds.txt
    exit
fi

seconds=${1:-60}
softalign=target/release/softalign
mkdir -p "$work/seeds"
cargo build --release --locked

# A small model with all optional files.
pairs=$work/pairs.tsv
for color in "red rufo" "grey grisa" "old vela"; do
    for animal in "fox mi" "owl ku"; do
        for verb in "sleeps dorma" "sings kanta" "runs kura"; do
            echo "the ${color% *} ${animal% *} ${verb% *}	${color#* } ${animal#* } ${verb#* } ."
        done
    done
done > "$pairs"
if [ ! -e "$work/model/model.safetensors" ]; then
    "$softalign" train --train "$pairs" --out "$work/model" --preset tiny --embedding-size 8 --hidden-size 8 \
        --attention-size 8 --tokenization word --max-epochs 2 --guided-alignment=0.1 --keep-attention --quiet > /dev/null
fi

run() { # target, directory of inputs, longest input
    if ! fuzz run "$1" "$2" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len="$3" \
        -artifact_prefix="$PWD/$work/" -print_final_stats=1 > "$work/log" 2>&1; then
        tail -n 40 "$work/log"
        exit 1
    fi
    grep -E 'stat::(number_of_executed|new_units)|cov: .* DONE' "$work/log" | tail -n 3
}

# A seed for each reader, starting with its number in tests/common/corrupt.rs.
seed() { printf "\\$(printf %o "$1")$2" > "$work/seeds/$1"; }
seed 0 '0-0 1-1 2?3 4p5'
printf '\001%s' "$(cat "$work/model/config.json")" > "$work/seeds/1"
printf '\002%s' "$(cat "$work/model/source.tokenizer.json")" > "$work/seeds/2"
seed 3 'the red fox é ▁ 🦊'
seed 4 'train\n--columns=1,2\n--max-minutes=5'
seed 5 'the red fox\trufo mi\n\n\t\na\tb\n'
seed 21 'a,b\n"c, ""d""","e\nf"\n;\n'
seed 53 'source;target\n1;2\r\n'
seed 197 'a\tb\tc\nd\te\tf\n'
echo "readers of text"
run bytes "$work/seeds" 4096

for file in "$work"/model/*; do
    name=$(basename "$file")
    # No command reads these.
    case $name in *.html | *.svg | *.lock | resume.json) continue ;; esac
    rm -rf "$work/corrupt"
    cp -r "$work/model" "$work/corrupt"
    mkdir -p "$work/seeds-$name"
    cp "$file" "$work/seeds-$name/whole"
    echo "$name"
    SOFTALIGN_FUZZ_MODEL=$work/corrupt SOFTALIGN_FUZZ_FILE=$name run model_dir "$work/seeds-$name" 65536
done
