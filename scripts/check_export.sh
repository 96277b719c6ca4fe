#!/usr/bin/env bash
# Compares the engine of exported pages with `softalign translate` and the steps of `softalign serve`: the shipped model on the
# test sets, on text with numbers, names, emoji and capitals, and on characters of many scripts; toy models of every score, decoder
# and tokenization, which are trained here in minutes. Prints how many translations rounded weights change. Needs Node 20
# or newer. The first argument is the program, by default that of `cargo build --release`.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$(realpath "${1:-target/release/softalign}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# compare NAME MODEL LINES [WEIGHTS]: compares the model in a page with itself on a file of lines.
compare() {
    echo "$1${4:+, $4}: $(node scripts/check_export.mjs "$program" "$2" "$3" "${4:-f32}" | tee "$work/report" | tail -1)"
    [ "${4:-f32}" != f32 ] || grep -q "^0 of" "$work/report" || { cat "$work/report"; failed=1; }
}

# train NAME LINES OPTION…: trains a toy model and compares it.
train() {
    local name=$1 lines=$2
    shift 2
    "$program" --quiet train --max-epochs 2 --embedding-size 16 --hidden-size 32 --attention-size 24 --out "$work/$name" "$@"
    compare "$name" "$work/$name" "$lines"
}

cut -f1 data/test.tsv data/challenge.tsv data/newcomers.tsv > "$work/shipped.txt"
compare "shipped model" checkpoints "$work/shipped.txt"
# Capitals, unknown names and numbers, emoji, and several sentences in a line.
awk 'NR % 8 == 0 {
    sentence = $0; number += 137
    print toupper(sentence); print "Zoltan " number " " sentence; print sentence " " before; print sentence " \xf0\x9f\x99\x82"
    before = sentence
}' "$work/shipped.txt" > "$work/varied.txt"
compare "shipped model, varied text" checkpoints "$work/varied.txt"
python3 scripts/odd_text.py 1000 < "$work/shipped.txt" > "$work/odd.txt"
compare "shipped model, odd text" checkpoints "$work/odd.txt"
for weights in f16 int8; do compare "shipped model" checkpoints "$work/shipped.txt" $weights; done

head -1500 data/train.tsv > "$work/pairs.tsv"
head -60 data/validation.tsv > "$work/valid.tsv"
head -60 "$work/shipped.txt" > "$work/lines.txt"
pairs=(--train "$work/pairs.tsv" --valid "$work/valid.tsv" --vocabulary-size 400)
for score in additive dot scaled-dot general cosine mean last; do
    train "$score" "$work/lines.txt" "${pairs[@]}" --attention "$score"
done
train bahdanau "$work/lines.txt" "${pairs[@]}" --decoder bahdanau --initial-state backward-first --layers 2 --no-tied-embeddings
train heads "$work/lines.txt" "${pairs[@]}" --heads 4
train cosine-heads "$work/lines.txt" "${pairs[@]}" --heads 2 --attention cosine --attention-temperature 0.7
train sampled "$work/lines.txt" "${pairs[@]}" --hard-attention sampled
train exact "$work/lines.txt" "${pairs[@]}" --hard-attention exact
train words "$work/lines.txt" "${pairs[@]}" --tokenization word --lowercase
train nfkc "$work/lines.txt" "${pairs[@]}" --normalize nfkc --joint-vocabulary
train shortlists "$work/lines.txt" --train data/train.tsv --valid "$work/valid.tsv" --vocabulary-size 4000
cut -f1 "$work/pairs.tsv" | tr -cs "a-z" "\n" | sort -u | awk 'length > 2 { print $0 "\t" substr($0, 2) substr($0, 1, 1) "\xc3\xa9" }' > "$work/words.tsv"
cut -f1 "$work/words.tsv" | head -60 > "$work/words.txt"
train characters "$work/words.txt" --train "$work/words.tsv" --tokenization char
train letters "$work/words.txt" --train "$work/words.tsv" --tokenization letter
awk -F '\t' '{ print "<2fr> " $1 "\t" $2; print "<2en> " $2 "\t" $1 }' "$work/pairs.tsv" > "$work/tagged.tsv"
sed 's/^/<2fr> /' "$work/lines.txt" > "$work/tagged.txt"
train tags "$work/tagged.txt" --train "$work/tagged.tsv" --valid "$work/tagged.tsv" --vocabulary-size 400 --protected-tokens "<2fr> <2en>"
awk '{ print $0 "\t" (NR % 2 ? "V;PST" : "N;PL") }' "$work/words.tsv" > "$work/features.tsv"
sed 's/^/⟨V⟩⟨PST⟩/' "$work/words.txt" > "$work/features.txt"
train features "$work/features.txt" --train "$work/features.tsv" --features 3
exit $failed
