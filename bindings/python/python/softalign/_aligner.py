"""The statistical word aligner, which needs no model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Optional, Union

from . import _native
from ._arguments import Pairs, as_pairs, checked, to_json
from ._listener import Listener
from ._options import AlignerOptions
from ._results import Results

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Aligner:
    """Statistical word aligner, trained on sentence pairs alone.

    Parameters
    ----------
    pairs : path, or iterable of (str, str)
        Training pairs: a file, or source and target of each.
    prior : Aligner, optional
        Aligner whose links in its own training are a prior; the new one knows the words of both.
    progress : bool
        Show a progress bar.

    Raises
    ------
    softalign.ArgumentError
        There is no pair.

    Examples
    --------
    >>> aligner = softalign.Aligner([("a b", "x y"), ("b c", "y z"), ("a", "x"), ("c", "z")])
    >>> aligner.align([("b a", "y x")])[0].links
    [(0, 0), (1, 1)]
    """

    _aligner: _native.Aligner

    def __init__(self, pairs: Pairs, *, prior: Optional[Aligner] = None, progress: bool = False) -> None:
        native = None if prior is None else prior._aligner
        self._aligner = _native.Aligner.fit(as_pairs(pairs), native, Listener(progress))

    @classmethod
    def load(cls, directory: Union[str, os.PathLike[str]]) -> Aligner:
        """Loads an aligner from a directory that `save` wrote, or from a model directory."""
        aligner = cls.__new__(cls)
        aligner._aligner = _native.Aligner.load(os.fspath(directory))
        return aligner

    def save(self, directory: Union[str, os.PathLike[str]]) -> None:
        """Saves the aligner to a directory, which is created if it does not exist.

        Word pairs of probability below 0.0001 are left out, so that links of rare words may differ afterwards.
        """
        self._aligner.save(os.fspath(directory))

    def align(
        self, pairs: Pairs, *, progress: bool = False, **options: Unpack[AlignerOptions]
    ) -> list[_native.Alignment]:
        """Links the words of pairs, which may be new to the aligner.

        Parameters
        ----------
        pairs : path, or iterable of (str, str)
            A file of pairs, or source and target of each.
        progress : bool
            Show a progress bar.
        **options
            ``symmetrize``, ``threshold``, ``direction`` and ``words`` of ``softalign align``.

        Returns
        -------
        list of Alignment
            One for each pair. `Alignment.attention` holds the probabilities of the source words given a target word.
        """
        checked("align", AlignerOptions.__annotations__, options)
        return Results(self._aligner.align(as_pairs(pairs), to_json(options), Listener(progress)))


def align(pairs: Pairs, *, progress: bool = False, **options: Unpack[AlignerOptions]) -> list[_native.Alignment]:
    """Trains a statistical aligner on sentence pairs, and links their words.

    Parameters
    ----------
    pairs : path, or iterable of (str, str)
        A file of pairs, or source and target of each.
    progress : bool
        Show progress bars.
    **options
        As in `Aligner.align`.

    Examples
    --------
    >>> softalign.align("pairs.tsv", symmetrize="grow-diag-final-and")[0].pharaoh()
    '0-0 1-2 2-1'
    """
    given = as_pairs(pairs)
    return Aligner(given, progress=progress).align(given, progress=progress, **options)
