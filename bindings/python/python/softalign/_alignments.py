"""Files, tables and plots of alignments."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _native

if TYPE_CHECKING:
    from ._translator import Translation


def save(
    alignments: Iterable[Union[_native.Alignment, Translation]],
    path: Union[str, os.PathLike[str]],
    *,
    view: str = "matrix",
    numbers: bool = False,
    width: Optional[float] = None,
    font_size: Optional[float] = None,
) -> None:
    """Saves alignments to a file.

    Parameters
    ----------
    alignments : iterable of Alignment or Translation
        Alignments in the order of the file.
    path : path
        File. Its extension says the format: ``.html`` (a page to explore), ``.json``, ``.jsonl``, ``.npz``, ``.svg``,
        ``.tsv``, ``.txt`` (heatmaps of text) or ``.pharaoh`` (links).
    view : {"matrix", "links"}
        Content of SVG figures: a heatmap, or curves between linked words.
    numbers : bool
        Write the weights into the cells of a heatmap in SVG, in percent.
    width : float, optional
        Width of an SVG document in pixels.
    font_size : float, optional
        Size of its font in pixels, instead of `width`.

    Raises
    ------
    softalign.ArgumentError
        The extension is unknown, or an argument is out of range.
    softalign.FileError
        The file cannot be written. A previous file of this name stays.
    """
    given = [alignment_of(one) for one in alignments]
    _native.save(given, os.fspath(path), view, numbers, width, font_size)


def alignment_of(one: Union[_native.Alignment, Translation]) -> _native.Alignment:
    """Returns an alignment, or that of a translation."""
    return one if isinstance(one, _native.Alignment) else one.alignment


def to_pandas(alignment: _native.Alignment) -> Any:
    """Returns the weights as a DataFrame, with a column for the source's end."""
    import numpy as np
    import pandas as pd

    weights = np.column_stack([alignment.attention, alignment.eos])
    return pd.DataFrame(weights, index=alignment.target, columns=[*alignment.source, "</s>"])


def plot(alignment: _native.Alignment, ax: Any = None) -> Any:
    """Draws the heatmap on axes, and returns them."""
    import numpy as np

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots()
    weights = np.column_stack([alignment.attention, alignment.eos])
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    source = [*alignment.source, "</s>"]
    ax.set_xticks(range(len(source)), labels=source, rotation=45, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(alignment.target)), labels=alignment.target)
    ax.xaxis.tick_top()
    for s, t in alignment.links:
        ax.plot(s, t, "o", markersize=4, color="white" if alignment.attention[t, s] > 0.5 else "black")
    return ax
