"""Seeded choices, and the lists in text that they are made from.

Only `random.Random.random` is used, whose sequence is the same in every Python version; the methods that
build on it are not.
"""

import random
from functools import lru_cache


@lru_cache(maxsize=None)
def rows(text):
    """A table: entries between commas, each a tuple of its words."""
    return [tuple(entry.split()) for entry in text.split(",")]


@lru_cache(maxsize=None)
def listed(text):
    """The entries between semicolons, or else the words; a hyphen stands for nothing."""
    entries = text.split(";") if ";" in text else text.split()
    return ["" if entry.strip() == "-" else entry.strip() for entry in entries]


class Draw:
    """A source of choices."""

    def __init__(self, seed):
        self._source = random.Random(seed)

    def below(self, bound):
        """An integer from 0 to `bound` - 1."""
        return int(self._source.random() * bound)

    def pick(self, items):
        """One of a sequence, or of the items that a text lists."""
        if isinstance(items, str):
            items = listed(items)
        return items[self.below(len(items))]

    def chance(self, probability):
        """True with the given probability."""
        return self._source.random() < probability

    def number(self, plural):
        """Plural (2) with the given probability, else singular (1)."""
        return 2 if self.chance(plural) else 1

    def negation(self, probability):
        """`not` with the given probability, else nothing."""
        return "not" if self.chance(probability) else ""

    def shuffled(self, items):
        """A shuffled copy."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result
