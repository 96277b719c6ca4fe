#!/usr/bin/env python3
"""Compares the statistical aligner with eflomal and fast_align: seconds, peak memory and alignment error rate.

The pairs are spliced: the beginning of one pair of the corpus and the end of another, each cut where no link of
`softalign align --links-from pairs` crosses. So any number of different pairs has the words, the lengths and about the order
of real ones. With --count 0, the pairs of the corpus are used as they are. The gold pairs are the last ones, and all programs
see them. The programs run in turn, each with all processors. Nothing else may run meanwhile.

Needs tokenized pairs (source, tab, target) and a Python with eflomal and systran-align (fast_align for Python; the options
here are -d -o -v). A million pairs take about half an hour:
  scripts/compare_aligners.py --pairs train.tsv --gold-pairs gold.tsv --gold gold.links --python venv/bin/python \\
      --count 1000000 --runs runs
"""

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

from trained_models import PROGRAM, print_table

FAST_ALIGN = """
import sys, systran_align
text, directory = sys.argv[1:]
files = f"{directory}/forward.probabilities", f"{directory}/backward.probabilities"
systran_align.generate_alignment_probabilities(
    text, *files, favor_diagonal=True, optimize_tension=True, variational_bayes=True)
aligner = systran_align.Aligner(*files)
with open(text, encoding="utf-8") as pairs, open(f"{directory}/fast_align.links", "w") as out:
    for pair in pairs:
        source, target = pair.rstrip("\\n").split(" ||| ")
        links = aligner.align(source.split(), target.split())["alignments"]
        out.write(" ".join(f"{s}-{t}" for s, t in links) + "\\n")
"""


def memory_of_tree(root):
    """Returns the resident memory of a process and its descendants in bytes."""
    children, sizes = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        process = int(status.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        sizes[process] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        total += sizes.get(process, 0)
        waiting += children.get(process, [])
    return total


def measure(commands):
    """Runs commands one after another. Returns seconds and peak memory in MiB."""
    start, peak = time.time(), 0
    for command, output in commands:
        with open(output or os.devnull, "w") as out:
            child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=subprocess.PIPE)
        errors = []
        reader = threading.Thread(target=lambda pipe=child.stderr: errors.append(pipe.read()))
        reader.start()
        while child.poll() is None:
            peak = max(peak, memory_of_tree(child.pid))
            time.sleep(0.1)
        reader.join()
        if child.returncode:
            sys.exit(f"{command}: status {child.returncode}\n{errors[0].decode()[-2000:]}")
    return time.time() - start, peak / 2**20


def splice(pairs, links, count, seed):
    """Returns `count` pairs, each with the beginning of one and the end of another."""
    cuts = []
    for (source, target), line in zip(pairs, links):
        linked = [tuple(map(int, link.split("-"))) for link in line.split()]
        straight = [
            (s, t)
            for s in range(1, len(source))
            for t in range(1, len(target))
            if all((i < s) == (j < t) for i, j in linked) and (s - 1, t - 1) in linked
        ]
        if straight:
            cuts.append((source, target, straight))
    draw = random.Random(seed)
    spliced = []
    for _ in range(count):
        (source, target, first), (other_source, other_target, second) = draw.choice(cuts), draw.choice(cuts)
        (s, t), (other_s, other_t) = draw.choice(first), draw.choice(second)
        spliced.append((source[:s] + other_source[other_s:], target[:t] + other_target[other_t:]))
    return spliced


def read_pairs(path):
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [tuple(side.split() for side in line.split("\t")) for line in lines]


def write_corpus(options, directory):
    """Writes the pairs in the formats of all programs."""
    pairs = read_pairs(options.pairs)
    if options.count:
        command = [options.program, "align", "--links-from", "pairs", "--format", "pharaoh", options.pairs]
        links = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        pairs = splice(pairs, links, options.count, seed=1)
    pairs += read_pairs(options.gold_pairs)
    texts = [[" ".join(side) for side in pair] for pair in pairs]
    forms = {"pairs.tsv": "\t".join, "source.txt": lambda pair: pair[0], "target.txt": lambda pair: pair[1],
             "pairs.txt": " ||| ".join}
    for name, form in forms.items():
        (directory / name).write_text("".join(form(pair) + "\n" for pair in texts), encoding="utf-8")
    return len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", required=True, metavar="TSV", help="pairs to splice")
    parser.add_argument("--gold-pairs", required=True, metavar="TSV", help="pairs with gold links")
    parser.add_argument("--gold", required=True, metavar="FILE", help="their gold links")
    parser.add_argument("--count", type=int, default=1_000_000, help="number of spliced pairs")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runs", type=Path, required=True, help="directory of the pairs and links")
    parser.add_argument("--python", default=sys.executable, help="interpreter with eflomal and systran-align")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    directory = options.runs.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    count = write_corpus(options, directory)

    def path(name):
        return directory / name

    eflomal = Path(options.python).parent / "eflomal-align"
    directions = [path("forward.links"), path("backward.links")]
    programs = {
        "softalign": [([options.program, "align", "--links-from", "pairs", "--format", "pharaoh", "--quiet",
                        path("pairs.tsv")], path("softalign.links"))],
        "eflomal": [([options.python, eflomal, "--overwrite", "-i", path("pairs.txt"), "-f", directions[0], "-r", directions[1]], None),
                    ([options.program, "symmetrize", *directions], path("eflomal.links"))],
        "fast_align": [([options.python, "-c", FAST_ALIGN, path("pairs.txt"), directory], None)],
    }
    measured = {name: [] for name in programs}
    for _ in range(options.rounds):
        for name, commands in programs.items():
            measured[name].append(measure(commands))
            print(name, measured[name][-1], file=sys.stderr, flush=True)
    rows = []
    for name, results in measured.items():
        gold_pairs = len(Path(options.gold_pairs).read_text(encoding="utf-8").splitlines())
        links = path(f"{name}.links").read_text().splitlines()
        path("last.links").write_text("".join(line + "\n" for line in links[count - gold_pairs :]))
        command = [options.program, "evaluate", "--pairs", options.gold_pairs, "--gold", options.gold, "--links",
                   path("last.links")]
        found = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
        error = next(line.split()[1] for line in found.splitlines() if line.startswith("AER"))
        seconds = " ".join(f"{seconds:.1f}" for seconds, _ in results)
        rows.append([name, seconds, f"{max(memory for _, memory in results):,.0f}", error])
    print_table([f"{count:,} pairs", "seconds", "peak MiB", "AER"], rows)


if __name__ == "__main__":
    main()
