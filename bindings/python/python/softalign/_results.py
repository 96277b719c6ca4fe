"""Lists of results that show themselves."""

from __future__ import annotations

from typing import Any, List, TypeVar

Shown = TypeVar("Shown")

#: Number of results of which a notebook shows figures.
_SHOWN = 20


class Results(List[Shown]):
    """A list of translations or alignments. In a notebook it shows a figure of each, elsewhere a line of each."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Results(found) if isinstance(index, slice) else found

    def __repr__(self) -> str:
        return f"[{', '.join(map(_line, self))}]"

    def _repr_html_(self) -> str:
        figures = [one._repr_html_() for one in self[:_SHOWN]]
        if len(self) > _SHOWN:
            figures.append(f"<p>… and {len(self) - _SHOWN} more</p>")
        return "".join(figures)


def _line(one: object) -> str:
    """Returns a result in one line: the text of a translation, the links of an alignment."""
    if isinstance(one, str):
        return str.__repr__(one)
    pharaoh = getattr(one, "pharaoh", None)
    return f"<Alignment {pharaoh()}>" if pharaoh is not None else repr(one)
