#!/usr/bin/env python3
"""Compares softalign with a tiny Transformer of JoeyNMT that trains for the same time. Prints and draws BLEU over minutes.

The Transformer has the sizes of Wu et al. 2021 ("Good for Misconceived Reasons"): 4 layers, 128 units, 256 in the feed-forward
layers, 4 heads, and joint subwords. The paper's batches, warmup and dropout (4,096 tokens, 2,000 steps, 0.3) need hours on a
processor. The defaults here learn more within an hour. For each number of pairs, both programs train side by side, on one
processor each. Nothing else may run meanwhile.

JoeyNMT validates on 100 sentences while it trains, since its search is slow. Afterwards, six of its checkpoints translate all
validation sentences by greedy search, as softalign does while it trains. The best of them and the average of the last five
checkpoints translate them by beam search.

Needs tokenized text, one sentence per line, and an interpreter with joeynmt, subword-nmt and sacrebleu. Example, two hours on
two processors:
  scripts/compare_transformer.py --data train.en train.de val.en val.de --runs runs --joey python3 \\
      --pairs 2000 8000 29000 --minutes 20 30 60 --figure bleu.svg
"""

import argparse
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

from trained_models import PROGRAM, print_table

# Checkpoints of the Transformer that translate all validation sentences.
SCORED = 6

# Numbers of joint subwords by the largest number of pairs that they serve. The last one is the paper's.
VOCABULARIES = [(2000, 2000), (8000, 4000), (10**9, 10000)]

CONFIGURATION = """
name: tiny
joeynmt_version: "2.3.0"
model_dir: {directory}/model
use_cuda: False
fp16: False
random_seed: {seed}
num_workers: 0
data:
  train: {directory}/train
  dev: {directory}/short
  dataset_type: plain
  src: &side
    lang: source
    level: bpe
    lowercase: False
    max_length: 128
    voc_file: {directory}/vocabulary.txt
    tokenizer_type: subword-nmt
    tokenizer_cfg: {{codes: {directory}/codes, pretokenizer: none}}
  trg:
    <<: *side
    lang: target
  special_symbols: {{unk_token: <unk>, unk_id: 0, pad_token: <pad>, pad_id: 1, bos_token: <s>, bos_id: 2,
                    eos_token: </s>, eos_id: 3}}
testing: {{n_best: 1, beam_size: {beam}, beam_alpha: 1.0, batch_size: 64, batch_type: sentence, max_output_length: 60,
          eval_metrics: [bleu], sacrebleu_cfg: {{tokenize: 13a}}, load_model: {checkpoint}}}
training:
  optimizer: adam
  adam_betas: [0.9, 0.98]
  scheduling: warmupinversesquareroot
  learning_rate: {rate}
  learning_rate_warmup: {warmup}
  learning_rate_min: 1.0e-9
  clip_grad_norm: 1.0
  label_smoothing: 0.1
  loss: crossentropy
  batch_size: {batch}
  batch_type: token
  early_stopping_metric: bleu
  epochs: 10000
  validation_freq: {validate_every}
  logging_freq: 10
  shuffle: True
  keep_best_ckpts: -1
  overwrite: True
  print_valid_sents: [0]
model:
  initializer: xavier_uniform
  bias_initializer: zeros
  embed_initializer: xavier_uniform
  tied_embeddings: True
  tied_softmax: True
  encoder: &stack
    type: transformer
    num_layers: 4
    num_heads: 4
    embeddings: {{embedding_dim: 128, scale: True, dropout: 0.0}}
    hidden_size: 128
    ff_size: 256
    dropout: {dropout}
    layer_norm: pre
  decoder: *stack
"""

LEARN_SUBWORDS = """
import io, sys
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe
directory, size = sys.argv[1], int(sys.argv[2])
text = "".join(open(f"{directory}/train.{side}", encoding="utf-8").read() for side in ("source", "target"))
codes = io.StringIO()
learn_bpe(io.StringIO(text), codes, size)
open(f"{directory}/codes", "w", encoding="utf-8").write(codes.getvalue())
codes.seek(0)
bpe = BPE(codes)
units = sorted({unit for line in text.splitlines() for unit in bpe.process_line(line).split()})
open(f"{directory}/vocabulary.txt", "w", encoding="utf-8").write("".join(unit + "\\n" for unit in units))
"""

AVERAGE = """
import sys, torch
states = [torch.load(path, map_location="cpu", weights_only=False) for path in sys.argv[2:]]
mean = states[-1]
for name, value in mean["model_state"].items():
    if value.is_floating_point():
        mean["model_state"][name] = sum(state["model_state"][name] for state in states) / len(states)
torch.save(mean, sys.argv[1])
"""

