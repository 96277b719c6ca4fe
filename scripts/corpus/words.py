"""Words that remember what they mean, and how they become sentences.

Everything in the grammar is built as a `Pair`: a list of English words and a
list of French words. A word carries *concepts*, small integers that say what
it expresses. Two words that both express a concept strongly get a sure link;
when one of them expresses it only weakly, the link is a possible one.

Elision, contraction and punctuation are applied last, by fusing neighbouring
words into one white-space token that inherits the concepts of its parts. That
is why the links stay right however much the surface changes.
"""

import itertools
from dataclasses import dataclass, replace

from french import begins_with_vowel

NOTHING = frozenset()
_fresh = itertools.count(1)


def concept():
    """A concept that nothing else expresses yet."""
    return next(_fresh)


@dataclass(frozen=True)
class Word:
    """One word of one language.

    `adnominal` marks determiners and adjectives that stand before their noun:
    only those contract (« de le » gives « du » for the article but not for the
    pronoun) or change before a vowel (« ce », « beau »).
    """

    text: str
    strong: frozenset = NOTHING
    weak: frozenset = NOTHING
    adnominal: bool = False

    def fused(self, other, text):
        """The single token that stands for this word and `other`."""
        return Word(text, self.strong | other.strong, self.weak | other.weak)


def word(text, strong=(), weak=(), adnominal=False):
    """A word that expresses the given concepts."""
    return Word(text, frozenset(strong), frozenset(weak), adnominal)


@dataclass(frozen=True)
class Pair:
    """The same meaning in both languages."""

    en: tuple = ()
    fr: tuple = ()

    def __add__(self, other):
        return Pair(self.en + other.en, self.fr + other.fr)


def pair(english, french, shared=None, **slots):
    """Read a pair of patterns such as `every/a day/b` and `tous/a les/A jours/b`.

    Letters after the slash are concepts of this pattern, strong in lower case
    and weak in upper case. `{name}` stands for a `Pair` given as a slot, `^`
    before a word marks it as adnominal, and `shared` ties a letter to a
    concept from elsewhere.
    """
    concepts = dict(shared or {})

    def read(pattern, side):
        words = []
        for item in pattern.split():
            if item.startswith("{"):
                name, _, rest = item[1:].partition("}")
                words.extend(getattr(slots[name], side))
                item = rest
            if item:
                words.append(_pattern_word(item, concepts))
        return tuple(words)

    return Pair(read(english, "en"), read(french, "fr"))


def _pattern_word(item, concepts):
    text, _, letters = item.partition("/")
    adnominal = text.startswith("^")
    for letter in letters.lower():
        if letter not in concepts:
            concepts[letter] = concept()
    return word(
        text.lstrip("^"),
        [concepts[x] for x in letters if x.islower()],
        [concepts[x.lower()] for x in letters if x.isupper()],
        adnominal,
    )


# --- French surface -------------------------------------------------------

ELIDING = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "jusque": "jusqu'",
    "puisque": "puisqu'",
    "lorsque": "lorsqu'",
}
BEFORE_VOWEL = {
    "ce": "cet",
    "ma": "mon",
    "ta": "ton",
    "sa": "son",
    "beau": "bel",
    "nouveau": "nouvel",
    "vieux": "vieil",
}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def _without_partitive_after_de(words):
    """« besoin de » + « du pain » is « besoin de pain »; likewise with « des ».

    A partitive article is written as an adnominal « de » and its article.
    """
    result, at = [], 0
    while at < len(words):
        item, at = words[at], at + 1
        following = words[at] if at < len(words) else None
        if item.text == "de" and not item.adnominal and following and following.adnominal:
            swallowed = {"de": 2, "des": 1}.get(following.text, 0)
            for part in words[at : at + swallowed]:
                item = item.fused(part, "de")
            at += swallowed
        result.append(item)
    return result


def _before_vowel(item, following):
    """The form of a word whose neighbour begins with a vowel sound."""
    if item.text in BEFORE_VOWEL and item.adnominal:
        return replace(item, text=BEFORE_VOWEL[item.text])
    lowered = item.text[0].lower() + item.text[1:]
    if lowered in ELIDING:
        return replace(item, text=item.text[0] + ELIDING[lowered][1:])
    if item.text == "ce" and following.text[0] in "eé":
        return replace(item, text="c'")
    if item.text == "si" and following.text in ("il", "ils"):
        return replace(item, text="s'")
    return item


