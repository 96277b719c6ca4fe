"""Training."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Optional, Union

from . import _native
from ._arguments import Pairs, as_pairs, as_sentences, checked, to_json
from ._errors import ArgumentError
from ._listener import Listener, in_notebook, is_interactive, progress_bar
from ._native import Alignment
from ._options import TrainOptions
from ._results import Results
from ._translator import Translator

if TYPE_CHECKING:
    from typing_extensions import Unpack


class TrainingCurves:
    """Curves of a training: loss, scores and others over its steps.

    In a notebook they show themselves as a figure.

    Parameters
    ----------
    directory : path
        Model directory.
    """

    def __init__(self, directory: Union[str, os.PathLike[str]]) -> None:
        self._directory = Path(directory)

    @property
    def svg(self) -> str:
        """The figure, as in ``training.svg``; empty before the first validation."""
        path = self._directory / "training.svg"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def records(self) -> list[dict[str, Any]]:
        """Records of ``log.jsonl``: progress every few steps, and validations."""
        return self._read("log.jsonl")

    @property
    def attention(self) -> dict[int, Results[Alignment]]:
        """Attention on the recorded pairs by step of validation; empty without ``keep_attention=True``."""
        return {
            record["step"]: Results(map(_recorded_alignment, record["pairs"]))
            for record in self._read("attention.jsonl")
        }

    def _read(self, name: str) -> list[dict[str, Any]]:
        path = self._directory / name
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def to_pandas(self, event: str = "validation") -> Any:
        """Returns the records of an event, ``"validation"`` or ``"progress"``, as a DataFrame. Needs pandas."""
        import pandas as pd

        return pd.DataFrame([record for record in self.records if record.get("event") == event])

    def __repr__(self) -> str:
        validations = sum(record.get("event") == "validation" for record in self.records)
        return f"TrainingCurves({self._directory.name!r}, {validations} validations)"

    def _repr_html_(self) -> str:
        # The figure is drawn in dark colors.
        return f"<div style='background:white;display:inline-block'>{self.svg}</div>"


#: Format of the bar over a training: its items are percents.
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def _recorded_alignment(pair: dict[str, Any]) -> Alignment:
    """Returns the alignment of a record, whose weights are thousandths."""
    rows = [[weight / 1000 for weight in row] for row in pair["weights"]]
    attention, eos = [row[:-1] for row in rows], [row[-1] for row in rows]
    return Alignment(pair["source"], pair["target"], attention, eos, score=pair["score"])


class _TrainingListener(Listener):
    """Shows a bar over the epochs of a training and, in a notebook, its growing curves."""

    def __init__(self, progress: bool, directory: str, callback: Optional[Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(progress)
        self._curves = TrainingCurves(directory)
        self._callback = callback
        self._epochs: Optional[Any] = None
        self._figure: Optional[Any] = None
        self._done = 0.0
        # Name of the auxiliary model in training, if any.
        self._model: Optional[str] = None

    def event(self, event: str) -> None:
        content = json.loads(event)
        report = content.get("report", {})
        if content.get("event") == "model":
            self._begin(content["name"])
        elif content.get("event") == "step":
            self._step(report)
        elif content.get("event") == "validation":
            self._validated(report)
            if self._callback is not None:
                model = {} if self._model is None else {"model": self._model}
                self._callback({**model, "step": content["step"], "best": content["best"], **report})

    def _begin(self, name: Optional[str]) -> None:
        self._model = name
        if self._epochs is not None:
            self._epochs.close()
            self._epochs, self._done = None, 0.0

    def _step(self, report: dict[str, Any]) -> None:
        if not self._progress:
            return
        if self._epochs is None:
            self._epochs = progress_bar(self._model or "training", 100, _BAR)
        self._epochs.update(100 * report["done"] - self._done)
        self._done = 100 * report["done"]
        self._epochs.set_postfix_str(f"epoch {report['epoch']}, loss {report['loss']:.2f}")

    def _validated(self, report: dict[str, Any]) -> None:
        if self._model is not None or not (self._progress and in_notebook()):
            return
        from IPython.display import display

        if self._figure is None:
            self._figure = display(self._curves, display_id=True)
        else:
            self._figure.update(self._curves)

    def close(self) -> None:
        """Ends the bars, and shows the last curves."""
        self.end()
        if self._epochs is not None:
            self._epochs.close()
        if self._figure is not None:
            self._figure.update(self._curves)


def train(
    pairs: Optional[Pairs],
    directory: Union[str, os.PathLike[str]],
    *,
    valid: Optional[Pairs] = None,
    monolingual_target: Union[str, os.PathLike[str], Iterable[str], None] = None,
    init_from: Union[str, os.PathLike[str], None] = None,
    resume: bool = False,
    replace: bool = False,
    progress: Optional[bool] = None,
    callback: Optional[Callable[[dict[str, Any]], Any]] = None,
    **options: Unpack[TrainOptions],
) -> Translator:
    """Trains a model on sentence pairs.

    Ctrl-C stops after the current step, with everything saved, and raises KeyboardInterrupt; ``resume=True`` goes on.

    Parameters
    ----------
    pairs : path, or iterable of (str, str)
        Training pairs: a file with a tab between source and target, a ``.csv`` file, or source and target of each pair.
        None with `resume` takes the files that the training began with.
    directory : path
        Model directory.
    valid : path, or iterable of (str, str), optional
        Validation pairs; by default a part of the training pairs is held out.
    monolingual_target : path, or iterable of str, optional
        Target sentences without sources: a file with one per line, or sentences. A reverse model, trained first, translates
        them, and the model learns the pairs that result too (back-translation).
    init_from : path, optional
        Directory of a model that training is initialized from (warm start).
    resume : bool
        Resume the training in `directory`, with the same pairs.
    replace : bool
        Move a model that is in `directory` to its subdirectory ``previous``; without it, an existing model is an error.
    progress : bool, optional
        Show a bar and, in a notebook, growing curves. By default in notebooks and at interactive prompts.
    callback : callable, optional
        Called after each validation with a dict of its results, such as ``step``, ``best``, ``loss`` and ``bleu``, and
        ``model`` if an auxiliary model is trained. An exception in it stops the training, with everything saved.
    **options
        Options of ``softalign train``, see `TrainOptions`: among them ``preset``, ``max_minutes``, ``max_epochs`` and
        ``seed``. The data determine those that are not given.

    Returns
    -------
    Translator
        The best model by validation.

    Raises
    ------
    softalign.ArgumentError
        An option is out of range.
    softalign.Error
        The pairs are unusable, the directory holds another model, or training diverges.

    Examples
    --------
    >>> model = softalign.train("pairs.tsv", "my-model", max_minutes=10)
    >>> model = softalign.train([("a cat", "un chat"), ("a dog", "un chien")], "tiny", max_epochs=50)
    """
    named = ("valid", "monolingual_target", "init_from", "resume", "replace", "progress", "callback")
    checked("train", TrainOptions.__annotations__, options, named)
    path = os.path.abspath(directory)
    shown = is_interactive() if progress is None else progress
    listener = _TrainingListener(shown, path, callback)
    given = [None if one is None else as_pairs(one) for one in (pairs, valid)]
    if pairs is None and not resume:
        raise ArgumentError("pairs: expected sentence pairs; only resume=True goes on with those of before")
    if resume and replace:
        raise ArgumentError("give resume or replace, not both")
    start: Literal["new", "replace", "resume"] = "resume" if resume else "replace" if replace else "new"
    base = None if init_from is None else os.fspath(init_from)
    monolingual = as_sentences(monolingual_target)
    try:
        model = _native.train(given[0], path, given[1], monolingual, base, start, to_json(options), listener)
    finally:
        listener.close()
    return Translator(directory, _model=model)
