"""Write the corpus: `python3 data/generator [--seed N] [--out DIRECTORY]`."""

import argparse
from pathlib import Path

from draw import seed
from newcomers import FILE
from sampling import check, draw_sets, report


def main():
    """Draw, check and write each set, the gold links of all but the training set, and what is held out."""
    parser = argparse.ArgumentParser(prog="generator", description="Write the English-French corpus.")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("data"))
    options = parser.parse_args()
    seed(options.seed)
    sets = draw_sets()
    check(sets)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, examples in sets.items():
        files = {"tsv": [f"{x.sentence.en}\t{x.sentence.fr}\n" for x in examples]}
        if name != "train":
            files["gold"] = [x.sentence.gold + "\n" for x in examples]
        for kind, lines in files.items():
            (options.out / f"{name}.{kind}").write_bytes("".join(lines).encode("utf-8"))
    (options.out / FILE.name).write_bytes(FILE.read_bytes())
    print(*report(sets), sep="\n")


if __name__ == "__main__":
    main()
