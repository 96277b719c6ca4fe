#!/usr/bin/env python3
"""Reads the program's event files with TensorBoard and compares them with the log.

A training is killed after it logged steps beyond its last checkpoint. The resumed training writes a second file, so some steps
are written twice. TensorBoard must show the contents of the final log: the same tags, each step once, each value equal as a
32-bit float.

Needs `cargo build --release` and the Python package tensorboard.
"""

import json
import math
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

HERE = Path(__file__).resolve().parent.parent
SOFTALIGN = HERE / "target/release/softalign"
WORDS = {"red": "rufo", "grey": "grisa", "old": "vela", "fox": "mi", "owl": "ku", "cat": "ka", "sings": "kanta",
         "runs": "kura"}
TRAIN = ["--preset", "tiny", "--tokenization", "word", "--batch-sentences", "1", "--validate-every", "400", "--max-epochs", "80"]
NOT_SCALARS = {"step", "epoch", "seconds", "done"}


def pairs():
    words = list(WORDS)
    sentences = [(a, n, v) for a in words[:3] for n in words[3:6] for v in words[6:]]
    return "".join(f"the {a} {n} {v}\t{WORDS[a]} {WORDS[n]} {WORDS[v]} .\n" for a, n, v in sentences)


def log(model):
    return [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]


def kill_beyond_checkpoint(model, train):
    """Kills the training when the last line of the log belongs to a step that is not saved yet."""
    with subprocess.Popen(train, stdout=subprocess.DEVNULL) as training:
        while training.poll() is None:
            time.sleep(0.01)
            if not (model / "resume.json").exists():
                continue
            last = log(model)[-1]
            # A checkpoint follows directly after a validation.
            if last["event"] == "progress" and last["step"] > json.loads((model / "resume.json").read_text())["step"]:
                training.send_signal(signal.SIGKILL)
    assert training.returncode == -signal.SIGKILL, "the training finished before it could be killed"


def expected(model):
    scalars = {}
    for line in log(model):
        group = {"progress": "training", "validation": "validation"}[line["event"]]
        for prefix, values in ((group, line), ("attention", line.get("attention", {}))):
            for key, value in values.items():
                if key not in NOT_SCALARS and isinstance(value, (int, float)) and not isinstance(value, bool):
                    scalars.setdefault(f"{prefix}/{key}", []).append((line["step"], float(numpy.float32(value))))
    return scalars


def main():
    with tempfile.TemporaryDirectory() as directory:
        model, pairs_file = Path(directory) / "model", Path(directory) / "pairs.tsv"
        pairs_file.write_text(pairs())
        train = [SOFTALIGN, "train", "--quiet", "--out", model]
        kill_beyond_checkpoint(model, [*train, "--train", pairs_file, "--tensorboard", *TRAIN])
        subprocess.run([*train, "--resume"], check=True, stdout=subprocess.DEVNULL)
        files = sorted(model.glob("events.out.tfevents.*"))
        events = [event for file in files for event in LegacyEventFileLoader(str(file)).Load()]
        written = [event.step for event in events if event.HasField("summary")]
        assert len(files) == 2 and len(written) > len(log(model)), "no step was written twice"
        events = EventAccumulator(str(model), size_guidance={"scalars": 0})
        events.Reload()
        shown = {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
        wanted = expected(model)
        assert shown.keys() == wanted.keys(), shown.keys() ^ wanted.keys()
        for tag, values in wanted.items():
            assert shown[tag] == values, (tag, shown[tag], values)
        times = [event.wall_time for event in events.Scalars("training/loss")]
        assert times == sorted(times) and math.isclose(times[-1], time.time(), abs_tol=600), times
        print(f"tensorboard: {len(wanted)} curves with {sum(map(len, wanted.values()))} values equal the log")


if __name__ == "__main__":
    main()
