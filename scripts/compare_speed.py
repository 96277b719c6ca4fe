#!/usr/bin/env python3
"""Compares the speed of softalign with a PyTorch implementation of the same model and with JoeyNMT, and prints a table.

The programs run alternately: softalign, PyTorch, softalign, ... Nothing else may run meanwhile. Takes about 50 minutes. The
time of a translation depends on its length, and an undertrained model writes up to the length limit. Therefore softalign is
trained until it reaches the BLEU of the other model, and both sentences and words are counted. Needs tokenized text, one
sentence per line (docs/results/speed.md used Multi30k), and the programs to compare with:

  --torch PYTHON SCRIPT   an interpreter with torch and tokenizers, and a script with the arguments SOURCE_IDS TARGET_IDS
                          VOCABULARY_SIZE --steps N --batch N that prints a JSON line with tokens_per_s and peak_mib; on a
                          GPU it is also given --device cuda, and on a processor with bf16 instructions --precision f32,
                          medium and autocast in turn
  --joey PYTHON CONFIG    an interpreter with joeynmt and sacrebleu, and a configuration of the same sizes with a model
                          trained for a few epochs; training speed is measured for --joey-steps steps of another training,
                          and the trained model translates

Example:
  scripts/compare_speed.py --data train.en train.de val.en val.de --torch python3 rnnsearch.py --joey python3 rnn.yaml

With --shortlist, only translation is compared, by models of your own, in about a minute each.
With --device cuda, only training is compared, on the first GPU and with PyTorch only. Takes about 3 minutes after the build.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

SIZES = ["--preset", "large", "--joint-vocabulary", "--vocabulary-size", "7900", "--dropout", "0.3",
         "--guided-alignment=0", "--decoder", "bahdanau", "--schedule", "plateau"]
BATCH = 64
HEADER = "\n| measurement | softalign | PyTorch | JoeyNMT |\n|---|---|---|---|"
HERE = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))


def run(command, **options):
    """Runs a command. Returns standard output, standard error, seconds and peak memory in MiB."""
    start = time.time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=errors, **options)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.time() - start
        out.seek(0), errors.seek(0)
        if status != 0:
            raise SystemExit(f"{command}: status {status}\n{errors.read().decode()[-2000:]}")
        return out.read().decode(), errors.read().decode(), seconds, usage.ru_maxrss / 1024


def median(values):
    return statistics.median(values)


def spread(values):
    return f"{median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


def ratio(values, others):
    return f"× {median(values) / median(others):.2f} (best against best × {max(values) / max(others):.2f})"


class Softalign:
    def __init__(self, binary, data, directory):
        self.binary, self.data, self.directory = binary, data, directory

    def training(self, out, *options):
        source, target, valid_source, valid_target = self.data
        return [self.binary, "train", "--source", source, "--target", target, "--valid-source", valid_source,
                "--valid-target", valid_target, "--out", out, *SIZES, *options]

    def precisions(self):
        """Returns the precisions for which this processor has instructions."""
        return ["f32"] if "bf16 products emulated" in run([self.binary, "--version"])[0] else ["f32", "bf16"]

    def train(self, name, *options, batch=BATCH):
        """Returns target tokens per second and peak memory."""
        out = self.directory / name
        *_, memory = run(self.training(out, "--quiet", "--batch-sentences", batch, *options))
        rates = [json.loads(line).get("tokens_per_second") for line in open(out / "log.jsonl")]
        return next(filter(None, reversed(rates)), None), memory

    def train_to(self, bleu, max_epochs=6):
        """Trains until the given BLEU on the validation pairs, and returns the BLEU reached."""
        for epochs in range(1, max_epochs + 1):
            if epochs == 1:
                self.train("model", "--max-epochs", "1")
            else:
                run([self.binary, "train", "--resume", "--quiet", "--out", self.directory / "model", "--max-epochs", epochs])
            lines = [json.loads(line) for line in open(self.directory / "model/log.jsonl")]
            reached = [line["bleu"] for line in lines if line["event"] == "validation"][-1]
            print(f"softalign after epoch {epochs}: BLEU {reached:.1f}", flush=True)
            if reached >= bleu:
                break
        return reached

    def start(self, name):
        """Returns the seconds until all pairs are encoded and until one step is done, and peak memory."""
        start = time.time()
        command = self.training(self.directory / name, "--batch-sentences", str(BATCH), "--max-minutes", "0.001")
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        ready = next(time.time() - start for line in child.stderr if "training pairs" in line)
        child.stderr.read()
        usage = os.wait4(child.pid, 0)[2]
        return ready, time.time() - start, usage.ru_maxrss / 1024

    def translate(self, model, beam, text, *options):
        command = [self.binary, "translate", "--quiet", "--model", model, "--beam", beam, *options]
        out, _, seconds, _ = run(command, stdin=open(text))
        return out, seconds

    def scores(self, translations, source, reference):
        """Returns the measures of some translations."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(translations), file.flush()
            texts = ["--hypotheses", file.name, "--source", source, "--target", reference]
            return json.loads(run([self.binary, "evaluate", "--json", *texts])[0])


