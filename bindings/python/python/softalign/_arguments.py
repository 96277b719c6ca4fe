"""Arguments on their way to the library."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

from ._errors import ArgumentError

#: Sentence pairs: a file, or source and target of each pair, as in a list of tuples or a DataFrame of two columns.
Pairs = Union[str, "os.PathLike[str]", Iterable["tuple[str, str]"]]

#: Terms or words with their translations.
Glossary = Union[Mapping[str, str], Iterable["tuple[str, str]"]]


def as_pairs(given: Pairs) -> Union[str, list[tuple[str, str]]]:
    """Returns the path of a file, or pairs as a list of tuples."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    return [_pair("pairs", number, row) for number, row in enumerate(_rows("pairs", given))]


def _rows(name: str, given: Any) -> Iterable[Any]:
    """Returns the rows of a DataFrame, or the items of something else."""
    if not _is_table(given):
        return iterator(name, given)
    columns = list(given.columns)
    if len(columns) != 2:
        raise ArgumentError(f"{name}: expected a table of two columns, source and target; choose two of {columns!r:.99}")
    is_pandas = hasattr(given, "itertuples")
    rows: Iterable[Any] = given.itertuples(index=False, name=None) if is_pandas else given.iter_rows()
    return rows


def _is_table(given: Any) -> bool:
    """True for a DataFrame of pandas or polars."""
    return hasattr(given, "columns") and (hasattr(given, "itertuples") or hasattr(given, "iter_rows"))


def iterator(name: str, given: Any) -> Iterator[Any]:
    """Returns an iterator over items. A DataFrame is refused: its items are the names of its columns."""
    if _is_table(given):
        raise ArgumentError(f"{name}: expected one column, not a table; choose one of {list(given.columns)!r:.200}")
    try:
        return iter(given)
    except TypeError:
        raise ArgumentError(f"{name}: expected text or a list, not {type(given).__name__}") from None


def _pair(name: str, number: int, pair: Any) -> tuple[str, str]:
    try:
        source, target = pair
    except (TypeError, ValueError):
        source, target = None, None
    if isinstance(pair, (str, Mapping)) or not (isinstance(source, str) and isinstance(target, str)):
        raise ArgumentError(f"{name}[{number}]: expected a source and a target, both str, not {pair!r:.80}")
    return source, target


def as_sentences(given: Union[str, os.PathLike[str], Iterable[str], None]) -> Union[str, list[str], None]:
    """Returns the path of a file, or sentences as a list."""
    if given is None or isinstance(given, (str, os.PathLike)):
        return None if given is None else os.fspath(given)
    return strings("monolingual_target", given)


def strings(name: str, given: Iterable[Any]) -> list[str]:
    """Returns texts as a list of `str`."""
    texts = list(iterator(name, given))
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentError(f"{name}[{number}]: expected str, not {type(text).__name__}")
    return texts


def phrases(name: str, given: Union[str, Iterable[str]]) -> list[str]:
    """Returns one phrase or several as a list."""
    return [given] if isinstance(given, str) else strings(name, given)


def glossary(name: str, given: Glossary) -> list[dict[str, str]]:
    """Returns terms with their translations as the library's pairs."""
    items = given.items() if isinstance(given, Mapping) else given
    pairs = (_pair(name, number, item) for number, item in enumerate(items))
    return [{"source": source, "target": target} for source, target in pairs]


def checked(
    function: str, names: Iterable[str], options: Mapping[str, Any], named: Iterable[str] = ("progress",)
) -> None:
    """Raises TypeError, as Python does, for a keyword that a function does not have. `named` are its other keywords."""
    known = list(names)
    for name in options:
        if name not in known:
            similar = difflib.get_close_matches(name, [*known, *named], n=1)
            hint = f". Did you mean '{similar[0]}'?" if similar else ""
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")


def to_json(options: Mapping[str, Any]) -> str:
    """Returns options as JSON, with paths as text and NumPy's numbers as Python's."""
    return json.dumps(options, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, Iterable):
        return list(value)
    raise ArgumentError(f"an option cannot be a {type(value).__name__}")
