"""Writes docs/reference/python.md from the docstrings of the Python package, or compares it with --check.

    python3 scripts/document_python.py [--check]

Needs Python 3.11 or newer and softalign installed, as scripts/check_python.sh does it.
"""

import argparse
import inspect
import re
import sys
from pathlib import Path

import softalign
from softalign import _options, attention, kernels

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"

INTRODUCTION = """\
# Python

This page is made from the docstrings by `scripts/document_python.py`. [Installation](../install.md#python) says how to
install the package, the [notebook](../guide/notebook.ipynb) shows it at work.

```python
import softalign

model = softalign.train("pairs.tsv", "my-model")      # or a list of (source, target)
translation = model.translate("Where is the station?")
print(translation, translation.links)                  # a str with links, weights and scores
translation                                            # a heatmap, in a notebook as a figure
model.translate(["She sleeps.", "He sings."], beam=10) # lists in, lists out
softalign.align("pairs.tsv")                           # word alignments without a model
```

Keyword arguments are named as the [options of the command](cli.md), with `_` for `-`: `--max-minutes 10` is
`max_minutes=10`. Calls release the interpreter's lock. A model can be shared by threads, survives `fork`, and is pickled as
the names of its directories. Ctrl-C ends a call in good order: training saves everything first. Messages go to the logger
`softalign`; nothing is printed unless `progress=True` asks for it.

Data frames of pandas and polars are pairs if they have two columns, and each column is a list of sentences:

```python
import pandas as pd

table = pd.read_csv("sentences.csv")                   # columns id, en, fr
softalign.train(table[["en", "fr"]], "my-model")
table["translated"] = model.translate(table["en"])
model.evaluate(table[["en", "fr"]]).bleu
```

```python
import polars as pl

table = pl.read_csv("sentences.csv")
softalign.train(table[["en", "fr"]], "my-model")
table = table.with_columns(translated=pl.Series(model.translate(table["en"])))
```

For users of CTranslate2:

| CTranslate2 | softalign |
| --- | --- |
| `Translator(path)` | `softalign.load(path)` |
| `translate_batch(tokens)` | `model.translate(sentences)`; text in, text out |
| `translate_iterable(tokens)` | `model.translate(iterator)` |
| `score_batch(source, target)` | `model.score(pairs)` |
| `beam_size` | `beam` |
| `num_hypotheses` | `n_best` |
| `length_penalty`, `coverage_penalty` | the same names |
| `no_repeat_ngram_size` | `no_repeat` |
| `target_prefix` | `prefix` |
| `suppress_sequences` | `avoid` |
| `replace_unknowns` | `replace_unknown` |
| `sampling_topk`, `sampling_topp`, `sampling_temperature` | `sample=True` with `top_k`, `top_p`, `temperature` |
| `return_scores`, `return_attention` | always there: `translation.score`, `translation.attention` |
| `inter_threads`, `intra_threads` | `softalign.set_threads` |
"""

SECTIONS = [
    ("Training and loading", softalign, ["train", "load", "set_threads"]),
    ("Models", softalign, ["Translator", "Translation", "PairScore", "Evaluation", "TrainingCurves"]),
    ("Word alignment", softalign, ["align", "Aligner", "Alignment", "save"]),
    ("Metrics", softalign, ["bleu", "chrf", "ter", "Score", "paired_test", "PairedTest"]),
    ("Attention", attention, ["pool", "Pooled"]),
    ("Kernels", kernels, ["gaussian", "boxcar", "epanechnikov", "constant", "learned", "Kernel"]),
    ("Errors", softalign, ["Error", "ArgumentError", "FileError", "MissingFileError"]),
]

OPTIONS = {
    "train": _options.TrainOptions,
    "Translator.translate": _options.TranslateOptions,
    "Translator.align": _options.AlignOptions,
    "Translator.evaluate": _options.EvaluateOptions,
    "Aligner.align": _options.AlignerOptions,
}


