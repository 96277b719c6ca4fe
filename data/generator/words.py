"""Words that remember what they mean, and the notation for them.

Everything in the grammar is built as a `Pair`: a list of English words and a list of French words. A word
carries *concepts*, small integers that say what it expresses. Two words that both express a concept strongly
get a sure link; when one of them expresses it only weakly, the link is a possible one.

`pair` reads the notation, such as `every/a day/b | tous/a les/A jours/b`. The letters after a slash are
concepts, strong in lower case and weak in upper case; the same letter is the same concept on both sides. `^`
marks a word as adnominal. `{name}` stands for a slot. Without a bar both languages are written alike.
"""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache, partial

from draw import chance

# A concept that nothing else expresses yet.
concept = partial(next, itertools.count(1))
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Word:
    """One word of one language.

    `adnominal` marks determiners and adjectives that stand before their noun: only those contract (« de le »
    gives « du » for the article but not for the pronoun) or change before a vowel (« ce », « beau »).
    """

    text: str
    strong: frozenset = frozenset()
    weak: frozenset = frozenset()
    adnominal: bool = False

    def fused(self, other, text):
        """The single token that stands for this word and `other`."""
        return Word(text, self.strong | other.strong, self.weak | other.weak)


@dataclass(frozen=True)
class Pair:
    """The same meaning in both languages."""

    en: tuple = ()
    fr: tuple = ()

    def __add__(self, other):
        return Pair(self.en + other.en, self.fr + other.fr)


@lru_cache(maxsize=None)
def _parts(item):
    text, _, letters = item.partition("/")
    strong, weak = [x for x in letters if x.islower()], [x.lower() for x in letters if x.isupper()]
    return text.lstrip("^"), strong, weak, text.startswith("^")


def word(item, concepts):
    """Read one word of the notation; letters that `concepts` lacks become new concepts in it."""
    text, strong, weak, adnominal = _parts(item)
    for letter in (*strong, *weak):
        if letter not in concepts:
            concepts[letter] = concept()
    return Word(text, frozenset([concepts[x] for x in strong]), frozenset([concepts[x] for x in weak]), adnominal)


def words(pattern, **concepts):
    """Read words of one language, with the given concepts."""
    return tuple(word(item, concepts) for item in pattern.split())


@lru_cache(maxsize=None)
def _sides(template):
    english, bar, french = template.partition("|")
    return english, french if bar else english


def pair(template, **slots):
    """Read the notation.

    A slot is a `Pair`, whose words stand there; or text that may itself be notation, for both languages or as
    a tuple for each; or, under a single letter, the concept (a number) that the letter shall stand for.
    """
    concepts = {name: x for name, x in slots.items() if isinstance(x, int)}

    def read(side, pattern):
        def text(match):
            slot = slots[match[1]]
            return match[0] if isinstance(slot, Pair) else slot if isinstance(slot, str) else slot[side]

        result = []
        for item in (_SLOT.sub(text, pattern) if "{" in pattern else pattern).split():
            slot = slots[item[1:-1]] if item.startswith("{") else None
            result.extend((slot.fr if side else slot.en) if slot else [word(item, concepts)])
        return tuple(result)

    return Pair(*(read(side, pattern) for side, pattern in enumerate(_sides(template))))


NOTHING = Pair()


def perhaps(probability, make):
    """Result of `make` with the given probability, else nothing."""
    return make() if chance(probability) else NOTHING
