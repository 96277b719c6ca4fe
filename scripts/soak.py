#!/usr/bin/env python3
"""Sends a long stream of good, odd and broken text through one `translate` and one `align`, and watches their memory.

Every line must be answered, in order, and memory must not grow: it rises and falls with the lines that are worked on together,
so what counts is the mean over a tenth of the stream, and no moment may stand far above it. Takes about five minutes with the
shipped model; needs `cargo build --release` first.

Example:
  scripts/soak.py --lines 200000    # at least some 20,000: by then memory has filled
"""

import argparse
import random
import subprocess
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ODD = ["", " ", "...", "!?" * 40, "日本語です", "שלום עולם", "\u202eabc\u202c", "a" * 3000, "é\u0301" * 50,
       "\x1b[2J\x07", "{\"json\": 1}", "<script>alert(1)</script>", "=1+1", "🦊🦊🦊", "\u00a0\u2009", "word " * 700, "\ufeff", "0"]


def sentences():
    """The shipped test set's pairs."""
    lines = (HERE / "data/test.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def lines(count, chance, pairs):
    """Mostly sentences, some of them cut, shuffled or of other characters; each with its number at a known place."""
    for _ in range(count):
        source, target = chance.choice(pairs)
        kind = chance.random()
        if kind < 0.1:
            source = chance.choice(ODD)
        elif kind < 0.15:
            target = chance.choice(ODD)
        elif kind < 0.2:
            source = " ".join(chance.sample(source.split(), len(source.split())))
        elif kind < 0.25:
            source = "".join(chr(chance.choice([ord(c), 0x300 + ord(c) % 0x60, 0x4e00 + ord(c)])) for c in source)
        yield source, target


def memory(process):
    """Resident memory in MiB, that of files aside."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1]) / 1024


def soak(binary, name, arguments, texts, check):
    """Runs a command over texts; tells of the memory in the second tenth of the stream, in its last, and of the most."""
    process = subprocess.Popen([binary, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               cwd=HERE)

    def feed():
        for text in texts:
            process.stdin.write((text + "\n").encode())
        process.stdin.close()

    threading.Thread(target=feed, daemon=True).start()
    began, answered, samples = time.time(), 0, []
    for answer in process.stdout:
        check(texts[answered], answer.decode().rstrip("\n"), answered)
        answered += 1
        if answered % 100 == 0 and process.poll() is None:
            samples.append(memory(process))
    if process.wait() != 0 or answered != len(texts):
        raise SystemExit(f"soak: {name}: {answered} of {len(texts)} lines answered, exit code {process.returncode}")
    rate = answered / (time.time() - began)
    tenth = max(len(samples) // 10, 1)
    early, late = (sum(part) / len(part) for part in (samples[tenth:2 * tenth] or samples, samples[-tenth:]))
    print(f"{name}: {answered:,} lines answered in order, {rate:,.0f} lines/s; {early:.0f} MiB at first, {late:.0f} in the end, "
          f"{max(samples):.0f} at most", flush=True)
    if late > 1.15 * early or max(samples) > 1.5 * early:
        raise SystemExit(f"soak: {name}: memory grows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    pairs = list(lines(arguments.lines, chance, sentences()))
    binary = arguments.binary.resolve()

    def empty_stays_empty(text, answer, number):
        if text.strip() == "" and answer != "":
            raise SystemExit(f"soak: line {number + 1}: {text!r} became {answer!r}")

    soak(binary, "translate", ["translate", "--beam", "1"], [source for source, _ in pairs], empty_stays_empty)

    def numbered(_, answer, number):
        if f'"id":{number},' not in answer:
            raise SystemExit(f"soak: line {number + 1} is answered by {answer[:80]!r}")

    clean = lambda text: text.replace("\t", " ")
    soak(binary, "align", ["align", "--pairs", "-", "--format", "jsonl"],
         [f"{clean(source)}\t{clean(target)}" for source, target in pairs], numbered)


if __name__ == "__main__":
    main()
