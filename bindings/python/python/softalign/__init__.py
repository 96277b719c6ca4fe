"""Small translators with attention, trained on your own sentence pairs, and word alignments.

>>> import softalign
>>> model = softalign.train("pairs.tsv", "my-model")
>>> model.translate("Where is the station?")
"""

from __future__ import annotations

from . import attention, kernels
from ._aligner import Aligner, align
from ._alignments import save
from ._errors import ArgumentError, Error, FileError, MissingFileError
from ._metrics import PairedTest, Score, bleu, chrf, paired_test, ter
from ._native import Alignment, __version__, set_threads
from ._training import TrainingCurves, train
from ._translator import Evaluation, PairScore, Translation, Translator, load

__all__ = [
    "Aligner",
    "Alignment",
    "ArgumentError",
    "Error",
    "Evaluation",
    "FileError",
    "MissingFileError",
    "PairScore",
    "PairedTest",
    "Score",
    "TrainingCurves",
    "Translation",
    "Translator",
    "__version__",
    "align",
    "attention",
    "bleu",
    "chrf",
    "kernels",
    "load",
    "paired_test",
    "save",
    "set_threads",
    "ter",
    "train",
]

for _name in __all__:
    _public = globals()[_name]
    # Messages and documents name what the package exports, not the file that defines it.
    if getattr(_public, "__module__", "").startswith(f"{__name__}._"):
        _public.__module__ = __name__
del _name, _public
