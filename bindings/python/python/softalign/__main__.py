"""The command: ``python -m softalign``."""

from ._command import main

if __name__ == "__main__":
    main()
