"""Trains and evaluates models for other scripts. Finished models are reused, and interrupted trainings are resumed.

Each model trains on one thread, so that one model per processor can train in parallel.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/softalign"


def add_options(parser, seeds):
    parser.add_argument("--runs", type=Path, required=True, help="directory of the models")
    parser.add_argument("--seeds", nargs="+", type=int, default=seeds)
    parser.add_argument("--jobs", type=int, default=1, help="models that train in parallel")
    parser.add_argument("--program", type=Path, default=PROGRAM)


class Models:
    """A directory of models, each trained and evaluated once."""

    def __init__(self, options):
        self.directory, self.program, self.jobs = options.runs, options.program, options.jobs
        self.directory.mkdir(parents=True, exist_ok=True)

    def softalign(self, arguments):
        command = [self.program, *arguments, "--quiet", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        return done.stdout

    def path(self, name):
        return self.directory / name

    def train(self, name, options):
        """Trains a model unless it exists. A finished run is renamed to its final directory."""
        if self.path(name).exists():
            return
        unfinished = self.path(f"{name}.unfinished")
        if (unfinished / "resume.safetensors").exists():
            self.softalign(["train", "--out", unfinished, "--resume"])
        else:
            self.softalign(["train", *options, "--out", unfinished])
        unfinished.rename(self.path(name))
        print(f"trained {name}", file=sys.stderr, flush=True)

    def train_all(self, runs):
        """Trains all `(name, options)` in parallel, starting in this order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda run: self.train(*run), runs))

    def evaluate(self, name, sets):
        """Returns the results of `evaluate --json` on each set. `sets` maps names to options of `evaluate`."""
        cached = self.path(name) / "evaluation.json"
        if not cached.exists():
            command = ["evaluate", "--model", self.path(name), "--json"]
            found = {key: json.loads(self.softalign([*command, *options])) for key, options in sets.items()}
            cached.write_text(json.dumps(found))
        return json.loads(cached.read_text())

    def validations(self, name):
        """Returns the validations of the model's log, in order."""
        lines = (self.path(name) / "log.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == "validation"]


def spread(values, digits):
    """Formats the mean, with the range if there are several values."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    mean = f"{sum(values) / len(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def print_table(head, rows):
    """Prints a Markdown table whose first column is text and whose other columns are numbers."""
    print("|", " | ".join(head), "|")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("|", " | ".join(row), "|")
