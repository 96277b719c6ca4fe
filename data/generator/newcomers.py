"""The sentences of `data/newcomers.tsv`, which stay out of the corpus however they are typed."""

import re
from pathlib import Path

from surface import SHORT_NOT, SHORT_VERBS
from typing_habits import WITHOUT_APOSTROPHE

FILE = Path(__file__).parent.parent / "newcomers.tsv"
FULL_NOT = {short: f"{full} not" for full, short in SHORT_NOT.items()}
FULL_VERBS = {short: f" {full}" for full, short in SHORT_VERBS.items()}


def _full(word):
    """A word without its short forms: `don't` is `do not`."""
    word = WITHOUT_APOSTROPHE.get(word, word)
    host, apostrophe, ending = word.partition("'")
    return FULL_NOT.get(word) or host + FULL_VERBS.get(apostrophe + ending, apostrophe + ending)


def _spoken(text):
    """A text without case and punctuation."""
    return re.findall(r"[\w'-]+", text.casefold())


def plain(text):
    """An English text in full, without case and punctuation."""
    return " ".join(_full(x) for x in _spoken(text))


_ROWS = [line.split("\t") for line in FILE.read_text("utf-8").splitlines()]
ENGLISH = frozenset(plain(en) for en, *_ in _ROWS)
# The best translations; another English sentence with one of them would give it away.
FRENCH = frozenset(" ".join(_spoken(fr)) for _, fr, *_ in _ROWS)


def is_held_out(item):
    """True if a pair is one of the newcomers' on either side."""
    return plain(item.en) in ENGLISH or " ".join(_spoken(item.fr)) in FRENCH
