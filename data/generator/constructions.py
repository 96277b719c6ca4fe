"""The list of constructions, and how the simple ones are declared."""

from functools import lru_cache, partial
from inspect import signature

from adverbials import time_for
from clauses import clause, verb_phrase
from draw import chance, entries, pick, weighted
from events import allowed
from phrases import subject
from words import NOTHING, pair

# Name to the function that draws one sentence of the construction.
CONSTRUCTIONS = {}
# The same for what newcomers type first: greetings, thanks, asking the way.
EVERYDAY = {}

# Joints of clauses.
AND = "{a} , and/n {b} | {a} , et/n {b}"
BUT = "{a} , but/n {b} | {a} , mais/n {b}"
WHEN = "{a} when/w {b} | {a} quand/w {b}"
IF = "if/i {a} , {b} | si/i {a} , {b}"
BECAUSE = "{a} because/b {b} | {a} parce/b que/b {b}"

USUAL_TENSES = weighted({"present": 1, "progressive": 1, "past": 2}, "near future")
UNTIMED = ("can", "must", "perfect")


def finished(said, mark="."):
    """A sentence with its mark, if it has none yet."""
    return said if said.en[-1].text in (".", "?", "!") else pair("{said} {mark}", said=said, mark=mark)


asks, exclaims = partial(finished, mark="?"), partial(finished, mark="!")


def construction(name, into=CONSTRUCTIONS):
    """Register what draws the sentences of a construction; a full stop is added where there is no mark."""

    def register(make):
        into[name] = lambda: finished(make())
        return make

    return register


# Registers constructions of everyday sentences.
everyday = partial(construction, into=EVERYDAY)


def drawn_tense(phrase, tenses=USUAL_TENSES):
    """One of the tenses that suit the verb."""
    return pick([x for x in entries(tenses) if allowed(phrase.verb, x)] or ["past"])


def timed(said, tense, probability, phrase=None):
    """A clause, with the given probability with a time.

    `read` looks the same in the present and in the past: a time must tell when a phrase is given.
    """
    if tense in UNTIMED:
        return said
    settles = phrase and phrase.verb.en == "read" and tense in ("present", "past")
    return said + time_for(tense) if settles or chance(probability) else said


def told(who, phrase, negation="", tenses=USUAL_TENSES, probability=0.5):
    """A clause in a tense that suits the verb, perhaps with a time."""
    tense = drawn_tense(phrase, tenses)
    return timed(clause(who, phrase, tense, negation), tense, probability, phrase)


def declare(name, /, into=CONSTRUCTIONS, **slots):
    """Register a construction by its slots."""
    construction(name, into)(sentence_of(**slots))


def sentence_of(asked="", mark=".", time=None, kept=None, **slots):
    """Drawer of a sentence by its slots, in the order in which they are written.

    Of a list, a dictionary of weights, or a text that lists several things, one is picked. A function is called
    with the earlier slots that its parameters name, and notation takes in earlier slots.

    The sentence is `said`, or else a clause, which is a question if `asked`: `who` (anybody, unless declared)
    and `do`, or else a `verb` (to be, unless declared) with its complement `what`; `tense`, `negation` and
    `adverb`. `tenses` gives a tense that suits the verb; a clause that declares none is in a `plain` tense,
    if that is not empty, or else in any, often with a time. `time` is the probability of a fitting time behind
    it all, `kept` that of saying `when`; `mark` ends the sentence.
    """
    if "said" not in slots:
        slots = slots if "who" in slots else {"who": subject, **slots}
        if not {"tense", "tenses"} & set(slots):
            slots["tenses"], time = USUAL_TENSES, 0.5

    def make():
        x = dict(verb="be", what=NOTHING, tense="present", plain="", negation="", adverb=NOTHING)
        for slot, source in slots.items():
            if slot == "tenses":
                x["do"] = _phrase(x)
                x["tense"] = x["plain"] or drawn_tense(x["do"], source)
            else:
                x[slot] = _drawn(source, x)
        if "said" not in x:
            x["do"] = _phrase(x)
            x["said"] = clause(x["who"], x["do"], x["tense"], x["negation"], x["adverb"], asked)
        if time and not x["plain"]:
            x["said"] = timed(x["said"], x["tense"], time, x.get("do") if mark == "." and not asked else None)
        said = x["said"] + x["when"] if "when" in x and (kept is None or chance(kept)) else x["said"]
        return finished(said, "?" if asked else mark)

    return make


def _phrase(slots):
    return slots["do"] if "do" in slots else verb_phrase(slots["verb"], slots["what"])


def _drawn(source, slots):
    if callable(source):
        source = source(*(slots[name] for name in _needed(source)))
    elif not isinstance(source, str):
        source = pick(source)
    elif len(source.split(";" if "|" in source else None)) > 1:
        source = pick(source)
    return pair(source, **slots) if isinstance(source, str) and "|" in source else source


@lru_cache(maxsize=None)
def _needed(function):
    return [x.name for x in signature(function).parameters.values() if x.default is x.empty]
