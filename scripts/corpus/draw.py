"""Seeded choices.

Only `random.Random.random` is used, whose sequence is the same in every
Python version; the methods that build on it are not.
"""

import random


class Draw:
    """A source of choices."""

    def __init__(self, seed):
        self._source = random.Random(seed)

    def below(self, bound):
        """An integer from 0 to `bound` - 1."""
        return int(self._source.random() * bound)

    def pick(self, items):
        """One of a sequence."""
        return items[self.below(len(items))]

    def chance(self, probability):
        """True with the given probability."""
        return self._source.random() < probability

    def shuffled(self, items):
        """A shuffled copy."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result
