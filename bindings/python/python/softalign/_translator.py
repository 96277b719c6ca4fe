"""Translators: models that translate, align and score."""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

from . import _native
from ._arguments import Pairs, as_pairs, checked, glossary, iterator, phrases, strings, to_json
from ._listener import Listener
from ._options import AlignOptions, EvaluateOptions, TranslateOptions
from ._results import Results

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._training import TrainingCurves


class Translation(str):
    """A translation: a `str` with its score and its alignment.

    In a notebook it shows itself as a heatmap beside its links, in a terminal as a heatmap of text. `print` prints the
    text alone.

    Attributes
    ----------
    alignment : Alignment
        Attention and links between source and translation.
    score : float
        Score by which translations are ranked.
    log_probability : float
        Log-probability in nats, with the end of sentence.
    unmet_constraints : int
        Number of required phrases that the translation lacks.
    doubts : list of str
        Reasons to doubt the translation: ``confidence``, ``uncovered``, ``repetition``, ``nonwords``.
    uncovered : list of int
        Indices of the source words that may be left out, if ``uncovered`` is among the reasons.
    """

    alignment: _native.Alignment
    score: float
    log_probability: float
    unmet_constraints: int
    doubts: list[str]
    uncovered: list[int]

    def __new__(
        cls,
        text: str,
        score: float = 0.0,
        log_probability: float = 0.0,
        unmet_constraints: int = 0,
        alignment: Optional[_native.Alignment] = None,
        doubts: Sequence[str] = (),
        uncovered: Sequence[int] = (),
    ) -> Translation:
        translation = super().__new__(cls, text)
        translation.score = score
        translation.log_probability = log_probability
        translation.unmet_constraints = unmet_constraints
        translation.doubts, translation.uncovered = list(doubts), list(uncovered)
        translation.alignment = alignment if alignment is not None else _native.Alignment([], [], [], [])
        return translation

    @property
    def text(self) -> str:
        """Text of the translation."""
        return str.__str__(self)

    @property
    def source(self) -> list[str]:
        """Source words."""
        return self.alignment.source

    @property
    def target(self) -> list[str]:
        """Target words."""
        return self.alignment.target

    @property
    def links(self) -> list[tuple[int, int]]:
        """Linked words: (source index, target index)."""
        return self.alignment.links

    @property
    def attention(self) -> NDArray[np.float32]:
        """Weights of each target word on the source words: array of float32, shape (target, source)."""
        return self.alignment.attention

    @property
    def eos(self) -> NDArray[np.float32]:
        """Weights of each target word on the source's end of sentence: array of float32, shape (target,)."""
        return self.alignment.eos

    def __str__(self) -> str:
        return str.__str__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        measures = self.score, self.log_probability, self.unmet_constraints
        return Translation, (self.text, *measures, self.alignment, self.doubts, self.uncovered)

    def __repr__(self) -> str:
        return repr(self.alignment)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p>{self.alignment._repr_html_()}"


class PairScore:
    """Log-probability of a target given its source.

    Attributes
    ----------
    log_probability : float
        Log-probability in nats, with the end of sentence.
    tokens : int
        Number of target tokens, with the end of sentence.
    words : list of (str, float)
        Target words with their log-probabilities.
    end : float
        Log-probability of the end of sentence.
    """

    __slots__ = ("end", "log_probability", "tokens", "words")

    def __init__(self, log_probability: float, tokens: int, words: list[tuple[str, float]], end: float) -> None:
        self.log_probability = log_probability
        self.tokens = tokens
        self.words = words
        self.end = end

    @property
    def perplexity(self) -> float:
        """Perplexity per target token."""
        return math.exp(-self.log_probability / self.tokens)

    def __repr__(self) -> str:
        return f"PairScore(log_probability={self.log_probability:.4f}, tokens={self.tokens})"


