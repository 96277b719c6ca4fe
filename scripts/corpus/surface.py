"""From words to sentences: elision, contraction, capitals and punctuation, and the links.

All of it is applied last, by fusing neighbouring words into one white-space token that inherits the concepts of
its parts. That is why the links stay right however much the surface changes.
"""

from dataclasses import dataclass, replace

from draw import listed
from french import begins_with_vowel

ELIDING = listed("le la de ne que je me te se jusque puisque lorsque")
BEFORE_VOWEL = {
    "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son", "beau": "bel", "nouveau": "nouvel", "vieux": "vieil",
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


def _before_vowel(text, adnominal, following):
    """The form of a word whose neighbour begins with a vowel sound."""
    if text in BEFORE_VOWEL and adnominal:
        return BEFORE_VOWEL[text]
    if text[0].lower() + text[1:] in ELIDING:
        return text[:-1] + "'"
    if text == "ce" and following[0] in "eé":
        return "c'"
    return "s'" if text == "si" and following in ("il", "ils") else text


def _elided(words):
    return [
        replace(x, text=_before_vowel(x.text, x.adnominal, y.text)) if begins_with_vowel(y.text) else x
        for x, y in zip(words, words[1:])
    ] + words[-1:]


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
        if item.text in ("-il", "-elle") and result[-1].text[-1] in "ae":
            item = replace(item, text="-t" + item.text)
        result.append(item)
    return result


CONSONANT_VOWEL = ("uni", "use", "euro", "one")
SHORT_NOT = {x: x + "n't" for x in listed("do does did is are was were has have would could should")}
SHORT_NOT.update(will="won't", can="can't")


def _takes_an(text):
    lowered = text.lower()
    return lowered[0] in "aeiou" and not lowered.startswith(CONSONANT_VOWEL)


def _english(words, short_negation):
    """`an` before a vowel, `'` for `'s` after an s, and `don't` for `do not` if wanted."""
    result = []
    for item, following in zip(words, [*words[1:], None]):
        if item.text == "a" and following and _takes_an(following.text):
            item = replace(item, text="an")
        before = result[-1].text if result else ""
        if item.text == "'s" and before.endswith("s"):
            item = replace(item, text="'")
        if short_negation and item.text == "not" and before in SHORT_NOT:
            result[-1] = result[-1].fused(item, SHORT_NOT[before])
        else:
            result.append(item)
    return result


def _tokens(words, eliding):
    """Fuse what is written without a space, and capitalise the beginning."""
    result = []
    for item in words:
        elided = eliding and result and result[-1].text.endswith("'")
        if result and (elided or item.text[0] in "-',.?!"):
            result[-1] = result[-1].fused(item, result[-1].text + item.text)
        else:
            result.append(item)
    result[0] = capital(result[0])
    return result


def capital(item):
    """A word with a capital."""
    return replace(item, text=item.text[0].upper() + item.text[1:])


@dataclass(frozen=True)
class Sentence:
    """A finished pair of lines with its gold links."""

    en: str
    fr: str
    gold: str


def sentence(meaning, short_negation=False):
    """Write a pair out, with its links as `i-j` (sure) and `i?j` (possible)."""
    french = _elided(_without_partitive_after_de(list(meaning.fr)))
    french = _tokens(_with_inverted_pronouns(_contracted(french)), eliding=True)
    english = _tokens(_english(list(meaning.en), short_negation), eliding=False)
    links = []
    for i, e in enumerate(english):
        for j, f in enumerate(french):
            if e.strong & f.strong:
                links.append(f"{i}-{j}")
            elif e.strong & f.weak or e.weak & f.strong:
                links.append(f"{i}?{j}")
    return Sentence(" ".join(x.text for x in english), " ".join(x.text for x in french), " ".join(links))