def _elided(words):
    result = []
    for item, following in itertools.zip_longest(words, words[1:]):
        if following is not None and begins_with_vowel(following.text):
            item = _before_vowel(item, following)
        result.append(item)
    return result


def _contracted(words):
    result = []
    for item in words:
        key = (result[-1].text, item.text) if result else None
        if item.adnominal and key in CONTRACTED:
            result[-1] = result[-1].fused(item, CONTRACTED[key])
        else:
            result.append(item)
    return result


def _with_inverted_pronouns(words):
    """« parle » + « -il » takes the euphonic t: « parle-t-il »."""
    result = []
    for item in words:
        if item.text in ("-il", "-elle", "-on") and result[-1].text[-1] in "ae":
            item = replace(item, text="-t" + item.text)
        result.append(item)
    return result


# --- English surface ------------------------------------------------------

SILENT_H = ("hour", "honest", "heir")
CONSONANT_VOWEL = ("uni", "use", "euro", "one")
SHORT_NOT = {
    "do": "don't",
    "does": "doesn't",
    "did": "didn't",
    "is": "isn't",
    "are": "aren't",
    "was": "wasn't",
    "were": "weren't",
    "has": "hasn't",
    "have": "haven't",
    "will": "won't",
    "would": "wouldn't",
    "can": "can't",
    "could": "couldn't",
    "should": "shouldn't",
}


def _takes_an(text):
    lowered = text.lower()
    if lowered.startswith(SILENT_H):
        return True
    return lowered[0] in "aeiou" and not lowered.startswith(CONSONANT_VOWEL)


def _with_articles(words):
    result = []
    for item, following in itertools.zip_longest(words, words[1:]):
        if item.text == "a" and following is not None and _takes_an(following.text):
            item = replace(item, text="an")
        result.append(item)
    return result


def _with_short_negation(words):
    result = []
    for item in words:
        if item.text == "not" and result and result[-1].text in SHORT_NOT:
            result[-1] = result[-1].fused(item, SHORT_NOT[result[-1].text])
        else:
            result.append(item)
    return result


def _with_possessives(words):
    """« my parents » + « 's » is written with the apostrophe alone."""
    result = []
    for item in words:
        if item.text == "'s" and result[-1].text.endswith("s"):
            item = replace(item, text="'")
        result.append(item)
    return result


# --- Sentences ------------------------------------------------------------


def _tokens(words, eliding):
    """Fuse what is written without a space, and capitalise the beginning."""
    result = []
    for item in words:
        elided = eliding and result and result[-1].text.endswith("'")
        if result and (elided or item.text[0] in "-',.?!"):
            result[-1] = result[-1].fused(item, result[-1].text + item.text)
        else:
            result.append(item)
    first = result[0].text
    result[0] = replace(result[0], text=first[0].upper() + first[1:])
    return result


@dataclass(frozen=True)
class Sentence:
    """A finished pair of lines with its gold links."""

    en: str
    fr: str
    gold: str


def sentence(meaning, short_negation=False):
    """Write a pair out, with its links as `i-j` (sure) and `i?j` (possible)."""
    en = _with_possessives(_with_articles(list(meaning.en)))
    if short_negation:
        en = _with_short_negation(en)
    fr = _without_partitive_after_de(list(meaning.fr))
    fr = _with_inverted_pronouns(_contracted(_elided(fr)))
    en_tokens, fr_tokens = _tokens(en, eliding=False), _tokens(fr, eliding=True)
    links = []
    for i, e in enumerate(en_tokens):
        for j, f in enumerate(fr_tokens):
            if e.strong & f.strong:
                links.append(f"{i}-{j}")
            elif e.strong & f.weak or e.weak & f.strong:
                links.append(f"{i}?{j}")
    return Sentence(
        " ".join(t.text for t in en_tokens), " ".join(t.text for t in fr_tokens), " ".join(links)
    )
