#!/usr/bin/env bash
# Builds the Python wheel and a source archive in target/wheels, installs the wheel into a fresh virtual environment, and tries
# it there in an empty directory: the command, the tests of the package, its types, its page of the docs, and the notebook.
# Takes some minutes. Needs Python 3.9 or newer with venv (default python3; set PYTHON for another) and a network; downloads
# maturin and what the tests use. Arguments are maturin's:
#
#     PYTHON=python3.9 scripts/check_python.sh
#     scripts/check_python.sh --zig --compatibility manylinux_2_17
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c "import sys, venv; sys.exit(sys.version_info < (3, 9))" 2> /dev/null; then
    echo "$python: not found, without venv, or older than 3.9; install Python 3.9 or newer, or set PYTHON" >&2
    exit 1
fi
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Creates an environment and prints the directory of its commands.
environment() { # directory
    "$python" -m venv "$1"
    if [ -d "$1/Scripts" ]; then echo "$1/Scripts"; else echo "$1/bin"; fi
}

tools=$(environment "$work/tools")
"$tools/python" -m pip install --quiet "maturin[zig]>=1.9,<2"
wheels=$root/target/wheels
rm -rf "$wheels"
PATH="$tools:$PATH" maturin build --release --locked --sdist --out "$wheels" "$@"

user=$(environment "$work/user")
"$user/python" -m pip install --quiet "$wheels"/*.whl
"$user/python" -m pip install --quiet pytest mypy "typing-extensions>=4.1" pandas matplotlib tqdm sacrebleu polars datasets pyspark \
    ipykernel nbconvert
mkdir "$work/empty"
cd "$work/empty"

softalign=$user/softalign
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
echo "the command works: train, translate, align, man, completions"

"$user/python" -m pytest -q -p no:cacheprovider -c "$root/pyproject.toml" --rootdir "$root" "$root/bindings/python/tests"
"$user/python" -m mypy --config-file "$root/pyproject.toml" -p softalign
cat > user.py <<'PYTHON'
import softalign

model = softalign.load("model")
text: str = model.translate("a dog").text
lists: list[list[softalign.Translation]] = model.translate(["a dog"], n_best=2, beam=3)
links: list[tuple[int, int]] = softalign.align([("a", "b")], symmetrize="union")[0].links
model.translate("a dog", beam="wide")  # type: ignore[call-overload]
model.translate("a dog", beem=3)  # type: ignore[call-overload]
PYTHON
"$user/python" -m mypy --strict user.py
"$user/python" -m mypy.stubtest --mypy-config-file "$root/pyproject.toml" softalign._native
# Older versions do not know the parameters of Rust's classes.
if "$user/python" -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
    "$user/python" "$root/scripts/document_python.py" --check
fi
cp "$root/docs/guide/notebook.ipynb" .
"$user/python" -m nbconvert --to notebook --execute --inplace notebook.ipynb
echo "the package works: tests, types, documentation, notebook"
