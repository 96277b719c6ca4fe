"""Measures how models translate text as people write it: with curly apostrophes, unusual spaces, capitals, two sentences in a line.

    python3 scripts/perturb_text.py
    python3 scripts/perturb_text.py --model de --source val.en --target val.de --limit 500

Each kind of perturbation changes the sources of the pairs where it applies, in a way that changes nothing for a reader. Prints for
each kind the number of sentences that it changes, the percentage whose translation is not that of the clean text, and BLEU and
chrF of their translations with and without it. Translations of sentences in capitals are compared without case. Two sentences in
a line should give both translations.

Then prints how many numbers, symbols and names of made sentences come out as they went in. Needs a release build; no Python
packages.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/softalign"


def between_words(sign):
    """Returns a perturbation that puts a sign in place of the second space, or of the first one."""

    def change(text):
        spaces = [index for index, letter in enumerate(text) if letter == " "]
        if not spaces:
            return text
        at = spaces[min(1, len(spaces) - 1)]
        return text[:at] + sign + text[at + 1 :]

    return change


def within_word(sign):
    """Returns a perturbation that puts a sign into the middle of the longest word."""

    def change(text):
        word = max(text.split(), key=len, default="")
        at = text.find(word) + len(word) // 2
        return text if len(word) < 4 else text[:at] + sign + text[at:]

    return change


def full_width(text):
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


def curly_quotes(text):
    return re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text)


def capitalized_words(text):
    return " ".join(word[:1].upper() + word[1:] for word in text.split(" "))


KINDS = {
    "curly apostrophe": lambda text: text.replace("'", "\u2019"),
    "curly quotes": curly_quotes,
    "en dash for hyphen": lambda text: text.replace("-", "\u2013"),
    "ellipsis": lambda text: text.replace("...", "\u2026"),
    "space at the end": lambda text: text + " ",
    "spaces at both ends": lambda text: "  " + text + "\u00a0",
    "no-break space": between_words("\u00a0"),
    "narrow no-break space": between_words("\u202f"),
    "ideographic space": between_words("\u3000"),
    "two spaces": between_words("  "),
    "byte order mark": lambda text: "\ufeff" + text,
    "zero-width space": within_word("\u200b"),
    "left-to-right mark": lambda text: "\u200e" + text,
    "soft hyphen": within_word("\u00ad"),
    "word joiner": within_word("\u2060"),
    "decomposed (NFD)": lambda text: unicodedata.normalize("NFD", text),
    "ligatures": lambda text: text.replace("ffi", "\ufb03").replace("fi", "\ufb01").replace("fl", "\ufb02"),
    "full width": full_width,
    "capitals": str.upper,
    "title case": capitalized_words,
}
WITHOUT_CASE = {"capitals", "title case"}


class Translator:
    """A model, which translates lists of sentences."""

    def __init__(self, options):
        self.command = [str(options.program), "translate", "--model", options.model, "--quiet", "--input", "-"]

    def translate(self, sentences):
        done = subprocess.run(self.command, input="".join(line + "\n" for line in sentences), capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout.split("\n")[:-1]


class Scores:
    """BLEU and chrF by the program."""

    def __init__(self, options):
        self.program = options.program

    def of(self, pairs, translations):
        """Returns BLEU and chrF of the translations of pairs."""
        with tempfile.TemporaryDirectory() as directory:
            names = [Path(directory) / name for name in ("source", "target", "translations")]
            sides = [source for source, _ in pairs], [target for _, target in pairs], translations
            for name, lines in zip(names, sides, strict=True):
                name.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            source, target, hypotheses = map(str, names)
            command = ["evaluate", "--source", source, "--target", target, "--hypotheses", hypotheses, "--json", "--quiet"]
            found = json.loads(subprocess.check_output([str(self.program), *command], text=True))
        return found.get("bleu"), found.get("chrf")


def read_pairs(options):
    if not options.source:
        rows = Path(options.pairs).read_text(encoding="utf-8").splitlines()
        pairs = [tuple(row.split("\t")[:2]) for row in rows]
    else:
        sides = (Path(path).read_text(encoding="utf-8").splitlines() for path in (options.source, options.target))
        pairs = list(zip(*sides, strict=True))
    pairs = [(source.strip(), target) for source, target in pairs if source.strip()]
    return pairs[: options.limit]


def number(value):
    return "" if value is None else f"{value:.2f}"


def measure_kinds(translator, scores, pairs):
    clean = dict(zip((source for source, _ in pairs), translator.translate([source for source, _ in pairs]), strict=True))
    print("| perturbation | sentences | other translation, % | BLEU | BLEU of clean text | chrF | chrF of clean text |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind, change in KINDS.items():
        changed = [(pair, change(pair[0])) for pair in pairs if change(pair[0]) != pair[0]]
        if not changed:
            continue
        found = translator.translate([text for _, text in changed])
        expected = [clean[source] for (source, _), _ in changed]
        fold = str.casefold if kind in WITHOUT_CASE else str
        other = sum(fold(one) != fold(two) for one, two in zip(found, expected, strict=True))
        kept = [(source, fold(target)) for (source, target), _ in changed]
        rows = (scores.of(kept, [fold(line) for line in lines]) for lines in (found, expected))
        (bleu, chrf), (clean_bleu, clean_chrf) = rows
        cells = [len(changed), f"{100 * other / len(changed):.1f}", *map(number, (bleu, clean_bleu, chrf, clean_chrf))]
        print(f"| {kind} |", " | ".join(map(str, cells)), "|", flush=True)
    measure_mixed_case(translator, scores, pairs)
    measure_paragraphs(translator, scores, pairs, clean)


def measure_mixed_case(translator, scores, pairs):
    """Puts a sentence in capitals before another one in a line, and compares with the line without capitals."""
    ended = [pair for pair in pairs if pair[0][-1] in ".!?"]
    lines = list(zip(ended[::2], ended[1::2]))
    found = translator.translate([f"{one.upper()} {two}" for (one, _), (two, _) in lines])
    expected = translator.translate([f"{one} {two}" for (one, _), (two, _) in lines])
    found, expected = ([line.casefold() for line in side] for side in (found, expected))
    joined = [(f"{one[0]} {two[0]}", f"{one[1]} {two[1]}".casefold()) for one, two in lines]
    other = sum(one != two for one, two in zip(found, expected, strict=True))
    (bleu, chrf), (clean_bleu, clean_chrf) = scores.of(joined, found), scores.of(joined, expected)
    cells = [len(lines), f"{100 * other / len(lines):.1f}", *map(number, (bleu, clean_bleu, chrf, clean_chrf))]
    print("| one of two sentences in capitals |", " | ".join(map(str, cells)), "|", flush=True)


def measure_paragraphs(translator, scores, pairs, clean):
    """Puts two to five sentences into each line."""
    ended = [pair for pair in pairs if pair[0][-1] in ".!?"]
    draw = random.Random(1)
    lines, place = [], 0
    while place < len(ended):
        size = draw.randint(2, 5)
        lines.append(ended[place : place + size])
        place += size
    found = translator.translate([" ".join(source for source, _ in line) for line in lines])
    expected = [" ".join(clean[source] for source, _ in line) for line in lines]
    joined = [tuple(" ".join(side) for side in zip(*line, strict=True)) for line in lines]
    other = sum(one != two for one, two in zip(found, expected, strict=True))
    short = sum(len(one) < 0.8 * len(two) for one, two in zip(found, expected, strict=True))
    (bleu, chrf), (clean_bleu, clean_chrf) = scores.of(joined, found), scores.of(joined, expected)
    cells = [len(lines), f"{100 * other / len(lines):.1f}", *map(number, (bleu, clean_bleu, chrf, clean_chrf))]
    print("| two to five sentences in a line |", " | ".join(map(str, cells)), "|")
    print(f"\nof {len(lines)} lines with several sentences, {short} are translated to less than 0.8 of the length")


SIGNS = ["🐶", "🎉", "👩‍👩‍👧", "✓", "→", "€", "П", "Ω", "中", "#4711", "A-38/b", "v2.0.1", "user_name", "50%", "+49 30 901820"]
NAMES = ["Xochitl", "Grzegorz", "Nguyen", "Adaeze", "Thorvaldsen", "Quispe", "Björk", "O'Rourke", "Kowalczyk", "Ixtlilton"]


def copied_texts(draw):
    """Returns kinds of text that is to be copied, each with one example."""
    digits = draw.randint(1, 9)
    return {
        "numbers": str(draw.randrange(10 ** (digits - 1), 10**digits)),
        "times": f"{draw.randrange(24)}:{draw.randrange(60):02}",
        "dates": f"{draw.randint(1, 28)}.{draw.randint(1, 12)}.{draw.randint(1900, 2030)}",
        "prices": f"{draw.randrange(1000)}.{draw.randrange(100):02}",
        "symbols": draw.choice(SIGNS),
        "names": draw.choice(NAMES),
    }


def measure_copies(translator, pairs, count):
    """Puts a text to be copied at the place of a word of each sentence, or at its end."""
    draw = random.Random(2)
    given = {}
    for source, _ in [draw.choice(pairs) for _ in range(count)]:
        for kind, text in copied_texts(draw).items():
            words = source.split(" ")
            at = draw.randint(1, len(words))
            given.setdefault(kind, []).append((" ".join(words[:at] + [text] + words[at:]), text))
    print("\n| to be copied | sentences | intact, % |\n| --- | ---: | ---: |")
    for kind, sentences in given.items():
        found = translator.translate([sentence for sentence, _ in sentences])
        intact = sum(text in translation for (_, text), translation in zip(sentences, found, strict=True))
        print(f"| {kind} | {len(sentences)} | {100 * intact / len(sentences):.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="checkpoints")
    parser.add_argument("--pairs", default="data/test.tsv", help="TSV file of pairs")
    parser.add_argument("--source", help="file of sources, with --target, instead of --pairs")
    parser.add_argument("--target")
    parser.add_argument("--limit", type=int, default=1000, help="number of pairs")
    parser.add_argument("--copies", type=int, default=500, help="number of sentences with text to be copied")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    pairs = read_pairs(options)
    translator = Translator(options)
    measure_kinds(translator, Scores(options), pairs)
    measure_copies(translator, pairs, options.copies)


main()
