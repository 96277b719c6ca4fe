"""Data of the tests: the shipped model and pairs, and a tiny model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import softalign

ROOT = Path(__file__).parents[3]
MODEL = ROOT / "checkpoints"

# Settings under which a training takes a second.
TINY = {"preset": "tiny", "max_epochs": 2, "tokenization": "word", "guided_alignment": 0}


def read_pairs(path, count):
    lines = path.read_text(encoding="utf-8").splitlines()[:count]
    return [tuple(line.split("\t")[:2]) for line in lines]


def command(*arguments, text=None):
    """Run the command and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "softalign", *map(str, arguments)], input=text, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def model():
    return softalign.load(MODEL)


@pytest.fixture(scope="session")
def pairs():
    return read_pairs(ROOT / "data" / "test.tsv", 100)


@pytest.fixture(scope="session")
def training_pairs():
    return read_pairs(ROOT / "data" / "train.tsv", 300)
