#!/usr/bin/env python3
"""Sends a long stream of normal, unusual and broken text through one `translate` and one `align`, and measures their memory.

There must be one output line per input line, in order, and memory must not grow. Memory depends on the lines of the current
batch, so each tenth of the stream has the same lines, apart from words that are new each time, and the means over the tenths
are compared. The peak must stay near the mean. Takes about five minutes with the shipped model. Needs `cargo build --release`.

Example:
  scripts/soak.py --lines 600000
"""

import argparse
import random
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TENTHS = 10
UNUSUAL = ["", " ", "...", "!?" * 40, "日本語です", "שלום עולם", "\u202eabc\u202c", "a" * 3000, "é\u0301" * 50,
       "\x1b[2J\x07", "{\"json\": 1}", "<script>alert(1)</script>", "=1+1", "🦊🦊🦊", "\u00a0\u2009", "word " * 700, "\ufeff", "0"]


def sentences():
    """Returns the pairs of the shipped test set."""
    lines = (HERE / "data/test.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def lines(count, seed, pairs):
    """Yields pairs, some of them unusual, shuffled, or with random characters that differ in each tenth."""
    characters = random.Random(seed)
    for number in range(count):
        if number % max(count // TENTHS, 1) == 0:
            rng = random.Random(seed)
        source, target = rng.choice(pairs)
        kind = rng.random()
        if kind < 0.1:
            source = rng.choice(UNUSUAL)
        elif kind < 0.15:
            target = rng.choice(UNUSUAL)
        elif kind < 0.2:
            source = " ".join(rng.sample(source.split(), len(source.split())))
        elif kind < 0.25:
            source = "".join(chr(characters.choice([ord(c), 0x300 + ord(c) % 0x60, 0x4e00 + ord(c)])) for c in source)
        yield source, target


def memory(process):
    """Returns resident memory in MiB without mapped files, as a list that is empty if the process has ended."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon")]


def soak(binary, name, arguments, texts, check):
    """Runs a command on texts. Prints its mean memory in each tenth of the stream, and the peak."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as stream:
        stream.writelines(text + "\n" for text in texts)
        stream.flush()
        # A separate process, since a thread would block together with the reader.
        feeder = subprocess.Popen(["cat", stream.name], stdout=subprocess.PIPE)
        process = subprocess.Popen([binary, *arguments], stdin=feeder.stdout, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, cwd=HERE)
        feeder.stdout.close()
        start, count, samples = time.time(), 0, [[] for _ in range(TENTHS)]
        for line in process.stdout:
            check(texts[count], line.decode().rstrip("\n"), count)
            if count % 100 == 0:
                samples[count * TENTHS // len(texts)] += memory(process)
            count += 1
    if process.wait() != 0 or count != len(texts):
        raise SystemExit(f"soak: {name}: {count} output lines for {len(texts)}, exit code {process.returncode}")
    rate = count / (time.time() - start)
    means, peak = [sum(part) / len(part) for part in samples], max(map(max, samples))
    print(f"{name}: {count:,} lines in order, {rate:,.0f} lines/s; mean MiB in each tenth of them "
          f"{' '.join(f'{mean:.0f}' for mean in means)}, peak {peak:.0f}", flush=True)
    # Memory fills in the first tenth, and the system's allocator takes some MiB more until it settles (`tests/memory.rs`
    # counts the bytes in use).
    if means[-1] > 1.1 * means[1] or peak > 1.5 * means[1]:
        raise SystemExit(f"soak: {name}: memory grows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    parser.add_argument("--lines", type=int, default=200_000, help="at least 20,000")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    pairs = list(lines(max(arguments.lines, 20_000), arguments.seed, sentences()))
    binary = arguments.binary.resolve()

    def check_empty(text, output, number):
        if text.strip() == "" and output != "":
            raise SystemExit(f"soak: line {number + 1}: {text!r} became {output!r}")

    soak(binary, "translate", ["translate", "--beam", "1"], [source for source, _ in pairs], check_empty)

    def check_number(_, output, number):
        if f'"id":{number},' not in output:
            raise SystemExit(f"soak: line {number + 1} gives {output[:80]!r}")

    clean = lambda text: text.replace("\t", " ")
    soak(binary, "align", ["align", "--pairs", "-", "--format", "jsonl"],
         [f"{clean(source)}\t{clean(target)}" for source, target in pairs], check_number)


if __name__ == "__main__":
    main()
