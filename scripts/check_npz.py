#!/usr/bin/env python3
"""Opens the program's .npz files with NumPy and compares them with its JSON.

Arrays must have the shape [target words, source words] and exactly the weights of the JSON. Each row plus its weight on the
source's </s> must sum to 1. The words must be equal.

Needs `cargo build --release` and NumPy.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent.parent
PAIRS = "The black cat sleeps.\tLe chat noir dort.\n\t\nHello!\t\n\tBonjour !\nWhere does she live?\tOù habite-t-elle?\n"


def align(directory, form, *options):
    (directory / "pairs.tsv").write_text(PAIRS)
    command = [HERE / "target/release/softalign", "align", "--quiet", "--pairs", directory / "pairs.tsv", "--format", form]
    subprocess.run([*command, "--output", directory / "out", *options], check=True, cwd=HERE)
    return directory / "out"


def main():
    for options in ([], ["--tokens"], ["--words", "punctuation"], ["--links-from", "hmm"]):
        with tempfile.TemporaryDirectory() as directory:
            directory = Path(directory)
            objects = json.loads(align(directory, "json", *options).read_text())
            arrays = numpy.load(align(directory, "npz", *options))
            names = [f"{index}{part}" for index in range(len(objects)) for part in ("", ".source", ".target")]
            assert arrays.files == names, arrays.files
            for item in objects:
                array = arrays[str(item["id"])]
                assert array.dtype == numpy.float32 and array.shape == (len(item["target"]), len(item["source"]))
                expected = numpy.array(item["attention"], dtype=numpy.float32).reshape(array.shape)
                assert (array == expected).all(), item
                for side in ("source", "target"):
                    assert arrays[f"{item['id']}.{side}"].tolist() == item[side], item
                assert numpy.allclose(array.sum(axis=1) + item["eos"], 1, atol=1e-5), item
    print("npz: arrays and words equal those of the JSON")


if __name__ == "__main__":
    main()