class Torch:
    def __init__(self, python, script, data, model, directory):
        self.python, self.script, self.directory = python, script, directory
        export = ("import sys, tokenizers\n"
                  "t = tokenizers.Tokenizer.from_file(sys.argv[1])\n"
                  "for i, o in (sys.argv[2:4], sys.argv[4:6]):\n"
                  "    lines = [e.ids for e in t.encode_batch(open(i).read().splitlines(), add_special_tokens=False)]\n"
                  "    open(o, 'w').writelines(' '.join(map(str, ids)) + '\\n' for ids in lines)\n"
                  "print(t.get_vocab_size())\n")
        self.ids = [directory / "source.ids", directory / "target.ids"]
        tokenizer = next(model.glob("*tokenizer*.json"))
        out, *_ = run([python, "-c", export, tokenizer, data[0], self.ids[0], data[1], self.ids[1]])
        self.vocabulary = int(out)

    def train(self, *options, batch=BATCH):
        out, *_ = run([self.python, self.script, *self.ids, self.vocabulary, "--steps", "60", "--batch", batch, *options])
        result = json.loads(out.splitlines()[-1])
        return result["tokens_per_s"], result["peak_mib"]


class Joey:
    def __init__(self, python, config):
        self.python, self.config = python, Path(config).resolve()

    def train(self, steps):
        """Returns target tokens per second over the first steps of an epoch, in a separate directory."""
        text = re.sub(r'model_dir: .*', f'model_dir: "{tempfile.mkdtemp()}/model"', self.config.read_text())
        config = self.config.with_name("speed.yaml")
        config.write_text(re.sub(r"logging_freq: .*", "logging_freq: 10", text))
        child = subprocess.Popen([self.python, "-m", "joeynmt", "train", config, "--skip-test"], cwd=config.parent,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        rates = []
        for line in child.stdout:
            if found := re.search(r"Tokens per Sec:\s*([\d,]+)", line):
                rates.append(float(found[1].replace(",", "")))
                if len(rates) * 10 >= steps:
                    break
        child.kill()
        child.wait()
        return statistics.harmonic_mean(rates[1:])

    def bleu(self, text, reference):
        """Returns BLEU of greedy translations, as `train` does for softalign."""
        out, _ = self.translate(1, text)
        score = ("import sys, sacrebleu\n"
                 "hypotheses, references = (open(path).read().splitlines() for path in sys.argv[1:])\n"
                 "print(sacrebleu.corpus_bleu(hypotheses, [references]).score)\n")
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(out), file.flush()
            return float(run([self.python, "-c", score, file.name, reference])[0])

    def translate(self, beam, text):
        config = self.config.with_name("speed.yaml")
        config.write_text(re.sub(r"beam_size: .*", f"beam_size: {beam}", self.config.read_text()))
        command = [self.python, "-m", "joeynmt", "translate", config]
        one = tempfile.TemporaryFile("w+")
        one.write(open(text).readline()), one.seek(0)
        _, _, start_up, _ = run(command, cwd=config.parent, stdin=one)
        out, _, seconds, _ = run(command, cwd=config.parent, stdin=open(text))
        return out, seconds - start_up


def row(label, values, torch_values=(), joey_values=()):
    """Prints a row of the table."""
    cells = [spread(values)]
    for others in (torch_values, joey_values):
        cells.append(f"{spread(others)}, {ratio(values, others)}" if others else "")
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def on_gpu(ours, torch_arguments, rounds):
    """Prints the training speed on a GPU at two batch sizes."""
    device = ["--device", "cuda"]
    ours.train("model", *device, "--max-epochs", "1")
    torch = torch_arguments and Torch(*torch_arguments, ours.data, ours.directory / "model", ours.directory)
    print(HEADER)
    for batch in (64, 512):
        rates, torch_rates = [], []
        for number in range(rounds):
            rates.append(ours.train(f"{batch}-{number}", *device, "--max-epochs", "1", batch=batch)[0])
            if torch:
                torch_rates.append(torch.train(*device, batch=batch)[0])
        row(f"training on a GPU, batches of {batch} pairs, target tokens/s", rates, torch_rates)


def compare_training(ours, torch, joey, joey_steps, rounds):
    """Prints the training speed and peak memory of all programs."""
    precisions = ours.precisions()
    settings = [["--precision", name] for name in ("f32", "medium", "autocast")] if len(precisions) > 1 else [[]]
    rates, one_thread, memory = ({precision: [] for precision in precisions} for _ in range(3))
    torch_rates, torch_memory, joey_rates = [[] for _ in settings], [], []
    for number in range(rounds):
        for precision in precisions:
            options = ["--precision", precision, "--max-minutes"]
            rate, peak = ours.train(f"two-{precision}-{number}", *options, "1")
            rates[precision].append(rate), memory[precision].append(peak)
            rate, _ = ours.train(f"one-{precision}-{number}", *options, "1.5", "--threads", "1")
            one_thread[precision].append(rate)
        for options, its_rates in zip(settings, torch_rates):
            if torch:
                rate, peak = torch.train(*options)
                its_rates.append(rate), torch_memory.append(peak)
        if joey:
            joey_rates.append(joey.train(joey_steps))
        print(f"round {number + 1}: {rates} {one_thread} {torch_rates} {joey_rates}", flush=True)
    print(HEADER)
    for precision in precisions:
        others = torch_rates[0] if precision == "f32" or not torch else max(torch_rates, key=median)
        row(f"training in {precision}, target tokens/s, 2 threads", rates[precision], others, joey_rates)
        row("the same, 1 thread", one_thread[precision])
        print(f"| speedup over 1 thread | {ratio(rates[precision], one_thread[precision])} | | |")
        row("peak memory, MiB", memory[precision], torch_memory)
    for options, its_rates in zip(settings[1:], torch_rates[1:]):
        if torch:
            print(f"| training, {' '.join(options)} | | {spread(its_rates)} | |")


def compare_translation(ours, joey, text, rounds):
    """Prints the speed of translation with beam search and greedy search."""
    model, precisions = ours.directory / "model", ours.precisions()
    for beam in (5, 1):
        times, words = {name: [] for name in (*precisions, "one", "joey")}, {}
        for _ in range(rounds):
            translations = {name: ours.translate(model, beam, text, "--precision", name) for name in precisions}
            translations["one"] = ours.translate(model, beam, text, "--threads", "1")
            if joey:
                translations["joey"] = joey.translate(beam, text)
            for name, (out, seconds) in translations.items():
                times[name].append(seconds)
                words[name] = len(out.split()) / len(out.splitlines())
        rates = lambda name, per_sentence: [1000 * per_sentence / seconds for seconds in times[name]]
        for name in precisions:
            label = f"1,000 sentences in {name}, beam {beam}, sentences/s, whole process"
            row(label, rates(name, 1), (), rates("joey", 1))
            row("the same, words/s", rates(name, words[name]), (), rates("joey", words.get("joey", 0)))
        row("the same in f32, words/s, 1 thread", rates("one", words["one"]))
        print(f"| words per sentence | {words['f32']:.1f} | | {words.get('joey', 0):.1f} |")
        print(f"| speedup over 1 thread | {ratio(rates('f32', 1), rates('one', 1))} | | |")


def cold_starts(ours, sentence):
    """Prints the time of processes that translate one short sentence, and of processes that print the version."""
    ours.train("ten", "--max-minutes", "0.4", "--no-tied-embeddings")
    starts = [1000 * ours.translate(ours.directory / "ten", 5, sentence)[1] for _ in range(11)]
    print(f"| one sentence from a cold start, ms, 10 million parameters | {spread(starts)} | | |")
    commands = {"shipped model": ["translate", "I sleep."], "only `--version`": ["--version"]}
    times = {name: [] for name in commands}
    for _ in range(40):
        for name, command in commands.items():
            times[name].append(1000 * run([ours.binary, *command], cwd=HERE)[2])
    for name, values in times.items():
        print(f"| the same, {name} | {spread(values)} | | |")


def compare_shortlists(ours, models, rounds):
    """Prints the time and quality of translations with a shortlist and with all tokens.

    `--no-repeat` with a length that no translation has changes nothing, except that all tokens are considered.
    """
    _, _, source, reference = ours.data
    print("\n| model | beam | seconds, all tokens | seconds, shortlist | BLEU | chrF | translations changed |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for model in models:
        for beam in (5, 1):
            seconds, outputs = {"all": [], "shortlist": []}, {}
            for _ in range(rounds):
                for name, options in (("all", ["--no-repeat", "1000"]), ("shortlist", [])):
                    command = [ours.binary, "translate", "--quiet", "--model", model, "--beam", beam, *options]
                    outputs[name], _, time_taken, _ = run(command, stdin=open(source))
                    seconds[name].append(time_taken)
            scores = {name: ours.scores(out, source, reference) for name, out in outputs.items()}
            changed = sum(a != b for a, b in zip(*(out.splitlines() for out in outputs.values())))
            cells = [", ".join(f"{value:.2f}" for value in seconds[name]) for name in seconds]
            cells += [f"{scores['all'][key]:.2f} → {scores['shortlist'][key]:.2f}" for key in ("bleu", "chrf")]
            print(f"| {Path(model).name} | {beam} | " + " | ".join(cells) + f" | {changed} |", flush=True)


def processor():
    names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{len(names)} × {names[0]}" if names else "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs=4, required=True, metavar=("SOURCE", "TARGET", "VALID_SOURCE", "VALID_TARGET"))
    parser.add_argument("--torch", nargs=2, metavar=("PYTHON", "SCRIPT"))
    parser.add_argument("--joey", nargs=2, metavar=("PYTHON", "CONFIG"))
    parser.add_argument("--joey-steps", type=int, default=40)
    parser.add_argument("--shortlist", nargs="+", metavar="MODEL", help="only compare translation with and without a "
                        "shortlist, by these models, which have at least 3,000 target tokens")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments = parser.parse_args()
    data = [Path(path).resolve() for path in arguments.data]
    directory = Path(tempfile.mkdtemp(prefix="softalign-speed-"))
    print(processor(), flush=True)
    if arguments.device == "cuda":
        run(["cargo", "build", "--profile", "cuda", "--features", "cuda", "--quiet"], cwd=HERE)
        return on_gpu(Softalign(TARGET / "cuda/softalign", data, directory), arguments.torch, arguments.rounds)
    run(["cargo", "build", "--release", "--quiet"], cwd=HERE)
    ours = Softalign(TARGET / "release/softalign", data, directory)
    if arguments.shortlist:
        return compare_shortlists(ours, arguments.shortlist, arguments.rounds)

    text, reference, one = (directory / name for name in ("thousand", "thousand.reference", "one"))
    text.write_text("".join(open(data[2]).readlines()[:1000]))
    reference.write_text("".join(open(data[3]).readlines()[:1000]))
    one.write_text(open(data[2]).readline())
    joey = arguments.joey and Joey(*arguments.joey)
    bleu = joey.bleu(text, reference) if joey else 0
    print(f"BLEU, greedy: {f'JoeyNMT {bleu:.1f}, ' if joey else ''}softalign {ours.train_to(bleu):.1f}", flush=True)
    torch = arguments.torch and Torch(*arguments.torch, data, directory / "model", directory)
    compare_training(ours, torch, joey, arguments.joey_steps, arguments.rounds)
    compare_translation(ours, joey, text, arguments.rounds)
    cold_starts(ours, one)
    bench, *_ = run(["cargo", "bench", "--quiet", "--bench", "throughput", "--", "training"], cwd=HERE)
    share = re.findall(r"(\d+) % of candle's product", bench)[-1]
    cost = re.search(r"a pair costs × ([\d.]+)", bench)[1]
    print(f"| share of candle's 1024 × 512 × 1536 product | {share} % | | |")
    print(f"| cost of a pair twice as long | × {cost} | | |")
    growth(data, directory)


def growth(data, directory):
    """Prints the training speed with more pairs, and the time to read and encode a million."""
    lines = [open(path).read().splitlines() for path in data[:2]]
    rng = random.Random(1)

    def grown(count):
        """Returns a program with `count` pairs: those of the corpus, then the same with shuffled words."""
        paths = [directory / f"{count}.source", directory / f"{count}.target"]
        for path, side in zip(paths, lines):
            with open(path, "w") as file:
                for index in range(count):
                    words = side[index % len(side)].split()
                    if index >= len(side):
                        rng.shuffle(words)
                    print(*words, file=file)
        return Softalign(TARGET / "release/softalign", [*paths, *data[2:]], directory)

    few, many = grown(10_000), grown(200_000)
    rates = {name: [] for name in ("few", "many")}
    for number in range(2):
        rates["few"].append(few.train(f"few-{number}", "--max-minutes", "1")[0])
        rates["many"].append(many.train(f"many-{number}", "--max-minutes", "1")[0])
    print(f"| training on 200,000 instead of 10,000 pairs | {ratio(rates['many'], rates['few'])} | | |")
    ready, everything, memory = grown(1_000_000).start("million")
    print(f"| 1,000,000 pairs: reading, vocabulary, encoding, s | {ready:.0f} | | |")
    print(f"| the same with learning word alignments, one step and validation, s | {everything:.0f}, {memory:,.0f} MiB | | |")


if __name__ == "__main__":
    main()