class Evaluation:
    """Scores of a model on sentence pairs.

    Every score of ``softalign evaluate --json`` is an attribute. Those that were not computed raise AttributeError. In a
    notebook it shows itself as a table.

    Attributes
    ----------
    translations : list of str
        The scored translations.
    pairs : int
        Number of pairs.
    bleu, chrf, chrf_pp, ter, exact_match : float
        Scores in percent.
    signature : str
        BLEU's signature in sacrebleu's notation.
    perplexity : float
        Perplexity of the references per token.
    word_error_rate, character_error_rate : float
        Edits per 100 words or characters of the references, for sentences.
    wer, per : float
        Word and phone error rate in percent, for single words.
    aer, precision, recall, f1 : float
        Agreement of the links with gold alignments, if given.
    best_threshold : float
        Threshold of the lowest alignment error rate, with ``search_threshold=True``.
    expected_calibration_error : dict
        Errors of the confidence, ``"word"`` and ``"sentence"``, if the model is calibrated.
    confidence : dict
        Confidence intervals by metric, with ``confidence=True``.
    by_length : list of dict
        Scores by source length, with ``by_length=True``.
    """

    translations: list[str]
    pairs: int
    bleu: float
    chrf: float
    chrf_pp: float
    ter: float
    exact_match: float
    signature: str
    perplexity: float
    word_error_rate: float
    character_error_rate: float
    wer: float
    per: float
    aer: float
    precision: float
    recall: float
    f1: float
    best_threshold: float
    expected_calibration_error: dict[str, float]
    confidence: dict[str, dict[str, float]]
    by_length: list[dict[str, Any]]

    def __init__(self, report: str, text: str, translations: list[str]) -> None:
        self._scores: dict[str, Any] = json.loads(report)
        self._text = text
        self.translations = translations

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_scores"][name]
        except KeyError:
            raise AttributeError(f"this evaluation has no {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._scores]

    def to_dict(self) -> dict[str, Any]:
        """Returns the scores as ``softalign evaluate --json`` prints them."""
        return dict(self._scores)

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        rows = []
        for line in self._text.splitlines():
            label, _, value = line.partition("  ")
            rows.append(f"<tr><th style='text-align:left'>{escape(label)}</th><td>{escape(value.strip())}</td></tr>")
        return f"<table>{''.join(rows)}</table>"


class Translator:
    """A trained model, or an ensemble of several. `load` and `train` return one.

    A translator can be shared among threads and processes; pickled, it is its directories, which are loaded where it
    is unpickled.

    Parameters
    ----------
    *directories : path
        Model directories. Several are an ensemble: at each step, the models' probabilities are averaged.

    Raises
    ------
    softalign.MissingFileError
        A directory does not exist.
    softalign.Error
        A directory holds no model, or a damaged one.
    """

    def __init__(self, *directories: Union[str, os.PathLike[str]], _model: Optional[_native.Model] = None) -> None:
        self._given = tuple(os.fspath(directory) for directory in directories)
        # Where processes that unpickle it find it, whatever their working directory.
        self._directories = tuple(map(os.path.abspath, self._given))
        self._model = _native.Model(list(self._directories)) if _model is None else _model

    @property
    def path(self) -> str:
        """Directory of the first model."""
        return self._directories[0]

    @property
    def curves(self) -> TrainingCurves:
        """Curves of the first model's training."""
        from ._training import TrainingCurves

        return TrainingCurves(self.path)

    def summary(self) -> dict[str, Any]:
        """Returns the description of the first model that ``softalign inspect --json`` prints."""
        summary: dict[str, Any] = json.loads(self._model.summary())
        return summary

    # A str is a sequence of str too; the first overload that fits is the one that counts.
    @overload
    def translate(  # type: ignore[overload-overlap]
        self, sentences: str, *, n_best: None = None, progress: bool = False, **options: Unpack[TranslateOptions]
    ) -> Translation: ...
    @overload
    def translate(  # type: ignore[overload-overlap]
        self, sentences: str, *, n_best: int, progress: bool = False, **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...
    @overload
    def translate(
        self,
        sentences: Sequence[str],
        *,
        n_best: None = None,
        progress: bool = False,
        **options: Unpack[TranslateOptions],
    ) -> list[Translation]: ...
    @overload
    def translate(
        self, sentences: Sequence[str], *, n_best: int, progress: bool = False, **options: Unpack[TranslateOptions]
    ) -> list[list[Translation]]: ...
    @overload
    def translate(
        self,
        sentences: Iterable[str],
        *,
        n_best: Optional[int] = None,
        progress: bool = False,
        **options: Unpack[TranslateOptions],
    ) -> Any: ...

    def translate(
        self,
        sentences: Union[str, Iterable[str]],
        *,
        n_best: Optional[int] = None,
        progress: bool = False,
        **options: Unpack[TranslateOptions],
    ) -> Any:
        """Translates one sentence, several, or a stream.

        Parameters
        ----------
        sentences : str, sequence of str, or iterable of str
            One sentence, a list of them, or a stream such as a file or a generator.
        n_best : int, optional
            Number of translations of each sentence, best first, with ``sample`` in the order drawn. Beam search drops
            duplicates, so there may be fewer.
        progress : bool
            Show a progress bar.
        **options
            Options of ``softalign translate``, see `TranslateOptions`: among them ``beam`` (5), ``prefix``,
            ``require``, ``avoid``, ``terms``, ``sample``, ``temperature`` and ``markup``.

        Returns
        -------
        Translation, list of Translation, or iterator
            A translation for a sentence; a list for a list; an iterator for a stream, which reads ahead by up to
            1,024 sentences. With `n_best`, each translation is a list.

        Raises
        ------
        softalign.ArgumentError
            An option is out of range, or a sentence is no `str`.

        Examples
        --------
        >>> model.translate("They bought a hat.").text
        'Ils ont acheté un chapeau.'
        >>> model.translate(["She sleeps.", "He sings."], beam=10)
        >>> for translation in model.translate(open("sentences.txt")):
        ...     print(translation)
        """
        call = self._translation(options, n_best, progress)
        if isinstance(sentences, str):
            return call([sentences], 0)[0]
        if isinstance(sentences, Sequence) or hasattr(sentences, "__len__"):
            return call(strings("sentences", sentences), 0)
        return _stream(call, iterator("sentences", sentences))

    def _translation(
        self, options: TranslateOptions, n_best: Optional[int], progress: bool
    ) -> Callable[[list[str], int], list[Any]]:
        """Returns the function that translates sentences, of which the first has the given index in its stream."""
        given: dict[str, Any] = dict(options)
        checked("translate", TranslateOptions.__annotations__, given, ("n_best", "progress"))
        for name in ("terms", "dictionary"):
            if given.get(name) is not None:
                given[name] = glossary(name, given[name])
        for name in ("require", "avoid"):
            if given.get(name) is not None:
                given[name] = phrases(name, given[name])
        if isinstance(given.get("features"), str):
            given["features"] = [given["features"]]
        if n_best is not None:
            given["n_best"] = n_best
        encoded = to_json(given)

        def call(sentences: list[str], first: int) -> list[Any]:
            found = self._model.translate(sentences, first, encoded, Listener(progress))
            if n_best is None:
                return Results(Translation(*translations[0]) for translations in found)
            return [Results(Translation(*translation) for translation in translations) for translations in found]

        return call

    def align(
        self, pairs: Pairs, *, progress: bool = False, **options: Unpack[AlignOptions]
    ) -> list[_native.Alignment]:
        """Links the words of sentence pairs by posterior attention and the statistical aligner trained with the model.

        Parameters
        ----------
        pairs : path, or iterable of (str, str)
            A file of pairs, or source and target of each.
        progress : bool
            Show a progress bar.
        **options
            Options of ``softalign align``, see `AlignOptions`: among them ``threshold``, ``symmetrize`` and
            ``links_from``.

        Returns
        -------
        list of Alignment
            One for each pair.
        """
        checked("align", AlignOptions.__annotations__, options)
        return Results(self._model.align(as_pairs(pairs), to_json(options), Listener(progress)))

    def score(self, pairs: Pairs, *, progress: bool = False) -> list[PairScore]:
        """Returns the log-probability of each target given its source.

        Parameters
        ----------
        pairs : path, or iterable of (str, str)
            A file of pairs, or source and target of each.
        progress : bool
            Show a progress bar.
        """
        return [PairScore(*score) for score in self._model.score(as_pairs(pairs), Listener(progress))]

    def evaluate(
        self,
        pairs: Pairs,
        *,
        gold: Union[str, os.PathLike[str], Sequence[Sequence[tuple[int, int]]], None] = None,
        progress: bool = False,
        **options: Unpack[EvaluateOptions],
    ) -> Evaluation:
        """Evaluates the model on sentence pairs.

        Parameters
        ----------
        pairs : path, or iterable of (str, str)
            A file of pairs, or source and reference translation of each.
        gold : path, or list of lists of (int, int), optional
            Gold alignments: a file, or the sure links of each pair.
        progress : bool
            Show progress bars.
        **options
            Options of ``softalign evaluate``, see `EvaluateOptions`: among them ``beam``, ``confidence`` and
            ``by_length``.

        Returns
        -------
        Evaluation
            BLEU, chrF, TER and others, in percent.
        """
        checked("evaluate", EvaluateOptions.__annotations__, options, ("gold", "progress"))
        if gold is not None:
            gold = os.fspath(gold) if isinstance(gold, (str, os.PathLike)) else [list(links) for links in gold]
        report, text, translations = self._model.evaluate(as_pairs(pairs), gold, to_json(options), Listener(progress))
        return Evaluation(report, text, translations)

    def mapper(
        self, source: str, target: str, **options: Unpack[TranslateOptions]
    ) -> Callable[[Any], dict[str, list[str]]]:
        """Returns a function for ``datasets.Dataset.map(..., batched=True)``.

        Parameters
        ----------
        source, target : str
            Column of the sentences, and new column of their translations.
        **options
            Options of `translate`.

        Examples
        --------
        >>> dataset.map(model.mapper("en", "fr"), batched=True)
        """
        return functools.partial(_map_batch, self, source, target, options)

    def series(self, **options: Unpack[TranslateOptions]) -> Callable[[Any], Any]:
        """Returns a function from a pandas Series of sentences to one of translations, as for Spark's ``pandas_udf``.

        Examples
        --------
        >>> translate = pandas_udf(model.series(), "string")
        >>> table.withColumn("fr", translate("en"))
        """
        import pandas as pd

        def translate_series(sentences: Any) -> Any:
            found = [one.text for one in self.translate(list(sentences), **options)]
            return pd.Series(found, index=sentences.index, dtype="object")

        # Spark reads what a function takes and returns.
        translate_series.__annotations__ = {"sentences": pd.Series, "return": pd.Series}
        return translate_series

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, self._directories

    def __repr__(self) -> str:
        return f"Translator({', '.join(map(repr, self._given))})"


def load(*directories: Union[str, os.PathLike[str]]) -> Translator:
    """Loads a model, or an ensemble of several.

    Parameters
    ----------
    *directories : path
        Model directories. Several are an ensemble: at each step, the models' probabilities are averaged.

    Returns
    -------
    Translator
    """
    return Translator(*directories)


def _loaded(*directories: str) -> Translator:
    """Loads a model that was pickled, once in each process for each version of its files."""
    configs = (os.path.join(directory, "config.json") for directory in directories)
    version = tuple(os.stat(config).st_mtime_ns for config in configs if os.path.exists(config))
    return _load_version(directories, version)


#: Models of `_loaded` by directories and version: a few, as a process may work through many.
_load_version = functools.lru_cache(maxsize=4)(lambda directories, version: Translator(*directories))

#: Number of sentences of a stream that are translated together.
_CHUNK = 1024


def _stream(call: Callable[[list[str], int], list[Any]], sentences: Iterator[str]) -> Iterator[Any]:
    """Translates a stream. Line ends of files are no part of their sentences."""
    for first in itertools.count(0, _CHUNK):
        chunk = strings("sentences", itertools.islice(sentences, _CHUNK))
        if not chunk:
            return
        yield from call([text.rstrip("\r\n") for text in chunk], first)


def _map_batch(model: Translator, source: str, target: str, options: Any, batch: Any) -> dict[str, list[str]]:
    return {target: [one.text for one in model.translate(list(batch[source]), **options)]}
