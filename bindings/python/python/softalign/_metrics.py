"""Metrics of translations, as sacrebleu computes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional, Union

from . import _native
from ._arguments import strings


class Score(NamedTuple):
    """Corpus score of translations.

    Attributes
    ----------
    metric : str
        Name of the metric.
    score : float
        Score in percent.
    confidence : float or None
        Half the width of the 95 % confidence interval, by bootstrap resampling (Koehn 2004).
    signature : str or None
        BLEU's signature in sacrebleu's notation.
    """

    metric: str
    score: float
    confidence: Optional[float] = None
    signature: Optional[str] = None

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        interval = "" if self.confidence is None else f" ± {self.confidence:.2f}"
        return f"{self.metric} {self.score:.2f}{interval}"

    def __repr__(self) -> str:
        return str(self)


class PairedTest(NamedTuple):
    """Significance of the difference of two systems.

    Attributes
    ----------
    metric : str
        Name of the metric.
    baseline, system : float
        Their scores in percent.
    bootstrap : float
        p-value by paired bootstrap resampling.
    randomization : float
        p-value by approximate randomization (Riezler & Maxwell 2005).
    """

    metric: str
    baseline: float
    system: float
    bootstrap: float
    randomization: float


def _score(
    metric: str,
    name: str,
    hypotheses: Iterable[str],
    references: Iterable[str],
    confidence: bool,
    seed: int,
    tokenize: Optional[str] = None,
) -> Score:
    hypotheses, references = strings("hypotheses", hypotheses), strings("references", references)
    return Score(name, *_native.corpus_score(metric, hypotheses, references, tokenize, confidence, seed))


def bleu(
    hypotheses: Iterable[str],
    references: Iterable[str],
    *,
    tokenize: Optional[str] = None,
    confidence: bool = False,
    seed: int = 1,
) -> Score:
    """Returns corpus BLEU of translations against one reference each, in percent.

    Parameters
    ----------
    hypotheses, references : iterable of str
        Translations and their references, in the same order.
    tokenize : {"13a", "zh", "char", "intl", "none"}, optional
        Tokenization, by sacrebleu's names. By default it follows the script of the references: zh for Chinese, char for
        Japanese, Thai and other scripts without spaces, else 13a.
    confidence : bool
        Also compute the 95 % confidence interval.
    seed : int
        Seed of resampling.

    Examples
    --------
    >>> softalign.bleu(["the cat sat on the mat"], ["the cat sat on the mat"])
    BLEU 100.00
    """
    return _score("bleu", "BLEU", hypotheses, references, confidence, seed, tokenize)


def chrf(hypotheses: Iterable[str], references: Iterable[str], *, confidence: bool = False, seed: int = 1) -> Score:
    """Returns corpus chrF2 in percent. Parameters as in `bleu`, except `tokenize`."""
    return _score("chrf", "chrF", hypotheses, references, confidence, seed)


def ter(hypotheses: Iterable[str], references: Iterable[str], *, confidence: bool = False, seed: int = 1) -> Score:
    """Returns the translation edit rate in percent. Parameters as in `bleu`, except `tokenize`."""
    return _score("ter", "TER", hypotheses, references, confidence, seed)


def paired_test(
    baseline: Iterable[str],
    system: Iterable[str],
    references: Iterable[str],
    *,
    metric: str = "bleu",
    tokenize: Optional[str] = None,
    seed: int = 1,
) -> PairedTest:
    """Tests whether two systems differ on the same references.

    Parameters
    ----------
    baseline, system, references : iterable of str
        Translations of both systems and the references, in the same order.
    metric : {"bleu", "chrf", "ter"}
        Metric that is compared.
    tokenize : str, optional
        Tokenization of BLEU, as in `bleu`.
    seed : int
        Seed of resampling.
    """
    texts = strings("baseline", baseline), strings("system", system), strings("references", references)
    return PairedTest(metric, *_native.paired_test(metric, *texts, tokenize, seed))
