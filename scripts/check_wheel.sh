#!/usr/bin/env bash
# Builds a wheel and a source archive in target/wheels, installs the wheel into a fresh virtual environment and tests it there in
# an empty directory. Needs Python 3.8 or newer with venv (default python3; set PYTHON for another). Downloads maturin and passes
# its arguments to it:
#
#     scripts/check_wheel.sh --zig --compatibility manylinux_2_17
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c "import venv" 2> /dev/null; then
    echo "$python: not found, or without venv; install Python 3.8 or newer, or set PYTHON" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Creates an environment and prints the directory of its commands.
environment() { # directory
    "$python" -m venv "$1"
    if [ -d "$1/Scripts" ]; then echo "$1/Scripts"; else echo "$1/bin"; fi
}

tools=$(environment "$work/tools")
"$tools/python" -m pip install --quiet "maturin[zig]>=1.9,<2"
wheels=$PWD/target/wheels
rm -rf "$wheels"
PATH="$tools:$PATH" maturin build --release --locked --sdist --out "$wheels" "$@"

user=$(environment "$work/user")
"$user/python" -m pip install --quiet --no-index "$wheels"/*.whl
softalign=$user/softalign
mkdir "$work/empty"
cd "$work/empty"

"$softalign" --version
"$softalign" man train > train.1
"$softalign" completions bash > completions.bash
grep -q softalign train.1
grep -q softalign completions.bash
# Without a model, the error says what to do.
if "$softalign" translate "a dog" 2> message; then
    echo "translated without a model" >&2
    exit 1
fi
grep -q "softalign train --train" message

for who in I you we they; do
    for what in see hear know; do
        for thing in "a dog" "a cat" "the house"; do
            printf '%s %s %s\t%s %s %s\n' "$who" "$what" "$thing" "$thing" "$what" "$who"
        done
    done
done > pairs.tsv
"$softalign" --quiet train --train pairs.tsv --preset tiny --max-epochs 2 --out model > /dev/null
test "$("$softalign" --quiet translate --model model "they see a dog" | wc -l)" -eq 1
"$softalign" --quiet align --model model --pairs pairs.tsv --format pharaoh > links
test "$(wc -l < links)" -eq 36
echo "the wheel works: train, translate, align, man, completions"
