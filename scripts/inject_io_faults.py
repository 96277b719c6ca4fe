#!/usr/bin/env python3
"""Makes every system call that writes fail once: opening, writing, syncing, renaming, linking, removing, creating directories.

A small training is resumed many times. Each time strace makes one call of one kind fail. After every failure the program must
exit with a code and at most one line of error, and the previous model must still translate. Resuming without failures must
give the same model as an undisturbed training. The same is done with a new training, `align --output` and `translate
--output`.

Takes some minutes. Needs `cargo build --release` and strace; does nothing without strace.

Example:
  scripts/inject_io_faults.py
"""

import argparse
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
CALLS = {"openat": "EMFILE", "write": "ENOSPC", "fsync": "EIO", "rename": "EACCES", "unlink": "EACCES", "mkdir": "EDQUOT",
         "flock": "ENOLCK", "ftruncate": "EIO", "linkat": "EPERM", "rmdir": "EACCES"}
PAIRS = [("the red fox sleeps", "rufo mi dorma ."), ("the red owl sleeps", "rufo ku dorma ."),
         ("the grey fox sings", "grisa mi kanta ."), ("the old owl runs", "vela ku kura .")]
TRAIN = ["train", "--train", "pairs.tsv", "--out", "out", "--preset", "tiny", "--tokenization", "word", "--batch-sentences", "2",
         "--schedule", "plateau", "--save-every", "0.00001", "--guided-alignment", "0.1", "--keep-attention",
         "--tensorboard", "--keep-last", "2", "--quiet"]
RESUME = ["train", "--resume", "--out", "out", "--max-epochs", "4", "--save-every", "0.00001", "--quiet"]


def check(condition, message):
    if not condition:
        raise SystemExit(f"inject_io_faults: {message}")


def run(binary, directory, *arguments, inject=None):
    command = [binary, *arguments]
    if inject:
        call, error, number = inject
        rules = ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}"]
        command = ["strace", "-f", "-o", directory / "trace", *rules, *command]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120, check=False)


def calls(binary, directory, *arguments):
    """Counts the main thread's calls of each kind, before and after the first access to the directory."""
    subprocess.run(["strace", "-f", "-o", directory / "trace", "-e", "trace=" + ",".join(CALLS), binary, *arguments], cwd=directory,
                   capture_output=True, timeout=120, check=True)
    before, after, started = Counter(), Counter(), False
    lines = (directory / "trace").read_text(errors="replace").splitlines()
    main = lines[0].split()[0]
    for line in lines:
        found = re.match(r"(\d+) +(\w+)\(", line)
        if found and found[1] == main and found[2] in CALLS:
            started = started or '"out' in line or "links" in line or "pairs.tsv" in line
            (after if started else before)[found[2]] += 1
    return before, after


def copy_of(template):
    directory = Path(tempfile.mkdtemp(prefix="softalign-disk-"))
    shutil.copytree(template, directory, dirs_exist_ok=True)
    return directory


def models_of(directory):
    """Files of the best model and of the retained checkpoints, by path."""
    files = [directory / "out/model.safetensors", *sorted((directory / "out/kept").rglob("*"))]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files if path.is_file()}


class FaultInjection:
    """A command, run once for each failing call."""

    def __init__(self, binary, template, name, arguments, verify):
        self.binary, self.template, self.name, self.arguments, self.verify = binary, template, name, arguments, verify

    def run(self):
        directory = copy_of(self.template)
        before, after = calls(self.binary, directory, *self.arguments)
        shutil.rmtree(directory)
        outcomes = Counter()
        for call, error in CALLS.items():
            for number in range(before[call] + 1, before[call] + after[call] + 1):
                directory = copy_of(self.template)
                done = run(self.binary, directory, *self.arguments, inject=(call, error, number))
                label = f"{self.name}: {call} {number} fails with {error}"
                check(done.returncode in (0, 1), f"{label}: exit code {done.returncode}\n{done.stderr}")
                errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
                check(len(errors) == (1 if done.returncode else 0) or (call == "write" and not done.stderr),
                      f"{label}: {done.stderr!r}")
                check("panicked" not in done.stderr, f"{label}: {done.stderr}")
                self.verify(directory, label, done.returncode == 0)
                outcomes["recovered" if done.returncode == 0 else "reported"] += 1
                shutil.rmtree(directory)
        calls_made = ", ".join(f"{count} {call}" for call, count in sorted(after.items()))
        print(f"{self.name}: {sum(outcomes.values())} failures ({calls_made}): {dict(outcomes)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    arguments = parser.parse_args()
    if not shutil.which("strace"):
        print("strace not found: no faults injected")
        return
    binary = arguments.binary.resolve()
    with tempfile.TemporaryDirectory() as root:
        empty, half = Path(root) / "empty", Path(root) / "half"
        empty.mkdir()
        (empty / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in 3 * PAIRS))
        shutil.copytree(empty, half)
        check(run(binary, half, *TRAIN, "--max-epochs", "2").returncode == 0, "training fails without faults")
        done = copy_of(half)
        check(run(binary, done, *RESUME).returncode == 0, "resuming fails without faults")
        expected = models_of(done)

        def resumes(directory, label, _):
            check(run(binary, directory, "translate", "--model", "out", PAIRS[0][0]).returncode == 0, f"{label}: the model is lost")
            resumed = run(binary, directory, *RESUME)
            check(resumed.returncode == 0, f"{label}: cannot resume: {resumed.stderr}")
            check(models_of(directory) == expected, f"{label}: the model differs")
            check(not [path for path in (directory / "out").rglob("*") if path.name.endswith(".tmp")], f"{label}: leftovers")

        def restarts(directory, label, _):
            options = ["--max-epochs", "2"]
            resumable = (directory / "out/resume.safetensors").exists()
            again = run(binary, directory, *(RESUME[:4] + options if resumable else TRAIN + options))
            check(again.returncode == 0, f"{label}: cannot continue: {again.stderr}")
            check(models_of(directory) == models_of(half), f"{label}: the model differs")

        def keeps_old_output(directory, label, succeeded):
            text = (directory / "links").read_text()
            check(text == "old\n" or succeeded, f"{label}: the old file is lost")
            check(not [path for path in directory.iterdir() if path.name.endswith(".tmp")], f"{label}: leftovers")

        FaultInjection(binary, half, "train --resume", RESUME, resumes).run()
        FaultInjection(binary, empty, "train", [*TRAIN, "--max-epochs", "2"], restarts).run()
        (done / "links").write_text("old\n")
        for name, command in {
            "align --output": ["align", "--model", "out", "--pairs", "pairs.tsv", "--format", "pharaoh", "--output", "links"],
            "translate --output": ["translate", "--model", "out", "--input", "pairs.tsv", "--output", "links"],
        }.items():
            FaultInjection(binary, done, name, [*command, "--quiet"], keeps_old_output).run()
        shutil.rmtree(done)
    print("inject_io_faults: all checks passed")


if __name__ == "__main__":
    main()
