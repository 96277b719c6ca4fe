"""Trains one model for each kind of attention with equal settings, and compares them.

Prints a table of test BLEU, challenge BLEU, AER of attention alone and entropy of attention on the validation pairs, with the
range over the seeds. Draws BLEU by source length (figure 2 of Bahdanau et al. 2014). `cargo bench --bench throughput -- scores`
measures the training speed of each. Existing models in --runs are reused, so an interrupted run continues.

The shipped corpus:     python3 scripts/compare_attention.py --runs RUNS --seeds 1 2 3 --epochs 8
Your own parallel text: python3 scripts/compare_attention.py --runs RUNS --epochs 10 --data train.en train.de val.en val.de

Each model trains on one thread, --jobs of them in parallel. Needs a release build; no Python packages.
"""

import argparse
from pathlib import Path

from trained_models import Models, add_options, print_table, spread

KINDS = {
    "additive": [],
    "dot": ["--attention", "dot"],
    "scaled-dot": ["--attention", "scaled-dot"],
    "general": ["--attention", "general"],
    "cosine": ["--attention", "cosine"],
    "four heads": ["--attention", "scaled-dot", "--heads", "4"],
    "mean": ["--attention", "mean"],
    "last": ["--attention", "last"],
}
DRAWN = ["additive", "scaled-dot", "four heads", "mean", "last"]
FIXED = ["mean", "last"]


def name(kind, seed):
    return f"{kind.replace(' ', '-')}-{seed}"


def training(kind, seed, options):
    """Returns the options of `train`."""
    data = []
    if options.data:
        names = ["--source", "--target", "--valid-source", "--valid-target"]
        data = [part for pair in zip(names, options.data) for part in pair]
    # Without guided alignment, since fixed weights cannot be guided.
    common = ["--guided-alignment=0", "--patience", "100", "--max-epochs", str(options.epochs), "--seed", str(seed)]
    return [*data, *common, *options.train, *KINDS[kind]]


def evaluate(models, kind, seed, options):
    """Returns the results of `evaluate --json` for each test set, with the AER of attention alone."""
    links = [] if kind in FIXED else ["--links-from", "attention"]
    if options.data:
        sets = {"test": ["--source", options.data[2], "--target", options.data[3], *links]}
    else:
        files = {set_: (f"data/{set_}.tsv", f"data/{set_}.gold") for set_ in ("test", "challenge")}
        sets = {set_: ["--pairs", pairs, "--gold", gold, *links] for set_, (pairs, gold) in files.items()}
    return models.evaluate(name(kind, seed), sets)


def entropies(models, kind, options):
    """Returns the entropy of attention at the best validation for each seed."""
    runs = [models.validations(name(kind, seed)) for seed in options.seeds]
    return [[line for line in validations if line["best"]][-1]["attention"]["entropy"] for validations in runs]


def table(models, options):
    columns = {"BLEU": ("test", "bleu", 1), "perplexity": ("test", "perplexity", 2)}
    if not options.data:
        columns |= {"AER": ("test", "aer", 3), "challenge BLEU": ("challenge", "bleu", 1)}
        columns["challenge AER"] = ("challenge", "aer", 3)
    rows = []
    for kind in KINDS:
        found = [evaluate(models, kind, seed, options) for seed in options.seeds]
        cells = []
        for set_, key, digits in columns.values():
            meaningful = not (key == "aer" and kind in FIXED)
            cells.append(spread([run[set_].get(key) for run in found] if meaningful else [], digits))
        rows.append([kind, *cells, "" if kind in FIXED else spread(entropies(models, kind, options), 2)])
    print_table(["attention", *columns, "entropy (nats)"], rows)


def figure(models, options):
    """Draws BLEU by length on the validation sentences, or on the shipped test and challenge sets together."""
    labeled = [f"{kind}={models.path(name(kind, options.seeds[0]))}" for kind in DRAWN]
    if options.data:
        pairs = ["--source", options.data[2], "--target", options.data[3]]
    else:
        both = options.runs / "test-and-challenge.tsv"
        both.write_text("".join(Path(f"data/{name}.tsv").read_text() for name in ("test", "challenge")))
        pairs = ["--pairs", both]
    drawn = [part for model in labeled for part in ("--model", model)]
    models.softalign(["evaluate", *drawn, *pairs, "--figure", options.runs / "by-length.svg"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, [1])
    parser.add_argument("--data", nargs=4, metavar="FILE", help="training and validation sentences, one file per side")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--train", nargs=argparse.REMAINDER, default=[], help="options of train; must come last")
    options = parser.parse_args()
    models = Models(options)
    runs = [(kind, seed) for seed in options.seeds for kind in KINDS]
    models.train_all([(name(*run), training(*run, options)) for run in runs])
    table(models, options)
    figure(models, options)


if __name__ == "__main__":
    main()