SCORE = """
import sys, sacrebleu
hypotheses, references = (open(path, encoding="utf-8").read().splitlines() for path in sys.argv[1:])
print(sacrebleu.corpus_bleu(hypotheses, [references]).score)
"""


class Comparison:
    """Both trainings on some of the pairs."""

    def __init__(self, options, pairs, minutes):
        self.options, self.pairs, self.minutes = options, pairs, minutes
        self.directory = options.runs.resolve() / f"{pairs}-{options.seed}"

    def python(self, program, *arguments):
        command = [self.options.joey, "-c", program, *map(str, arguments)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def write_data(self):
        """Writes the sampled training pairs, the validation pairs, and the subwords."""
        self.directory.mkdir(parents=True)
        train, valid = ([Path(path).read_text().splitlines() for path in self.options.data[i : i + 2]] for i in (0, 2))
        chosen = sorted(random.Random(self.options.seed).sample(range(len(train[0])), self.pairs))
        for side, lines, held_out in zip(("source", "target"), train, valid):
            for name, chosen_lines in (("train", [lines[i] for i in chosen]), ("valid", held_out), ("short", held_out[:100])):
                (self.directory / f"{name}.{side}").write_text("".join(line + "\n" for line in chosen_lines))
        self.python(LEARN_SUBWORDS, self.directory, next(size for most, size in VOCABULARIES if self.pairs <= most))

    def configuration(self, beam=1, checkpoint="null"):
        """Writes JoeyNMT's configuration and returns its path. A fifteenth of the time is about one validation."""
        values = {name: getattr(self.options, name) for name in ("seed", "batch", "rate", "warmup", "dropout")}
        path = self.directory / "tiny.yaml"
        path.write_text(CONFIGURATION.format(
            directory=self.directory, beam=beam, checkpoint=checkpoint, validate_every=10 * round(0.8 * self.minutes), **values))
        return path

    def train(self):
        """Trains both for the time, unless a run did."""
        if (self.directory / "done").exists():
            return
        self.write_data()
        files = [f"--{name}={self.directory}/{file}" for name, file in
                 (("source", "train.source"), ("target", "train.target"),
                  ("valid-source", "valid.source"), ("valid-target", "valid.target"))]
        ours = [self.options.program, "train", *files, "--seed", self.options.seed, "--threads", "1", "--quiet",
                "--max-minutes", self.minutes, "--out", self.directory / "softalign"]
        theirs = ["env", "OMP_NUM_THREADS=1", "timeout", "-s", "INT", round(60 * self.minutes), self.options.joey,
                  "-m", "joeynmt", "train", self.configuration(), "--skip-test"]
        children = [subprocess.Popen(["taskset", "-c", str(processor), *map(str, command)],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    for processor, command in enumerate((ours, theirs))]
        for child in children:
            child.wait()
        (self.directory / "done").write_text(time.strftime("%F\n"))

    def score(self, name, command):
        """Returns sacrebleu of the validation sentences' translations by a command. They are kept."""
        output = self.directory / f"{name}.translations"
        if not output.exists():
            unfinished = output.with_suffix(".unfinished")
            with unfinished.open("w") as out, (self.directory / "valid.source").open() as source:
                subprocess.run(list(map(str, command)), stdin=source, stdout=out, stderr=subprocess.DEVNULL, check=True)
            unfinished.rename(output)
        return float(self.python(SCORE, output, self.directory / "valid.target"))

    def transformer(self, checkpoint, beam):
        command = [self.options.joey, "-m", "joeynmt", "translate", self.configuration(beam, checkpoint)]
        return self.score(f"{Path(checkpoint).stem}-beam{beam}", command)

    def validations(self):
        """Returns (minutes, BLEU) of softalign's validations."""
        records = map(json.loads, (self.directory / "softalign/log.jsonl").read_text().splitlines())
        return [(record["seconds"] / 60, record["bleu"]) for record in records if record["event"] == "validation"]

    def checkpoints(self):
        """Returns (minutes, path) of JoeyNMT's checkpoints."""
        found, start = [], None
        for line in (self.directory / "model/train.log").read_text().splitlines():
            if not (at := re.match(r"(\d+-\d+-\d+ \d+:\d+:\d+),(\d+)", line)):
                continue
            seconds = time.mktime(time.strptime(at[1], "%Y-%m-%d %H:%M:%S")) + int(at[2]) / 1000
            start = start or seconds
            if saved := re.search(r"Checkpoint saved in (.*)\.$", line):
                found.append(((seconds - start) / 60, saved[1]))
        return found

    def results(self):
        """Returns both curves, and BLEU by beam search of softalign, the best checkpoint and the average of the last five."""
        checkpoints = self.checkpoints()
        average = self.directory / "model/average.ckpt"
        self.python(AVERAGE, average, *(path for _, path in checkpoints[-5:]))
        scored = [checkpoints[len(checkpoints) * (number + 1) // SCORED - 1] for number in range(SCORED)]
        theirs = [(minutes, self.transformer(path, 1)) for minutes, path in scored]
        best = max(range(SCORED), key=lambda number: theirs[number][1])
        translate = [self.options.program, "translate", "--model", self.directory / "softalign", "--quiet"]
        final = [self.score("softalign", translate), self.transformer(scored[best][1], 5), self.transformer(average, 5)]
        return self.validations(), theirs, final


def best_until(curve, minutes):
    return max((bleu for at, bleu in curve if at <= minutes), default=0.0)


# Colors of the two lines that differ in lightness too, and the plot's geometry in pixels.
COLORS = {"softalign": "#0b5394", "Transformer": "#e08214"}
WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 220, 44, 34, 34


def polyline(curve, place, color):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'


def plot(title, curves, x0, minutes, highest):
    """Returns the elements of one plot, with BLEU from 0 to `highest` over the minutes."""

    def place(x, y):
        return x0 + WIDTH * x / minutes, TOP + HEIGHT * (1 - y / highest)

    parts = [f'<text x="{x0}" y="{TOP - 12}" font-weight="bold">{title}</text>']
    for bleu in range(0, highest + 1, 10):
        y = place(0, bleu)[1]
        parts.append(f'<path d="M{x0} {y:.1f}h{WIDTH}" stroke="{"#666" if bleu == 0 else "#ddd"}"/>')
        parts.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{bleu}</text>')
    for share in range(5):
        x = x0 + WIDTH * share / 4
        parts.append(f'<path d="M{x:.1f} {TOP + HEIGHT}v4" stroke="#666"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{minutes * share / 4:g}</text>')
    parts += [polyline(curve, place, COLORS[name]) for name, curve in curves.items()]
    return parts


def draw(path, plots):
    """Writes an SVG file with one plot for each `(title, curves, minutes)`."""
    highest = 10 * (int(max(bleu for _, curves, _ in plots for curve in curves.values() for _, bleu in curve)) // 10 + 1)
    width, height = LEFT + len(plots) * (WIDTH + GAP), TOP + HEIGHT + 66
    parts = []
    for i, (title, curves, minutes) in enumerate(plots):
        parts += plot(title, curves, LEFT + i * (WIDTH + GAP), minutes, highest)
    parts.append(f'<text x="{LEFT}" y="{height - 26}">BLEU of greedy translations over minutes of training</text>')
    for i, (name, color) in enumerate(COLORS.items()):
        x = LEFT + 130 * i
        parts.append(f'<path d="M{x} {height - 10}h22" stroke="{color}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 28}" y="{height - 6}">{name}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="black"'
    background = f'<rect width="{width}" height="{height}" fill="white"/>'
    path.write_text("\n".join([f"{head} {style}>", "<title>BLEU over minutes</title>", background, *parts, "</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs=4, required=True, metavar="FILE", help="training source, target; validation source, target")
    parser.add_argument("--runs", type=Path, required=True, help="directory of data and models")
    parser.add_argument("--joey", default=sys.executable, metavar="PYTHON", help="interpreter with joeynmt")
    parser.add_argument("--pairs", nargs="+", type=int, default=[2000, 8000, 29000])
    parser.add_argument("--minutes", nargs="+", type=float, default=[20, 30, 60], help="for each number of pairs")
    parser.add_argument("--batch", type=int, default=1024, help="tokens in a batch of the Transformer")
    parser.add_argument("--rate", type=float, default=0.003, help="its peak learning rate")
    parser.add_argument("--warmup", type=int, default=400, help="its steps until the peak")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path, help="SVG file with the curves")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    options = parser.parse_args()
    comparisons = [Comparison(options, *size) for size in zip(options.pairs, options.minutes, strict=True)]
    for comparison in comparisons:
        comparison.train()
    rows, plots = [], []
    for comparison in comparisons:
        ours, theirs, final = comparison.results()
        pairs, minutes = f"{comparison.pairs:,}", comparison.minutes
        for share in (0.1, 0.25, 0.5, 1.0):
            at = share * minutes
            rows.append([f"{pairs} pairs, best after {at:g} minutes", f"{best_until(ours, at):.1f}", f"{best_until(theirs, at):.1f}"])
        rows.append([f"{pairs} pairs, best model, beam 5", f"{final[0]:.1f}", f"{final[1]:.1f}"])
        rows.append([f"{pairs} pairs, average of its last five checkpoints, beam 5", "", f"{final[2]:.1f}"])
        plots.append((f"{pairs} pairs", {"softalign": ours, "Transformer": theirs}, minutes))
    print_table(["", "softalign", "Transformer"], rows)
    if options.figure:
        draw(options.figure, plots)


if __name__ == "__main__":
    main()
