"""Measures where tags end up in translations: tags are put around random spans of words and translated.

Prints how many results are well-formed, and how often a tag is on exactly the words, and on at least the words, that
`softalign align` links to the words of its span, with the default links and with symmetrized ones.

    python3 -B scripts/markup_projection.py --model en-de --source val.en --sentences 1000

Spans without a linked word are counted apart. Needs a release build; no Python packages.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/softalign"
TAG = re.compile(r"</?[a-z]+[^>]*>")
NAMES = ["b", "i", "a", "span"]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text):
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def softalign(options, arguments):
    command = [options.program, *arguments, "--model", options.model, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def mark(words, generator):
    """Returns the sentence with tags around one or two spans, one of which may be inside the other, and the spans."""
    first, last = sorted(generator.sample(range(len(words) + 1), 2))
    spans = [(first, last)]
    if generator.random() < 0.5 and last - first > 1:
        spans.append(tuple(sorted(generator.sample(range(first, last + 1), 2))))
    elif last < len(words) - 1:
        spans.append(tuple(sorted(generator.sample(range(last, len(words) + 1), 2))))
    tags = [f"{generator.choice(NAMES)} id={number}" for number in range(len(spans))]
    marked = []
    for index, word in enumerate(words):
        opened = "".join(f"<{tag}>" for tag, span in zip(tags, spans) if span[0] == index)
        closed = "".join(f"</{tag.split()[0]}>" for tag, span in reversed(list(zip(tags, spans))) if span[1] == index + 1)
        marked.append(opened + escape(word) + closed)
    return " ".join(marked), spans, tags


class Balance(HTMLParser):
    """Counts start tags; `broken` tells that an end tag does not close the last open element."""

    def __init__(self, text):
        super().__init__()
        self.open, self.broken = [], False
        self.feed(text)
        self.close()
        self.broken |= bool(self.open)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        self.broken |= not self.open or self.open.pop() != tag


def span_words(translation, tag, words):
    """Returns the indices of the words of a translation that an element covers."""
    start = translation.index(f"<{tag}>")
    depth, end = 0, None
    for found in TAG.finditer(translation, start):
        depth += -1 if found.group().startswith("</") else 1
        if depth == 0:
            end = found.start()
            break
    first = len(unescape(TAG.sub("", translation[:start])))
    last = len(unescape(TAG.sub("", translation[:end])))
    plain, position, covered = unescape(TAG.sub("", translation)), 0, set()
    for index, word in enumerate(words):
        position = plain.index(word, position)
        if position < last and position + len(word) > first:
            covered.add(index)
        position += len(word)
    return covered


def compare(alignments, translations, marked):
    """Returns the numbers of spans with links, of those with exactly and at least the linked words, and of others."""
    linked_spans = exactly = at_least = silent = 0
    for alignment, translation, (_, spans, tags) in zip(alignments, translations, marked):
        positions, position = [], 0
        for word in alignment["source"]:
            start = alignment["source_text"].index(word, position)
            position = start + len(word)
            positions.append((start, position))
        words = alignment["source_text"].split(" ")
        starts = [sum(len(word) + 1 for word in words[:index]) for index in range(len(words) + 1)]
        for (first, last), tag in zip(spans, tags):
            within = {
                index for index, (start, end) in enumerate(positions) if end > starts[first] and start < starts[last] - 1
            }
            wanted = {target for source, target in alignment["links"] if source in within}
            if not wanted:
                silent += 1
                continue
            covered = span_words(translation, tag, alignment["target"])
            linked_spans += 1
            exactly += covered == wanted
            at_least += covered >= wanted
    return linked_spans, exactly, at_least, silent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True, help="sentences, one per line")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    lines = [line.split() for line in options.source.read_text(encoding="utf-8").splitlines()]
    lines = [words for words in lines if len(words) > 2][: options.sentences]
    marked = [mark(words, generator) for words in lines]
    with tempfile.TemporaryDirectory() as directory:
        source, pairs = Path(directory) / "source.txt", Path(directory) / "pairs.tsv"
        source.write_text("".join(f"{text}\n" for text, *_ in marked), encoding="utf-8")
        translate = ["translate", "--markup", "html", "--placeholders", "none", "--input", source]
        translations = softalign(options, translate).splitlines()
        plain = [unescape(TAG.sub("", translation)) for translation in translations]
        with open(pairs, "w", encoding="utf-8") as file:
            file.writelines(f"{' '.join(words)}\t{text}\n" for words, text in zip(lines, plain))
        broken = 0
        for translation, (_, _, tags) in zip(translations, marked):
            found = sorted(tag for tag in TAG.findall(translation) if not tag.startswith("</"))
            broken += Balance(translation).broken or found != sorted(f"<{tag}>" for tag in tags)
        print(f"{len(translations)} sentences, {sum(len(spans) for _, spans, _ in marked)} tags, {broken} not well-formed")
        for name, added in [("default", []), *((way, ["--symmetrize", way]) for way in ["intersection", "grow-diag-final-and"])]:
            links = ["align", "--pairs", pairs, "--words", "punctuation", "--format", "jsonl", *added]
            alignments = [json.loads(line) for line in softalign(options, links).splitlines()]
            linked, exactly, at_least, silent = compare(alignments, translations, marked)
            print(
                f"{name} links: {linked} tags with linked words, on exactly them {exactly / linked:.1%}, "
                f"on at least them {at_least / linked:.1%}; {silent} without"
            )


if __name__ == "__main__":
    main()
