#!/usr/bin/env bash
# Fuzzing led by coverage: bytes for each reader of text, and each file of a model's folder in turn, for so many seconds each
# (default 60). Needs `rustup toolchain install nightly`, `cargo install cargo-fuzz` and a C++ compiler. What is found stays in
# target/fuzz and ends the run.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
work=target/fuzz
softalign=target/release/softalign
mkdir -p "$work/seeds"
cargo build --release --locked

# A small model with every file that there may be; two invented languages of four words a sentence.
pairs=$work/pairs.tsv
for colour in "red rufo" "grey grisa" "old vela"; do
    for beast in "fox mi" "owl ku"; do
        for verb in "sleeps dorma" "sings kanta" "runs kura"; do
            echo "the ${colour% *} ${beast% *} ${verb% *}	${colour#* } ${beast#* } ${verb#* } ."
        done
    done
done > "$pairs"
if [ ! -e "$work/model/model.safetensors" ]; then
    "$softalign" train --train "$pairs" --out "$work/model" --preset tiny --embedding-size 8 --hidden-size 8 \
        --attention-size 8 --units word --max-epochs 2 --guided-alignment=0.1 --keep-attention --quiet
fi

run() { # target, folder of inputs, longest input
    # Without a sanitizer: what is fuzzed is safe code, and so it goes quicker.
    if ! cargo +nightly fuzz run --fuzz-dir tests/fuzz --target-dir "$PWD/$work/build" --sanitizer none "$1" "$2" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len="$3" -artifact_prefix="$PWD/$work/" \
        -print_final_stats=1 > "$work/log" 2>&1; then
        tail -n 40 "$work/log"
        exit 1
    fi
    grep -E 'stat::(number_of_executed|new_units)|cov: .* DONE' "$work/log" | tail -n 3
}

# A seed for each reader: its number first, as tests/fuzz/targets/bytes.rs has them.
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
    case $name in *.html | *.lock) continue ;; esac
    rm -rf "$work/attacked"
    cp -r "$work/model" "$work/attacked"
    mkdir -p "$work/seeds-$name"
    cp "$file" "$work/seeds-$name/whole"
    echo "$name"
    SOFTALIGN_FUZZ_MODEL=$work/attacked SOFTALIGN_FUZZ_FILE=$name run folder "$work/seeds-$name" 65536
done
