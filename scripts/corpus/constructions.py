"""The list of constructions, and how the simple ones are declared.

Modules of constructions take everything from here: it passes on the whole vocabulary that they are written in.
"""

from dataclasses import replace
from functools import lru_cache, partial
from inspect import signature

import english
import french
import lexicon
from adverbials import *
from clauses import *
from draw import *
from events import *
from french import agree
from phrases import *
from surface import capital
from words import *

CONSTRUCTIONS = {}
"""Name to the function that draws one sentence of the construction."""

# How clauses are joined.
AND = "{a} , and/n {b} | {a} , et/n {b}"
BUT = "{a} , but/n {b} | {a} , mais/n {b}"
WHEN = "{a} when/w {b} | {a} quand/w {b}"
IF = "if/i {a} , {b} | si/i {a} , {b}"
BECAUSE = "{a} because/b {b} | {a} parce/b que/b {b}"

TENSES = "present progressive past past near future"
UNTIMED = ("can", "must", "perfect")


def finished(said, mark="."):
    """A sentence with its mark, if it has none yet."""
    return said if said.en[-1].text in (".", "?", "!") else pair("{said} {mark}", said=said, mark=mark)


asks, exclaims = partial(finished, mark="?"), partial(finished, mark="!")


def construction(name):
    """Register what draws the sentences of a construction; a full stop is added where there is no mark."""

    def register(make):
        CONSTRUCTIONS[name] = lambda: finished(make())
        return make

    return register


def drawn_tense(phrase, tenses=TENSES):
    """One of the tenses that suit the verb."""
    return pick([x for x in tenses.split() if allowed(phrase.verb, x)] or ["past"])


def timed(said, tense, probability, phrase=None):
    """A clause, with the given probability with a time.

    `read` looks the same in the present and in the past: a time must tell when a phrase is given.
    """
    if tense in UNTIMED:
        return said
    settles = phrase and phrase.verb.en == "read" and tense in ("present", "past")
    return said + time_for(tense) if settles or chance(probability) else said


def perhaps_then(said, more, probability):
    """A clause, with the given probability with more behind it that is drawn before."""
    return said + more if chance(probability) else said


def told(who, phrase, negation="", tenses=TENSES, probability=0.5):
    """A clause in a tense that suits the verb, perhaps with a time."""
    tense = drawn_tense(phrase, tenses)
    return timed(clause(who, phrase, tense, negation), tense, probability, phrase)


def declare(name, asked=False, mark=".", time=None, **slots):
    """Register a construction by its slots, which are drawn in the order in which they are written.

    From a text that lists several things one is picked; a number is the probability of `not`; a function is called
    with those of the slots before that its parameters name. The sentence is `said`, or else the clause that `who`
    (anybody, if not given), `do`, `tense` and `negation` make, as a question if it is asked. `tenses` is a tense
    that suits the verb. `time` is the probability of a time behind it all. Without any tense it is as in `told`.
    """
    if "said" not in slots and not {"tense", "tenses"} & set(slots):
        slots["tenses"], time = TENSES, 0.5
    if "said" not in slots and "who" not in slots:
        slots = {"who": subject, **slots}

    def make():
        drawn = {"tense": "present", "negation": ""}
        for slot, source in slots.items():
            if slot == "tenses":
                drawn["tense"] = drawn_tense(drawn["do"], source)
            else:
                drawn[slot] = _drawn(source, drawn)
        who, do, tense = drawn.get("who"), drawn.get("do"), drawn["tense"]
        said = drawn.get("said") or (question if asked else clause)(who, do, tense, drawn["negation"])
        if time:
            said = timed(said, tense, time, do if mark == "." and not asked else None)
        return finished(said, "?" if asked else mark)

    construction(name)(make)


def _drawn(source, slots):
    if isinstance(source, float):
        return pick_not(source)
    if isinstance(source, str):
        return pick(source) if len(listed(source)) > 1 else source
    return source(*(slots[name] for name in _needed(source)))


@lru_cache(maxsize=None)
def _needed(function):
    return [x.name for x in signature(function).parameters.values() if x.default is x.empty]
