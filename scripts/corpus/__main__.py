"""Write the corpus: `python3 scripts/corpus [--seed N] [--out DIRECTORY]`."""

import argparse
from pathlib import Path

from draw import Draw
from sampling import check, draw_sets, report

SEED = 20


def write(sets, directory):
    """Write each set, and the gold links of all but the training set."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, examples in sets.items():
        lines = [f"{x.sentence.en}\t{x.sentence.fr}\n" for x in examples]
        (directory / f"{name}.tsv").write_bytes("".join(lines).encode("utf-8"))
        if name != "train":
            gold = "".join(x.sentence.gold + "\n" for x in examples)
            (directory / f"{name}.gold").write_bytes(gold.encode("utf-8"))


def main():
    """Draw, check and write."""
    parser = argparse.ArgumentParser(prog="corpus", description="Write the English-French corpus.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=Path("data"))
    options = parser.parse_args()
    sets = draw_sets(Draw(options.seed))
    check(sets)
    write(sets, options.out)
    print(report(sets))


if __name__ == "__main__":
    main()
