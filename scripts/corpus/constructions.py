"""The list of constructions, and how the simple ones are declared.

Modules of constructions take everything from here: it passes on the whole vocabulary that they are written in.
"""

from dataclasses import replace

import english
import french
import lexicon
from adverbials import *
from clauses import *
from draw import below, chance, listed, pick, pick_not, pick_number, rows
from events import *
from french import agree
from phrases import *
from surface import capital
from words import Pair, concept, pair, words

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


def asks(said):
    """A sentence that ends with a question mark."""
    return finished(said, "?")


def exclaims(said):
    """A sentence that ends with an exclamation mark."""
    return finished(said, "!")


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


def told(who, phrase, negation="", tenses=TENSES, probability=0.5):
    """A clause in a tense that suits the verb, perhaps with a time."""
    tense = drawn_tense(phrase, tenses)
    return timed(clause(who, phrase, tense, negation), tense, probability, phrase)


def declare(name, asked=False, mark=".", time=None, **slots):
    """Register a construction of one clause by its slots, which are drawn in the order in which they are written.

    `who` draws the subject and is always first; without it anybody is. `do` draws the verb phrase for the
    subject. `negation` is the probability of `not`, or a text of negations to pick from. `tense` is a text of
    tenses to pick from, `tenses` one of which only those are picked that suit the verb. `time` is the probability
    of a time, which comes last. Without tense and time, it is told as in `told`.
    """
    if "tense" not in slots and "tenses" not in slots:
        slots["tenses"], time = TENSES, 0.5
    who_draws = slots.pop("who", subject)

    def make():
        who, phrase, negation, tense = who_draws(), None, "", ""
        for slot, source in slots.items():
            if slot == "do":
                phrase = source(who)
            elif slot == "negation":
                negation = source if isinstance(source, str) else pick_not(source)
                negation = pick(source) if ";" in negation else negation
            elif slot == "tense":
                tense = pick(source) if " " in source else source
            else:
                tense = drawn_tense(phrase, source)
        said = (question if asked else clause)(who, phrase, tense, negation)
        if time:
            said = timed(said, tense, time, phrase if mark == "." and not asked else None)
        return finished(said, "?" if asked else mark)

    construction(name)(make)
