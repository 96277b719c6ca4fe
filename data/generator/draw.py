"""Seeded choices, and the lists in text that they are made from.

Only `random.Random.random` is used, whose sequence is the same in every Python version; the methods that
build on it are not.
"""

import random
from functools import lru_cache

_source = random.Random()
seed = _source.seed


@lru_cache(maxsize=None)
def rows(text):
    """A table: entries between commas, each a tuple of its words."""
    return [tuple(entry.split()) for entry in text.split(",")]


@lru_cache(maxsize=None)
def listed(text):
    """The entries between semicolons, or else the words; a hyphen stands for nothing."""
    entries = text.split(";") if ";" in text else text.split()
    return ["" if entry.strip() == "-" else entry.strip() for entry in entries]


def entries(items):
    """The items that a text lists, or those of another collection."""
    return listed(items) if isinstance(items, str) else items


def below(bound):
    """An integer from 0 to `bound` - 1."""
    return int(_source.random() * bound)


def weighted(weights, others=()):
    """The keys of a dictionary, each as often as its number says, and then each of the others once."""
    return [*(item for item, weight in weights.items() for _ in range(weight)), *entries(others)]


def pick(items, others=()):
    """One of the items of a sequence or text; of a dictionary and others, one as `weighted` has them."""
    items = weighted(items, others) if isinstance(items, dict) else entries(items)
    return items[below(len(items))]


def chance(probability):
    """True with the given probability."""
    return _source.random() < probability


def one_of(*makers):
    """Drawer by one of several functions."""
    return lambda: pick(makers)()


def either(probability, first, second):
    """Drawer by the first of two functions with the given probability."""
    return lambda: (first if chance(probability) else second)()


def pick_number(probability):
    """Plural (2) with the given probability, else singular (1)."""
    return 2 if chance(probability) else 1


def pick_not(probability):
    """`not` with the given probability, else nothing."""
    return "not" if chance(probability) else ""


def sometimes_not(probability):
    """Drawer of `not` with the given probability, else of nothing."""
    return lambda: pick_not(probability)


def shuffled(items):
    """A shuffled copy."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = below(last + 1)
        result[last], result[other] = result[other], result[last]
    return result