def signature_of(name, one):
    """Returns a call with its parameters, without `self` and annotations."""
    try:
        parameters = list(inspect.signature(one).parameters.values())
    except ValueError:
        return name
    shown = []
    for parameter in parameters:
        if parameter.name in ("self", "cls") or parameter.name.startswith("_"):
            continue
        shown.append(str(parameter.replace(annotation=inspect.Parameter.empty)))
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            if not any(text.startswith("*") for text in shown[:-1]):
                shown.insert(-1, "*")
    return f"{name}({', '.join(shown)})"


def markdown_of(docstring):
    """Returns a numpydoc docstring as Markdown."""
    lines = inspect.cleandoc(docstring).splitlines()
    out, section, index = [], None, 0
    while index < len(lines):
        line = lines[index]
        if index + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[index + 1]):
            section = line
            if section == "Examples":
                out += ["", "```python"]
            else:
                out += ["", f"**{section}**", ""]
            index += 2
            continue
        if section == "Examples":
            out.append(line)
        elif section is not None and line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append(f"- `{name}`: {in_code(kind)}." if kind else f"- `{name}`:")
        elif section is not None and line.strip():
            out.append(f"  {in_code(line.strip())}")
        else:
            out.append(in_code(line))
        index += 1
    if section == "Examples":
        while out and not out[-1]:
            out.pop()
        out.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).strip("\n")


def in_code(text):
    """Returns a line with reStructuredText's literals as Markdown's."""
    return text.replace("``", "`")


def members_of(one):
    """Returns the public methods and properties of a class: in the order of its definition, in Rust's classes by name."""
    found, fields = [], getattr(one, "_fields", ())
    members = vars(one).items()
    if any(inspect.isgetsetdescriptor(member) for name, member in members if not name.startswith("__")):
        members = sorted(members)
    for name, member in members:
        # The fields of named tuples are among the class's attributes.
        if name.startswith("_") or any(hasattr(base, name) for base in one.__bases__) or name in fields:
            continue
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if getattr(member, "__doc__", None) and (callable(member) or inspect.isdatadescriptor(member)):
            found.append((name, member))
    return found


def entry(name, one, level, owner=""):
    """Returns the description of a function, method, property or class."""
    qualified = f"{owner}.{name}" if owner else name
    is_property = inspect.isdatadescriptor(one) and not callable(one)
    shown = name if is_property else signature_of(name, one)
    if isinstance(one, type) and issubclass(one, Exception):
        shown = f"{name}({', '.join(base.__name__ for base in one.__bases__)})"
    lines = [f"{'#' * level} {qualified}", "", "```python", shown, "```", ""]
    if is_property:
        lines = [f"{'#' * level} {qualified}", ""]
    lines += [markdown_of(one.__doc__), ""]
    if qualified in OPTIONS:
        names = ", ".join(f"`{option}`" for option in OPTIONS[qualified].__annotations__)
        lines += [f"All options: {names}.", ""]
    if isinstance(one, type):
        for member_name, member in members_of(one):
            lines.append(entry(member_name, member, level + 1, name))
    return "\n".join(lines)


def page():
    """Returns the page."""
    parts = [INTRODUCTION]
    for title, module, names in SECTIONS:
        prefix = "softalign." if module is softalign else f"{module.__name__}."
        parts.append(f"## {title}\n\nIn `{prefix[:-1]}`.\n")
        parts += [entry(name, getattr(module, name), 3) for name in names]
    documented = {name for _, module, names in SECTIONS if module is softalign for name in names}
    missing = set(softalign.__all__) - documented - {"__version__", "attention", "kernels"}
    if missing:
        sys.exit(f"scripts/document_python.py: not documented: {', '.join(sorted(missing))}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if the page differs from the docstrings")
    options = parser.parse_args()
    text = page()
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE}: differs from the docstrings; run scripts/document_python.py")


if __name__ == "__main__":
    main()
