"""Functions and classes on which the package is built."""

import os
from collections.abc import Sequence
from typing import Any, Literal, NoReturn, Optional, Union, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._listener import Listener

__version__: str

__all__ = [
    "Aligner",
    "Alignment",
    "Model",
    "__version__",
    "_raise_panic",
    "corpus_score",
    "learn_width",
    "main",
    "paired_test",
    "pool",
    "save",
    "set_threads",
    "train",
]

_Pairs = Union[str, list[tuple[str, str]]]

@final
class Alignment:
    def __new__(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        attention: ArrayLike,
        eos: Optional[ArrayLike] = None,
        links: Optional[Sequence[tuple[int, int]]] = None,
        score: Optional[float] = None,
        texts: Optional[tuple[str, str]] = None,
    ) -> Alignment: ...
    @property
    def source(self) -> list[str]: ...
    @property
    def target(self) -> list[str]: ...
    @property
    def attention(self) -> NDArray[np.float32]: ...
    @property
    def eos(self) -> NDArray[np.float32]: ...
    @property
    def links(self) -> list[tuple[int, int]]: ...
    @property
    def link_scores(self) -> NDArray[np.float32]: ...
    @property
    def score(self) -> float: ...
    @property
    def unknown(self) -> Optional[float]: ...
    @property
    def confidence(self) -> Optional[float]: ...
    @property
    def word_confidence(self) -> Optional[list[float]]: ...
    @property
    def nonwords(self) -> Optional[list[int]]: ...
    @property
    def texts(self) -> tuple[str, str]: ...
    def pharaoh(self) -> str: ...
    def svg(
        self,
        view: Literal["matrix", "links"] = "matrix",
        *,
        numbers: bool = False,
        width: Optional[float] = None,
        font_size: Optional[float] = None,
    ) -> str: ...
    def save(self, path: Union[str, os.PathLike[str]], **options: Any) -> None: ...
    def to_pandas(self) -> Any: ...
    def plot(self, ax: Optional[Any] = None) -> Any: ...
    def _repr_html_(self) -> str: ...

@final
class Aligner:
    @staticmethod
    def fit(pairs: _Pairs, prior: Optional[Aligner], listener: Listener) -> Aligner: ...
    @staticmethod
    def load(directory: str) -> Aligner: ...
    def save(self, directory: str) -> None: ...
    def align(self, pairs: _Pairs, options: str, listener: Listener) -> list[Alignment]: ...

@final
class Model:
    def __new__(cls, directories: list[str]) -> Model: ...
    @property
    def path(self) -> str: ...
    def translate(
        self, sentences: list[str], first: int, options: str, listener: Listener
    ) -> list[list[tuple[str, float, float, int, Alignment, list[str], list[int]]]]: ...
    def align(self, pairs: _Pairs, options: str, listener: Listener) -> list[Alignment]: ...
    def score(
        self, pairs: _Pairs, listener: Listener
    ) -> list[tuple[float, int, list[tuple[str, float]], float]]: ...
    def evaluate(
        self,
        pairs: _Pairs,
        gold: Optional[Union[str, Sequence[Sequence[tuple[int, int]]]]],
        options: str,
        listener: Listener,
    ) -> tuple[str, str, list[str]]: ...
    def summary(self) -> str: ...

def save(
    alignments: Sequence[Alignment],
    path: str,
    view: str,
    numbers: bool,
    width: Optional[float],
    font_size: Optional[float],
) -> None: ...
def train(
    pairs: Optional[_Pairs],
    directory: str,
    valid: Optional[_Pairs],
    monolingual_target: Union[str, list[str], None],
    init_from: Optional[str],
    start: Literal["new", "replace", "resume"],
    options: str,
    listener: Listener,
) -> Model: ...
def corpus_score(
    metric: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    tokenize: Optional[str],
    confidence: bool,
    seed: int,
) -> tuple[float, Optional[float], Optional[str]]: ...
def paired_test(
    metric: str,
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    tokenize: Optional[str],
    seed: int,
) -> tuple[float, float, float, float]: ...
def pool(
    queries: NDArray[np.float32],
    keys: NDArray[np.float32],
    values: NDArray[np.float32],
    score: str,
    parameter: Optional[Sequence[float]] = None,
    mask: Optional[NDArray[np.float32]] = None,
    temperature: float = 1.0,
) -> list[NDArray[np.float32]]: ...
def learn_width(kernel: str, keys: Sequence[float], values: Sequence[float], steps: int) -> float: ...
def set_threads(threads: int) -> None: ...
def main(arguments: Sequence[str]) -> int: ...
def _raise_panic() -> NoReturn: ...
