"""Models that several scripts train and evaluate: what is done already is not done again, and what was broken off goes on.

Each model trains on one thread, so that as many as there are processors can be trained side by side.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "target/release/softalign"


def add_options(parser, seeds):
    parser.add_argument("--runs", type=Path, required=True, help="folder for the models")
    parser.add_argument("--seeds", nargs="+", type=int, default=seeds)
    parser.add_argument("--jobs", type=int, default=1, help="models that train side by side")
    parser.add_argument("--program", type=Path, default=PROGRAM)


class Models:
    """A folder of models, each trained and evaluated once."""

    def __init__(self, options):
        self.folder, self.program, self.jobs = options.runs, options.program, options.jobs
        self.folder.mkdir(parents=True, exist_ok=True)

    def softalign(self, arguments):
        command = [self.program, *arguments, "--quiet", "--threads", "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
        return done.stdout

    def path(self, name):
        return self.folder / name

    def train(self, name, options):
        """Trains what is not trained yet: a finished run is renamed to its final folder."""
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
        """Trains `(name, options)` side by side, in this order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda run: self.train(*run), runs))

    def evaluate(self, name, sets):
        """What `evaluate --json` says of the model on each of the sets, whose values are the options that name them."""
        cached = self.path(name) / "evaluation.json"
        if not cached.exists():
            command = ["evaluate", "--model", self.path(name), "--json"]
            found = {key: json.loads(self.softalign([*command, *options])) for key, options in sets.items()}
            cached.write_text(json.dumps(found))
        return json.loads(cached.read_text())

    def validations(self, name):
        """The validations of the model's log, in order."""
        lines = (self.path(name) / "log.jsonl").read_text().splitlines()
        return [line for line in map(json.loads, lines) if line["event"] == "validation"]


def spread(values, digits):
    """The mean, with the range where there are several."""
    values = [value for value in values if value is not None]
    if not values:
        return ""
    mean = f"{sum(values) / len(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def print_table(head, rows):
    """A table in Markdown; its first column is text, the others are numbers."""
    print("|", " | ".join(head), "|")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("|", " | ".join(row), "|")
