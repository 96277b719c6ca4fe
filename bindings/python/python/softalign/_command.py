"""The ``softalign`` command."""

from __future__ import annotations

import sys

from . import _native


def main() -> None:
    """Runs the command with the arguments of this process, and exits with its code."""
    sys.exit(_native.main(["softalign", *sys.argv[1:]]))
