#!/usr/bin/env python3
"""Trains translators into small languages with default settings and a time limit, and measures them on text of another domain.

    scripts/small_languages.py --runs runs --pairs americas/bzd americas/cni americas/hch --source es --minutes 10 --seeds 1 2 3

Each of --pairs is the beginning of four names of parallel files: `bzd` for bzd.train.es, bzd.train.bzd, bzd.dev.es and bzd.dev.bzd.
Prints for each language and each search the mean over the seeds, and their range: chrF, chrF++ and BLEU of the development text, the
length of the translations as a percentage of that of the references, in characters, and how many numbers of the sources are in the
translations, and how many names of the sources that the references keep. Needs only softalign. Each training takes --minutes on one
thread, which nothing else should disturb: fewer epochs fit into the time otherwise.
"""

import argparse
import re
from pathlib import Path

from trained_models import Models, add_options, print_table, spread

SEARCHES = {"beam": [], "--mbr 40 --temperature 0.7": ["--mbr", "40", "--temperature", "0.7"]}
NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
WORD = re.compile(r"\w[\w'’-]*")


class Corpus:
    """Parallel files of a language."""

    def __init__(self, prefix, source):
        self.prefix, self.source, self.language = prefix, source, Path(prefix).name

    def files(self, part):
        return [f"{self.prefix}.{part}.{side}" for side in (self.source, self.language)]

    def options(self, part):
        source, target = self.files(part)
        return ["--source", source, "--target", target]


def lines(path):
    return Path(path).read_text(encoding="utf-8").split("\n")[:-1]


def has_word(text, word):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def kept(sources, references, translations):
    """Returns the percentages of numbers, and of names that the reference keeps, which are in the translations."""
    numbers, names = [], []
    for source, reference, translation in zip(sources, references, translations, strict=True):
        numbers += [number in translation for number in NUMBER.findall(source)]
        for word in WORD.findall(source)[1:]:
            if word[0].isupper() and has_word(reference, word):
                names.append(has_word(translation, word))
    return [100 * sum(found) / max(len(found), 1) for found in (numbers, names)]


def measure(models, name, corpus, search):
    """Returns chrF, chrF++, BLEU, length, and kept numbers and names of a model on the development text."""
    sets = {search: [*corpus.options("dev"), *options] for search, options in SEARCHES.items()}
    scores = models.evaluate(name, sets)[search]
    source, target = corpus.files("dev")
    command = ["translate", "--model", models.path(name), "--input", source, *SEARCHES[search]]
    translations = models.softalign(command).split("\n")[:-1]
    sources, references = lines(source), lines(target)
    length = 100 * len("".join(translations)) / len("".join(references))
    return [scores["chrf"], scores["chrf_pp"], scores["bleu"], length, *kept(sources, references, translations)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, [1])
    parser.add_argument("--pairs", nargs="+", required=True, help="beginnings of the names of parallel files")
    parser.add_argument("--source", required=True, help="ending of the names of the source files")
    parser.add_argument("--minutes", type=float, default=10, help="time limit of a training")
    parser.add_argument("--options", nargs=argparse.REMAINDER, default=[], help="further options of train, at the end")
    options = parser.parse_args()
    models = Models(options)
    corpora = [Corpus(prefix, options.source) for prefix in options.pairs]
    runs = {}
    for corpus in corpora:
        limit = ["--max-minutes", str(options.minutes), *options.options]
        for seed in options.seeds:
            runs[f"{corpus.language}-{seed}"] = [*corpus.options("train"), "--seed", str(seed), *limit]
    models.train_all(runs.items())
    rows = []
    for corpus in corpora:
        pairs = f"{len(lines(corpus.files('train')[0])):,}"
        for search in SEARCHES:
            measured = [measure(models, f"{corpus.language}-{seed}", corpus, search) for seed in options.seeds]
            columns = zip(zip(*measured, strict=True), (1, 1, 2, 0, 0, 0), strict=True)
            rows.append([corpus.language, pairs, search, *(spread(values, digits) for values, digits in columns)])
    print_table(["language", "pairs", "search", "chrF", "chrF++", "BLEU", "length, %", "numbers, %", "names, %"], rows)


main()
