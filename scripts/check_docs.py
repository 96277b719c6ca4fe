#!/usr/bin/env python3
"""Runs the shell examples of README.md and docs/, and checks that their links and paths exist.

Each page gets a temporary directory with copies of data/ and checkpoints/. The page's `sh` and `console` blocks run there in
order, with the program on the path as `softalign`. A block fails if a command fails. In a `console` block, lines that start
with `$ ` are commands, and the other lines are their expected standard output.

An HTML comment on the line before a block changes this:

    <!-- not run: REASON -->        The block is not run: it needs large data, a network, hours or another program.
    <!-- short run: OPTIONS -->     These options are added to each `softalign train` of the block.

It also checks relative links and their anchors, paths in backticks, that docs/SUMMARY.md lists every page, and that the tests
that a `cargo test` command names exist. Links of a page in docs/ must stay in docs/, since mdBook cannot follow others.

Needs `cargo build --release`, bash, and no Python packages.

Examples:
  scripts/check_docs.py
  scripts/check_docs.py --links
  scripts/check_docs.py docs/guide/training.md
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"

SHELLS = ("sh", "console")
SECONDS = 120
FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,})(?P<language>[\w-]*)")
DIRECTIVE = re.compile(r"^<!-- (?P<kind>not run|short run): (?P<value>.+) -->$")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
INLINE_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
CARGO_TEST = re.compile(r"^(?:\w+=\S+ +)*(?P<command>cargo test\b(?:\\\n|[^\n#])*)", re.MULTILINE)
TEST = re.compile(r"^ *#\[test\]\n(?: *#\[.*\n)* *fn (?P<name>\w+)", re.MULTILINE)
# Options of `cargo test` with a value that is no filter.
VALUES = ("--test", "--package", "--features", "--config", "--target", "--target-dir", "--jobs", "--skip", "--test-threads")
PATH = re.compile(r"^(?:benches|data|docs|examples|scripts|src|tests)/[\w./-]*")
# Records the failed command and its line. It shares the line of the block's first command to keep line numbers correct.
TRAP = """trap 'printf "%s\\n%s\\n" "$LINENO" "$BASH_COMMAND" > "$FAILED_COMMAND"' ERR; """


class Block:
    """A fenced block of a page."""

    def __init__(self, page, line, language, directive):
        self.page, self.language = page, language
        # Number of the first line inside the fence.
        self.line = line
        self.directive = directive
        self.lines = []

    def location(self, offset=0):
        return f"{name(self.page)}:{self.line + offset}"

    def value(self, kind):
        return self.directive["value"] if self.directive and self.directive["kind"] == kind else None


class Page:
    """The blocks of a page, and its prose with code blocks replaced by empty lines."""

    def __init__(self, path):
        self.path, self.blocks, self.problems = path, [], []
        self.text = path.read_text(encoding="utf-8")
        prose, block, fence, directive = [], None, None, None
        for number, line in enumerate(self.text.splitlines(), 1):
            found = FENCE.match(line)
            if block is not None:
                if found and found["mark"] == fence["mark"] and not found["language"]:
                    block = None
                else:
                    block.lines.append(line.removeprefix(fence["indent"]))
                prose.append("")
            elif found:
                block, fence = Block(path, number + 1, found["language"], directive), found
                self.blocks.append(block)
                if directive and found["language"] not in SHELLS:
                    self.problems.append(f"{name(path)}:{number}: directive before a block that is not a shell block")
                directive = None
                prose.append("")
            else:
                if directive:
                    self.problems.append(f"{name(path)}:{number - 1}: no block follows the directive")
                directive = DIRECTIVE.match(line.strip())
                if line.strip().startswith(("<!-- not", "<!-- short")) and not directive:
                    self.problems.append(f"{name(path)}:{number}: not a directive: {line.strip()}")
                prose.append(line)
        self.prose = "\n".join(prose)

    def anchors(self):
        """Returns the headings' anchors as GitHub generates them."""
        headings = re.findall(r"^#+ +(.+?) *$", self.prose, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def shell_blocks(self):
        return [block for block in self.blocks if block.language in SHELLS]


def name(path):
    return path.relative_to(ROOT).as_posix()


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def broken_links(page, pages):
    """Yields the problems of a page's relative links."""
    without_code = INLINE_CODE.sub(lambda found: re.sub(r"[^\n]", "x", found[0]), page.prose)
    for found in LINK.finditer(without_code):
        target, _, anchor = found["target"].partition("#")
        if "://" in target:
            continue
        location = f"{name(page.path)}:{line_of(without_code, found.start())}"
        path = (page.path.parent / target).resolve() if target else page.path
        if not path.exists():
            yield f"{location}: broken link: {found['target']}"
        elif DOCS in page.path.parents and DOCS not in path.parents:
            yield f"{location}: link leaves docs/, which mdBook does not support: {found['target']}"
        elif anchor and (path not in pages or anchor not in pages[path].anchors()):
            yield f"{location}: no such heading: {found['target']}"


def missing_paths(page):
    """Yields paths in backticks that do not exist in the project."""
    for found in INLINE_CODE.finditer(page.prose):
        path = PATH.match(found[2])
        if path and not (ROOT / path[0].rstrip(".")).exists():
            yield f"{name(page.path)}:{line_of(page.prose, found.start())}: no such file: {path[0]}"


def test_files(target):
    """Returns the files of a test target, or with None of src/ and all targets, each with the root of its modules."""
    if target is None:
        roots = [ROOT / "src", *sorted((ROOT / "tests").glob("*.rs")), *sorted((ROOT / "tests").glob("*/main.rs"))]
    else:
        roots = [path for path in (ROOT / f"tests/{target}.rs", ROOT / f"tests/{target}/main.rs") if path.exists()]
    roots = [root.parent if root.name == "main.rs" else root for root in roots]
    return [(file, root) for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*.rs")))]


def test_names(target):
    """Yields the names of tests by which a filter finds them, such as `kernels::cpu::gru::tests::name`."""
    for file, root in test_files(target):
        modules = () if file == root else file.relative_to(root).with_suffix("").parts
        modules = [module for module in modules if module not in ("mod", "main", "lib")]
        for found in TEST.finditer(file.read_text(encoding="utf-8")):
            yield "::".join([*modules, found["name"]])
            yield "::".join([*modules, "tests", found["name"]])


def missing_tests(page):
    """Yields `cargo test` commands of a page that name a target or a filter without tests."""
    shown = [(found[2], line_of(page.prose, found.start())) for found in INLINE_CODE.finditer(page.prose)]
    shown += [("\n".join(block.lines), block.line) for block in page.blocks if block.language in SHELLS]
    for text, line in shown:
        for found in CARGO_TEST.finditer(text):
            command = found["command"].replace("\\\n", " ").strip()
            words = shlex.split(command)[2:]
            values = {index + 1 for index, word in enumerate(words) if word in VALUES}
            targets = [words[index + 1] for index, word in enumerate(words[:-1]) if word == "--test"] or [None]
            filters = [word for index, word in enumerate(words) if index not in values and not word.startswith("-")] or [""]
            tests = [test for target in targets for test in test_names(target)]
            for wanted in filters:
                if not any(wanted in test for test in tests):
                    yield f"{name(page.path)}:{line_of(text, found.start()) + line - 1}: no test matches: {command}"


def unlisted_pages(pages):
    """Yields pages of docs/ that SUMMARY.md does not list."""
    listed = {(DOCS / found["target"]).resolve() for found in LINK.finditer(SUMMARY.read_text(encoding="utf-8"))}
    for path in pages:
        if DOCS in path.parents and path != SUMMARY and path not in listed:
            yield f"{name(SUMMARY)}: does not list {name(path)}"


class Runner:
    """Runs the blocks of one page in a separate directory."""

    def __init__(self, directory, program):
        self.work, self.failed = directory / "work", directory / "failed"
        self.work.mkdir()
        for shipped in ("data", "checkpoints"):
            shutil.copytree(ROOT / shipped, self.work / shipped, ignore=shutil.ignore_patterns("previous*"))
        commands = directory / "bin"
        commands.mkdir()
        (commands / "softalign").symlink_to(program)
        self.environment = {
            **{key: value for key, value in os.environ.items() if key != "SOFTALIGN_MODEL"},
            "PATH": os.pathsep.join([str(commands), os.environ["PATH"]]),
            "FAILED_COMMAND": str(self.failed),
        }

    def bash(self, lines):
        """Returns standard output, and for a failed command its line in the block, its text and all output."""
        self.failed.unlink(missing_ok=True)
        command = ["bash", "-e", "-o", "pipefail", "-c", TRAP + "\n".join(lines)]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            done = subprocess.run(
                command, cwd=self.work, env=self.environment, timeout=SECONDS, encoding="utf-8", errors="replace", **streams
            )
        except subprocess.TimeoutExpired:
            return "", (0, lines[0], f"timed out after {SECONDS} s")
        if done.returncode == 0:
            return done.stdout, None
        line, failed = 1, lines[0]
        if self.failed.exists():
            number, _, failed = self.failed.read_text(encoding="utf-8").partition("\n")
            line = int(number)
        output = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout, (line - 1, failed.strip(), output)

    def problem(self, block):
        """Returns the failure of a block as text, or None."""
        if block.language == "console":
            return self.problem_of_console(block)
        options = block.value("short run")
        lines = block.lines
        if options:
            lines = [line.replace("softalign train", f"softalign train {options}") for line in lines]
        _, failure = self.bash(lines)
        return failure and report(block, *failure)

    def problem_of_console(self, block):
        starts = [number for number, line in enumerate(block.lines) if line.startswith("$ ")]
        for start, end in zip(starts, starts[1:] + [len(block.lines)]):
            command, expected = block.lines[start][2:], block.lines[start + 1 : end]
            output, failure = self.bash([command])
            if failure:
                return report(block, start, *failure[1:])
            if output.splitlines() != expected:
                return report(block, start, command, f"the page shows different output; actual output:\n{output}")
        return None


def report(block, offset, command, output):
    indented = "\n".join(f"    {line}" for line in output.splitlines())
    return f"{block.location(offset)}: failed: {command}\n{indented}"


def run_page(page, program):
    """Runs a page's blocks up to the first that fails, since later ones may depend on it. Returns their number and problems."""
    blocks = [block for block in page.shell_blocks() if not block.value("not run")]
    if not blocks:
        return 0, []
    with tempfile.TemporaryDirectory(prefix="softalign-docs-") as directory:
        runner = Runner(Path(directory), program)
        for number, block in enumerate(blocks):
            problem = runner.problem(block)
            if problem:
                return number + 1, [problem]
    return len(blocks), []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to run [default: README.md and all of docs/]")
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/softalign")
    parser.add_argument("--links", action="store_true", help="check links, paths and names of tests only")
    options = parser.parse_args()
    paths = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    pages = {path: Page(path) for path in paths}
    selected = [path.resolve() for path in options.pages] or paths
    problems = [problem for page in pages.values() for problem in page.problems]
    for page in pages.values():
        problems += [*broken_links(page, pages), *missing_paths(page), *missing_tests(page)]
    problems += unlisted_pages(pages)
    run = 0
    if not options.links:
        program = options.program.resolve()
        if not program.exists():
            sys.exit(f"{options.program}: not found; run `cargo build --release`, or name the program with --program")
        for page in (pages[path] for path in selected):
            started = time.monotonic()
            count, failed = run_page(page, program)
            run += count
            problems += failed
            if count:
                print(f"{name(page.path)}: {count} blocks, {time.monotonic() - started:.1f} s", flush=True)
        for block in (block for path in selected for block in pages[path].shell_blocks()):
            if block.value("not run"):
                print(f"{block.location()}: not run: {block.value('not run')}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(pages)} pages, {run} blocks run, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
