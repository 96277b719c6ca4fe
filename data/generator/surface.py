"""From words to sentences: elision, contraction, capitals and punctuation, and the links.

All of it is applied last, by fusing neighbouring words into one white-space token that inherits the concepts
of its parts. That is why the links stay right however much the surface changes.
"""

from collections import namedtuple
from dataclasses import replace

from draw import listed
from french import begins_with_vowel

ELIDING = listed("le la de ne que je me te se")
BEFORE_VOWEL = {
    "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son", "beau": "bel", "nouveau": "nouvel", "vieux": "vieil",
}
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
CONSONANT_VOWEL = ("uni", "use", "euro", "one")
SHORT_NOT = {x: x + "n't" for x in listed("do does did is are was were has have would could should")}
SHORT_NOT.update(will="won't", can="can't")
# Verbs that are shortened after these words, unless they end their clause.
SHORT_VERBS = {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "would": "'d"}
SHORTENING = listed("i you he she it we they that what where who how name")
Sentence = namedtuple("Sentence", "en fr gold")


def _fused(words, rule):
    """Fuse neighbours for which the rule gives a text."""
    result = []
    for item in words:
        text = rule(result[-1], item) if result else None
        if text:
            result[-1] = result[-1].fused(item, text)
        else:
            result.append(item)
    return result


def _without_partitive_after_de(words):
    """« besoin de » + « du pain » is « besoin de pain »; likewise with « des ».

    A partitive article is written as an adnominal « de » and its article.
    """
    result, rest = [], list(words)
    while rest:
        item = rest.pop(0)
        if item.text == "de" and not item.adnominal and rest and rest[0].adnominal:
            for _ in range({"de": 2, "des": 1}.get(rest[0].text, 0)):
                item = item.fused(rest.pop(0), "de")
        result.append(item)
    return result


def _before_vowel(text, adnominal, following):
    """The form of a word whose neighbour begins with a vowel sound."""
    if text in BEFORE_VOWEL and adnominal:
        return BEFORE_VOWEL[text]
    if text[0].lower() + text[1:] in ELIDING:
        return text[:-1] + "'"
    if text.lower() == "ce" and following[0] in "eé":
        return text[:-1] + "'"
    return "s'" if text == "si" and following in ("il", "ils") else text


def _french(words):
    words = _without_partitive_after_de(words)
    elided = [
        replace(x, text=_before_vowel(x.text, x.adnominal, y.text)) if begins_with_vowel(y.text) else x
        for x, y in zip(words, words[1:])
    ] + words[-1:]
    contracted = _fused(elided, lambda x, y: y.adnominal and CONTRACTED.get((x.text, y.text)))
    return _fused(contracted, lambda x, y: _attached(x.text, y.text, x.text.endswith("'")))


def _contracted(words):
    """`I'm tired` for `I am tired`, but not `I know where it's`."""
    result = []
    for item, following in zip(words, (*words[1:], None)):
        host = result[-1].text if result else ""
        ends = following is None or following.text == "it" or not following.text[0].isalnum()
        pronoun = item.text == "is" or host.lower() in SHORTENING[:7]
        if item.text in SHORT_VERBS and host.lower() in SHORTENING and pronoun and not ends:
            result[-1] = result[-1].fused(item, host + SHORT_VERBS[item.text])
        else:
            result.append(item)
    return result


def _english(words, short_negation, contracted):
    following = [*(x.text.lower() for x in words[1:]), "."]
    vowels = [x[0] in "aeiou" and not x.startswith(CONSONANT_VOWEL) for x in following]
    words = [replace(x, text=x.text + "n") if vowel and x.text in ("a", "A") else x
             for x, vowel in zip(words, vowels)]
    if contracted:
        words = _contracted(words)
    if short_negation:
        words = _fused(words, lambda x, y: y.text == "not" and SHORT_NOT.get(x.text))
    return _fused(words, lambda x, y: _attached(x.text, y.text))


def _attached(before, after, elided=False):
    """Text that is written without a space: punctuation, « parle-t-il », `my parents' house`."""
    if after in ("-il", "-elle") and before[-1] in "ae":
        return f"{before}-t{after}"
    if after == "'s" and before.endswith("s"):
        return before + "'"
    return before + after if elided or after[0] in "-',.?!" else None


def capital(item):
    """A word with a capital."""
    return replace(item, text=item.text[0].upper() + item.text[1:])


def sentence(meaning, short_negation=False, contracted=False):
    """Write a pair out, with its links as `i-j` (sure) and `i?j` (possible)."""
    english, french = _english(meaning.en, short_negation, contracted), _french(meaning.fr)
    english[0], french[0] = capital(english[0]), capital(french[0])
    links = []
    for i, e in enumerate(english):
        for j, f in enumerate(french):
            if e.strong & f.strong:
                links.append(f"{i}-{j}")
            elif e.strong & f.weak or e.weak & f.strong:
                links.append(f"{i}?{j}")
    return Sentence(" ".join(x.text for x in english), " ".join(x.text for x in french), " ".join(links))
