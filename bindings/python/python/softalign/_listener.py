"""Listeners of running calls: messages for ``logging``, and progress bars on request."""

from __future__ import annotations

import logging
import sys
from typing import Any, Optional

logger = logging.getLogger("softalign")
logger.addHandler(logging.NullHandler())


class Listener:
    """Passes messages to the logger ``softalign``, and shows progress if asked to.

    Parameters
    ----------
    progress : bool
        Show a progress bar for each stage.
    """

    def __init__(self, progress: bool = False) -> None:
        self._progress = progress
        self._bar: Optional[Any] = None

    def note(self, line: str) -> None:
        """Receives a note."""
        logger.info(line)

    def warning(self, line: str) -> None:
        """Receives a warning."""
        logger.warning(line)

    def begin(self, name: str, total: Optional[int]) -> None:
        """Receives the start of a stage with its number of items, if known."""
        if self._progress:
            self._bar = progress_bar(name, total)

    def advance(self, count: int) -> None:
        """Receives a number of finished items."""
        if self._bar is not None:
            self._bar.update(count)

    def end(self) -> None:
        """Receives the end of a stage."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def event(self, event: str) -> None:
        """Receives an event of a training, as JSON."""


class PlainBar:
    """Progress bar on standard error, for want of tqdm."""

    def __init__(self, name: str, total: Optional[int]) -> None:
        self._name, self._total, self._done, self._shown = name, total, 0.0, ""

    def update(self, count: float) -> None:
        """Adds finished items."""
        self._done += count
        done = f"{100 * self._done / self._total:.0f} %" if self._total else f"{self._done:.0f}"
        if done != self._shown:
            self._shown = done
            print(f"\r{self._name}: {done}", end="", file=sys.stderr, flush=True)

    def set_postfix_str(self, text: str) -> None:
        """Ignores what does not fit."""

    def close(self) -> None:
        """Ends the line."""
        if self._shown:
            print(file=sys.stderr)


def progress_bar(name: str, total: Optional[int], bar_format: Optional[str] = None) -> Any:
    """Returns a bar of tqdm if it is installed, else a plain one."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return PlainBar(name, total)
    return tqdm(total=total, desc=name, leave=False, bar_format=bar_format)


def is_interactive() -> bool:
    """Returns True in a notebook or at an interactive prompt."""
    return hasattr(sys, "ps1") or "IPython" in sys.modules and _ipython() is not None


def in_notebook() -> bool:
    """Returns True where results are shown as HTML."""
    shell = _ipython() if "IPython" in sys.modules else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def _ipython() -> Any:
    from IPython import get_ipython

    return get_ipython()
