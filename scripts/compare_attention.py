"""Train one model for each kind of attention, all alike, and say what each is worth.

Prints a table of test BLEU, challenge BLEU and alignment error by attention alone, with the range over the seeds, and
writes the figure of quality by length (the figure of Bahdanau et al. 2014). How fast each trains, `cargo bench --bench
throughput -- scores` says. What is trained already in
the folder of runs is not trained again, so that a run that was broken off goes on.

The shipped corpus:     python3 scripts/compare_attention.py --runs RUNS --seeds 1 2 3 --epochs 8
Your own parallel text: python3 scripts/compare_attention.py --runs RUNS --epochs 10 --data train.en train.de val.en val.de

Each model trains on one thread, --jobs of them side by side. Needs a release build; no Python packages.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/softalign"

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


def softalign(arguments, options):
    command = [options.program, *arguments, "--quiet", "--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def folder(kind, seed, options):
    return options.runs / f"{kind.replace(' ', '-')}-{seed}"


def train(kind, seed, options):
    """Trains what is not trained yet: a finished run is renamed to its final folder."""
    final = folder(kind, seed, options)
    if final.exists():
        return
    unfinished = final.with_suffix(".unfinished")
    if (unfinished / "resume.safetensors").exists():
        softalign(["train", "--out", unfinished, "--resume"], options)
    else:
        data = []
        if options.data:
            names = ["--source", "--target", "--valid-source", "--valid-target"]
            data = [part for pair in zip(names, options.data) for part in pair]
        # Attention is left to itself, since what is fixed cannot be guided.
        alike = ["--guided-alignment=0", "--patience", "100", "--max-epochs", str(options.epochs), "--seed", str(seed)]
        softalign(["train", *data, *alike, *options.train, *KINDS[kind], "--out", unfinished], options)
    unfinished.rename(final)
    print(f"trained {final.name}", file=sys.stderr, flush=True)


def evaluate(kind, seed, options):
    """What `evaluate --json` says of each test set, alignment error rates by attention alone."""
    model = folder(kind, seed, options)
    cached = model / "evaluation.json"
    if not cached.exists():
        if options.data:
            sets = {"test": ["--source", options.data[2], "--target", options.data[3]]}
        else:
            challenge = ["--pairs", "data/challenge.tsv", "--gold", "data/challenge.gold"]
            sets = {"test": ["--pairs", "data/test.tsv", "--gold", "data/test.gold"], "challenge": challenge}
        links = [] if kind in FIXED else ["--links-from", "attention"]
        found = {}
        for name, pairs in sets.items():
            found[name] = json.loads(softalign(["evaluate", "--model", model, *pairs, *links, "--json"], options))
        cached.write_text(json.dumps(found))
    return json.loads(cached.read_text())


def spread(values, digits):
    """The mean, with the range where there are several."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    mean = f"{sum(values) / len(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def table(options):
    columns = {"BLEU": ("test", "bleu", 1), "perplexity": ("test", "perplexity", 2)}
    if not options.data:
        columns |= {"AER": ("test", "aer", 3), "challenge BLEU": ("challenge", "bleu", 1)}
        columns["challenge AER"] = ("challenge", "aer", 3)
    print("| attention |", " | ".join(columns), "|")
    print("| --- |" + " ---: |" * len(columns))
    for kind in KINDS:
        found = [evaluate(kind, seed, options) for seed in options.seeds]
        cells = []
        for set_, key, digits in columns.values():
            says = not (key == "aer" and kind in FIXED)
            cells.append(spread([run[set_].get(key) for run in found] if says else [], digits))
        print(f"| {kind} |", " | ".join(cells), "|")


def figure(options):
    """Quality by length: of the validation sentences, or of the shipped test set and challenge together."""
    models = [part for kind in DRAWN for part in ("--model", f"{kind}={folder(kind, options.seeds[0], options)}")]
    if options.data:
        pairs = ["--source", options.data[2], "--target", options.data[3]]
    else:
        both = options.runs / "test-and-challenge.tsv"
        both.write_text("".join(Path(f"data/{name}.tsv").read_text() for name in ("test", "challenge")))
        pairs = ["--pairs", both]
    softalign(["evaluate", *models, *pairs, "--figure", options.runs / "by-length.svg"], options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True, help="folder for the models")
    parser.add_argument("--data", nargs=4, metavar="FILE", help="training and validation sentences, one file a side")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="models that train side by side")
    parser.add_argument("--train", nargs=argparse.REMAINDER, default=[], help="more options of train, the last here")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [(kind, seed) for seed in options.seeds for kind in KINDS]
        list(pool.map(lambda run: train(*run, options), runs))
    table(options)
    figure(options)


if __name__ == "__main__":
    main()
