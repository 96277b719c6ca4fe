"""Chooses the coverage, length and brevity penalties of beam search on held-out parts of several corpora. Takes hours.

    python3 scripts/choose_search_constants.py --runs RUNS --corpora data/train.tsv:10000:10 en-de.tsv:2000:60 --seeds 1 2

Each corpus is a TSV file of pairs, with the number of pairs to train on and the maximum number of epochs: FILE[:PAIRS[:EPOCHS]].
For each corpus and seed, a random tenth of the pairs, at most 1,000, is held out. A model trains on a random part of the other
pairs without those that repeat a held-out source or target, with the program's defaults and on one thread. `train` takes its
validation pairs from these, so the held-out pairs choose nothing but the penalties. The model translates them with each
combination of penalties.

Prints BLEU, chrF and length ratio (words of the translations per word of the references) of each combination for each model.
Then prints the mean differences from the baseline over all models, with the standard error of the paired differences, and the
combination with the highest mean BLEU. The best of many combinations looks better than it is. So each corpus is also measured
with the combination that is best on the others.

Existing models and results in --runs are reused, and interrupted trainings resumed. Needs a release build; no Python packages.
"""

import argparse
import json
import random
import re
from itertools import product
from pathlib import Path
from statistics import mean, stdev

from trained_models import Models, add_options, print_table

MAX_HELD_OUT = 1000
PENALTIES = ["coverage", "length", "brevity"]
HEADER = [", ".join(PENALTIES), "BLEU", "chrF", "length ratio"]


class Run:
    """A model of one corpus and seed, with the pairs held out from its training."""

    def __init__(self, corpus, seed, directory):
        self.path, self.pairs, self.epochs = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", corpus).groups()
        self.corpus = Path(self.path).stem
        self.seed = seed
        self.name = "-".join(filter(None, [self.corpus, self.pairs, self.epochs, str(seed)]))
        self.training, self.held_out = (directory / f"{self.name}.{part}.tsv" for part in ("training", "held-out"))

    def split(self):
        """Writes the training and the held-out pairs."""
        pairs = Path(self.path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
        random.Random(self.seed).shuffle(pairs)
        size = min(len(pairs) // 10, MAX_HELD_OUT)
        held_out, rest = pairs[:size], pairs[size:]
        sources, targets = ({pair.split("\t")[side] for pair in held_out} for side in (0, 1))
        rest = [pair for pair in rest if pair.split("\t")[0] not in sources and pair.split("\t")[1] not in targets]
        write_lines(self.held_out, held_out)
        write_lines(self.training, rest[: int(self.pairs)] if self.pairs else rest)

    def train(self, models):
        epochs = ["--max-epochs", self.epochs] if self.epochs else []
        models.train(self.name, ["--train", self.training, *epochs, "--seed", str(self.seed)])

    def evaluate(self, models, penalties):
        """Returns BLEU, chrF and length ratio with these penalties."""
        name = "coverage-{}-length-{}-brevity-{}".format(*penalties)
        scores, translations = (models.path(self.name) / f"{name}.{suffix}" for suffix in ("json", "txt"))
        if not scores.exists():
            search = [f"--{name}-penalty={penalty}" for name, penalty in zip(PENALTIES, penalties)]
            pairs = ["--model", models.path(self.name), "--pairs", self.held_out]
            scores.write_text(models.softalign(["evaluate", *pairs, *search, "--save", translations, "--json"]))
        found = json.loads(scores.read_text())
        references = [pair.split("\t")[1] for pair in self.held_out.read_text(encoding="utf-8").splitlines()]
        words = len(translations.read_text(encoding="utf-8").split())
        return found["bleu"], found["chrf"], words / len(" ".join(references).split())


class Results:
    """The scores of all runs with all penalties."""

    def __init__(self, baseline):
        self.baseline = baseline
        self.runs, self.scores = [], []

    def add(self, run, scores):
        self.runs.append(run)
        self.scores.append(scores)

    def gains(self, penalties, measure, corpora=None):
        """Returns the differences from the baseline on each run of these corpora, by default of all."""
        return [
            scores[penalties][measure] - scores[self.baseline][measure]
            for run, scores in zip(self.runs, self.scores)
            if corpora is None or run.corpus in corpora
        ]

    def best(self, corpora=None):
        """Returns the penalties with the highest mean BLEU."""
        return max(self.scores[0], key=lambda penalties: mean(self.gains(penalties, 0, corpora)))

    def print_means(self):
        rows = []
        for penalties in self.scores[0]:
            bleu, chrf = (differences(self.gains(penalties, measure)) for measure in (0, 1))
            ratio = mean(scores[penalties][2] for scores in self.scores)
            rows.append([label(penalties), bleu, chrf, f"{ratio:.3f}"])
        print_table(HEADER, rows)

    def print_choice(self):
        best = self.best()
        print(f"\nbest of all: {label(best)}, BLEU {differences(self.gains(best, 0))}")
        corpora = sorted({run.corpus for run in self.runs})
        if len(corpora) == 1:
            return
        unseen = []
        for corpus in corpora:
            best = self.best([other for other in corpora if other != corpus])
            unseen += self.gains(best, 0, [corpus])
            print(f"best without {corpus}: {label(best)}, BLEU on it {differences(self.gains(best, 0, [corpus]))}")
        print(f"BLEU on corpora not chosen on: {differences(unseen)}")


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def label(penalties):
    return ", ".join(f"{penalty:g}" for penalty in penalties)


def differences(values):
    """Formats the mean of the differences with its standard error."""
    error = f" ± {stdev(values) / len(values) ** 0.5:.2f}" if len(values) > 1 else ""
    return f"{mean(values):+.2f}{error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, [1, 2])
    parser.add_argument("--corpora", nargs="+", required=True, metavar="FILE[:PAIRS[:EPOCHS]]")
    parser.add_argument("--coverage-penalties", nargs="+", type=float, default=[0, 0.05, 0.1, 0.2, 0.4])
    parser.add_argument("--length-penalties", nargs="+", type=float, default=[0, 0.4, 0.6, 0.8, 1])
    parser.add_argument("--brevity-penalties", nargs="+", type=float, default=[2])
    parser.add_argument("--baseline", nargs=3, type=float, default=[0.2, 0.8, 2], metavar=tuple(map(str.upper, PENALTIES)))
    options = parser.parse_args()
    models = Models(options)
    baseline = tuple(options.baseline)
    grid = [*product(options.coverage_penalties, options.length_penalties, options.brevity_penalties)]
    results = Results(baseline)
    for seed, corpus in product(options.seeds, options.corpora):
        run = Run(corpus, seed, models.directory)
        run.split()
        run.train(models)
        scores = {penalties: run.evaluate(models, penalties) for penalties in dict.fromkeys([*grid, baseline])}
        results.add(run, scores)
        rows = [
            [label(penalties), f"{bleu:.2f}", f"{chrf:.2f}", f"{ratio:.3f}"]
            for penalties, (bleu, chrf, ratio) in scores.items()
        ]
        print(f"\n{run.name}\n")
        print_table(HEADER, rows)
    print()
    results.print_means()
    results.print_choice()


if __name__ == "__main__":
    main()
