#!/usr/bin/env python3
"""Opens the program's .npz files with NumPy and holds them against its JSON: needs `cargo build --release` and numpy.

Arrays must have the shape [target words × source words], the JSON's weights to the last digit, and rows that with the weight on
the source's end sum to 1; the words beside them must be the JSON's.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy

HERE = Path(__file__).resolve().parent.parent
PAIRS = "The black cat sleeps.\tLe chat noir dort.\n\t\nHello!\t\n\tBonjour !\nWhere does she live?\tOù habite-t-elle?\n"


def align(folder, form, *options):
    (folder / "pairs.tsv").write_text(PAIRS)
    command = [HERE / "target/release/softalign", "align", "--quiet", "--pairs", folder / "pairs.tsv", "--format", form]
    subprocess.run([*command, "--output", folder / "out", *options], check=True, cwd=HERE)
    return folder / "out"


def main():
    for options in ([], ["--subwords"], ["--words", "punctuation"], ["--links-from", "hmm"]):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            objects = json.loads(align(folder, "json", *options).read_text())
            arrays = numpy.load(align(folder, "npz", *options))
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
    print("npz: NumPy reads what JSON says")


if __name__ == "__main__":
    main()
