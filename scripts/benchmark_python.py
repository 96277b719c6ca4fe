"""Times the Python package beside the command, and watches its memory.

    python3 scripts/benchmark_python.py --program target/release/softalign

Needs the package installed, the program built from the same sources, and a quiet machine. Takes some minutes.
"""

import argparse
import gc
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import softalign

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "checkpoints"
SENTENCES = [line.split("\t")[0] for line in (ROOT / "data" / "test.tsv").read_text(encoding="utf-8").splitlines()][:1000]
SHORT = "She sleeps."

IMPORT = "import time; start = time.perf_counter(); import softalign; print(time.perf_counter() - start)"
TRANSLATE = """\
import sys, softalign
model = softalign.load(sys.argv[1])
print(*model.translate([line.rstrip() for line in sys.stdin]), sep="\\n")
"""


def seconds(work):
    """Returns the time that a function takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def spread(times, factor=1.0, unit="s"):
    """Returns the median of times and their range."""
    low, middle, high = (factor * time for time in (min(times), median(times), max(times)))
    return f"{middle:.3g} {unit} ({low:.3g}–{high:.3g})"


def resident_megabytes():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def time_processes(program):
    """Times the command and a Python process on 1,000 sentences, alternately."""
    text = "\n".join(SENTENCES) + "\n"
    processes = {
        "command": [program, "translate", "--model", str(MODEL), "--quiet"],
        "Python process": [sys.executable, "-c", TRANSLATE, str(MODEL)],
    }
    outputs, times = set(), {name: [] for name in processes}
    for turn in range(10):
        for name, arguments in processes.items():
            start = time.perf_counter()
            outputs.add(subprocess.run(arguments, input=text, text=True, capture_output=True, check=True).stdout)
            if turn > 0:
                times[name].append(time.perf_counter() - start)
    if len(outputs) != 1:
        sys.exit("the command and Python translate differently")
    for name, each in times.items():
        print(f"1,000 sentences, {name}: {spread(each)}")


def time_calls(program, model):
    """Times calls with one short sentence, and the same sentences line by line through the command."""
    model.translate(SHORT)
    print(f"one sentence, Python call: {spread([seconds(lambda: model.translate(SHORT)) for _ in range(2000)], 1e3, 'ms')}")
    arguments = [program, "translate", "--model", str(MODEL), "--quiet"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:

        def ask():
            process.stdin.write(SHORT + "\n")
            process.stdin.flush()
            process.stdout.readline()

        ask()
        print(f"one sentence, line to the command: {spread([seconds(ask) for _ in range(2000)], 1e3, 'ms')}")
        process.stdin.close()


def watch_memory(model):
    """Prints the memory of the process after many calls and models."""
    if not os.path.exists("/proc/self/status"):
        return
    print(f"memory: {resident_megabytes():.1f} MB")
    for _ in range(100_000):
        model.translate(SHORT)
    print(f"after 100,000 calls: {resident_megabytes():.1f} MB")
    for _ in range(10):
        softalign.load(MODEL).translate(SHORT)
        gc.collect()
    print(f"after ten models loaded and dropped: {resident_megabytes():.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="softalign, built from the same sources")
    options = parser.parse_args()
    run = lambda: float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True).stdout)
    run()
    print(f"import: {spread([run() for _ in range(9)], 1e3, 'ms')}")
    time_processes(options.program)
    model = softalign.load(MODEL)
    time_calls(options.program, model)
    watch_memory(model)


if __name__ == "__main__":
    main()
