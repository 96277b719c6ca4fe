"""Trains models with several settings on several data sets with several seeds, and prints their scores.

    python3 scripts/ablate.py --runs RUNS --corpora CORPORA --data en-de en-de:2000 g2p-fre --seeds 1 2 3 \\
        --epochs 15 --settings "defaults=" "less dropout=--dropout 0.1"

Each setting is a name and options of `train`. Data sets: `shipped`; with --corpora, a directory that holds Multi30k in
multi30k/tok (train.en, train.de, train.cs, val.*) and SIGMORPHON 2020 pronunciations in g2p (fre.train.tsv, fre.dev.tsv and so
on): `en-de`, `en-cs`, `g2p-fre`, `g2p-ice`. `:N` takes N of the training pairs, spread evenly.

Settings are compared after the same number of epochs, not minutes, so other programs may run meanwhile. Prints the mean
scores with their range over the seeds, then the validation scores by epoch. Existing models in --runs are reused, and
interrupted trainings resumed. Each model trains on one thread, --jobs of them in parallel. Needs a release build; no Python
packages.
"""

import argparse
from pathlib import Path

from trained_models import Models, add_options, print_table, spread

# Main metrics of each kind of data: key in the log and in `evaluate --json`, name, digits to print.
TRANSLATION = [("bleu", "BLEU", 1), ("perplexity", "perplexity", 2)]
PRONUNCIATION = [("wer", "WER", 1), ("perplexity", "perplexity", 3)]


class DataSet:
    """Options of `train` and evaluation sets of a data set named on the command line."""

    def __init__(self, name, options):
        self.name = name
        kind, _, size = name.partition(":")
        language = kind.removeprefix("g2p-")
        self.scores = TRANSLATION if language == kind else PRONUNCIATION
        if kind == "shipped":
            self.train, self.sets = [], {set_: ["--pairs", f"data/{set_}.tsv"] for set_ in ("test", "challenge")}
            return
        if language != kind:
            names, files = ["--pairs"], [options.corpora / f"g2p/{language}.{part}.tsv" for part in ("train", "dev")]
        else:
            text = options.corpora / "multi30k/tok"
            names = ["--source", "--target"]
            files = [text / f"{part}.{side}" for part in ("train", "val") for side in kind.split("-")]
        training, held_out = files[: len(names)], files[len(names) :]
        if size:
            training = [subsampled(file, int(size), options) for file in training]
        self.sets = {"validation": options_of(names, held_out)}
        names = ["--train"] if names == ["--pairs"] else names
        validating = ["--valid"] if len(names) == 1 else ["--valid-source", "--valid-target"]
        self.train = [*options_of(names, training), *options_of(validating, held_out)]


def options_of(names, values):
    return [part for pair in zip(names, values) for part in pair]


def subsampled(path, size, options):
    """Writes a file with `size` of the lines, spread evenly, and returns its path."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    subset = options.runs / f"{size}-of-{path.name}"
    subset.write_text("".join(f"{lines[line * len(lines) // size]}\n" for line in range(size)), encoding="utf-8")
    return subset


def directory(data, setting, seed):
    return f"{data.name}-{setting}-{seed}".replace(" ", "-").replace(":", "-")


def scores(models, data, settings, seeds):
    """Prints one row per setting: the scores on every evaluation set."""
    head = [data.name, *(f"{set_} {label}" for set_ in data.sets for _, label, _ in data.scores)]
    rows = []
    for setting in settings:
        found = [models.evaluate(directory(data, setting, seed), data.sets) for seed in seeds]
        cells = [
            spread([run[set_].get(key) for run in found], digits)
            for set_ in data.sets
            for key, _, digits in data.scores
        ]
        rows.append([setting, *cells])
    print_table(head, rows)


def curves(models, data, settings, seeds, points):
    """Prints one row per setting: the greedy score at several validations, and the minutes of training."""
    key, label, digits = data.scores[0]
    logged = {"wer": "exact_match"}.get(key, key)
    runs = {setting: [models.validations(directory(data, setting, seed)) for seed in seeds] for setting in settings}
    longest = max(len(run) for group in runs.values() for run in group)
    shown = sorted({round(longest * point / points) for point in range(1, points + 1)} - {0})
    rows = []
    for setting, group in runs.items():
        at = [[run[point - 1][logged] for run in group if len(run) >= point] for point in shown]
        cells = [f"{sum(values) / len(values):.{digits}f}" if values else "" for values in at]
        minutes = spread([run[-1]["seconds"] / 60 for run in group], 1)
        rows.append([setting, *cells, minutes])
    label = "exact match" if logged != key else label
    print_table([f"{data.name}, {label} by validation", *map(str, shown), "minutes"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, [1])
    parser.add_argument("--corpora", type=Path, help="directory of the data that is not shipped")
    parser.add_argument("--data", nargs="+", default=["shipped"])
    parser.add_argument("--epochs", type=int, help="epochs of every model [default: chosen by the program]")
    parser.add_argument("--points", type=int, default=8, help="columns of the curves")
    parser.add_argument("--settings", nargs="+", metavar="NAME=OPTIONS", default=["defaults="])
    options = parser.parse_args()
    models = Models(options)
    settings = {name: given.split() for name, _, given in (setting.partition("=") for setting in options.settings)}
    sets = [DataSet(name, options) for name in options.data]
    length = ["--max-epochs", str(options.epochs), "--patience", "1000"] if options.epochs else []
    models.train_all(
        (directory(data, name, seed), [*data.train, *length, *given, "--seed", str(seed)])
        for seed in options.seeds
        for data in sets
        for name, given in settings.items()
    )
    for data in sets:
        print()
        scores(models, data, settings, options.seeds)
        print()
        curves(models, data, settings, options.seeds, options.points)


if __name__ == "__main__":
    main()
