#!/usr/bin/env python3
"""Checks that Hugging Face's library segments text like softalign, with the tokenizer files of a model directory.

The tokens must be equal for lines in NFC, in NFD and unchanged, and for a few unusual lines.

Needs: pip install tokenizers

    python3 scripts/check_tokenizer.py --model my-model --source test.en --target test.cs
    python3 scripts/check_tokenizer.py --softalign target/release/softalign     # the model in checkpoints/
"""

import argparse
import json
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

from tokenizers import Tokenizer

UNUSUAL = [
    "", "e\u0301te\u0301 É", "\u1112\u1161\u11ab\u1100\u1173\u11af 한글", "ﬁne ½ … ﷺ ´x", "İstanbul H\u0331 ΟΔΟΣ",
    "\u0301a \u0301 \u0301b =\u0338", "a\u0301\u0323 a\u0323\u0301 ậ", "हिन्दी क\u093cलम \u0958लम जगत्", "ｗｉｄｅ\u3000ｶﾞ Å \u212b",
    "👩‍👩‍👧 👍🏽 ▁ </s> <unk>", "  two spaces  ", "l’été, n'est-ce pas ?", "می‌خواهم ۱۹۹۰", "a\u00a0b\u200bc",
]


def files(model):
    """Returns the source and target tokenizers as read by the library."""
    joint = model / "tokenizer.json"
    paths = [joint, joint] if joint.exists() else [model / f"{side}.tokenizer.json" for side in ("source", "target")]
    tokenizers = [Tokenizer.from_file(str(path)) for path in paths]
    for tokenizer in tokenizers:
        # </s> in a line is text, not the end of the sentence.
        tokenizer.encode_special_tokens = True
    return tokenizers


def ours(options, lines):
    """Returns the tokens of each line by the source tokenizer and by the target tokenizer."""
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8", newline="\n") as pairs:
        pairs.writelines(f"{line}\t{line}\n" for line in lines)
        pairs.flush()
        command = [options.softalign, "align", "--quiet", "--tokens", "--format", "jsonl", "--links-from", "attention"]
        done = subprocess.run([*command, "--model", options.model, "--pairs", pairs.name], check=True, capture_output=True)
    segmented = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    return [[pair[side] for pair in segmented] for side in ("source", "target")]


def equal(tokens, encoding):
    """Compares tokens. softalign writes an unknown token as in the text, the library as <unk>."""
    same = (ours == theirs or theirs == "<unk>" for ours, theirs in zip(tokens, encoding.tokens))
    return len(tokens) == len(encoding.tokens) and all(same)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--softalign", default="softalign", help="the program")
    parser.add_argument("--model", default="checkpoints", help="model directory")
    parser.add_argument("--source", type=Path, help="text file with more source lines")
    parser.add_argument("--target", type=Path, help="text file with more target lines")
    options = parser.parse_args()
    different = 0
    for side, (tokenizer, path) in enumerate(zip(files(Path(options.model)), (options.source, options.target))):
        text = path.read_text(encoding="utf-8").split("\n") if path else []
        lines = UNUSUAL + [line.replace("\t", " ").rstrip("\r") for line in text]
        lines += [unicodedata.normalize(form, line) for form in ("NFC", "NFD") for line in lines]
        for line, tokens in zip(lines, ours(options, lines)[side], strict=True):
            encoding = tokenizer.encode(line if line.strip() else "", add_special_tokens=False)
            # softalign reads a limited number of tokens of a line.
            if len(tokens) < 500 and not equal(tokens, encoding):
                different += 1
                print(f"{('source', 'target')[side]} {line!r}: softalign {tokens}, tokenizers {encoding.tokens}")
        print(f"{('source', 'target')[side]}: {len(lines)} lines")
    sys.exit(f"{different} lines are segmented differently" if different else 0)


if __name__ == "__main__":
    main()
