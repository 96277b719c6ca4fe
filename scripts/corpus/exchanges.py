"""Questions, orders and ways to address somebody."""

from dataclasses import replace

import lexicon
from clauses import clause, order, question, verb_phrase
from events import (
    NOTHING_VERBS,
    action,
    activity,
    allowed,
    asks,
    construction,
    definite,
    exclaims,
    is_,
    named_item,
    person_verb,
    quality,
    statement,
    time_for,
)
from phrases import (
    adjective,
    at_clock,
    direct,
    future_time,
    indirect,
    person,
    pronoun_for,
    somewhere,
    subject_pronoun,
)
from pronouns import given
from words import Pair, pair

FAMILIAR = (
    "Mum/a|maman/a",
    "Dad/a|papa/a",
    "my/a friend/b|mon/a ami/b",
    "my/a dear/b|mon/a cher/b",
)
"""What one calls somebody to whom one says « tu »."""


def questioner(draw):
    """A subject that takes inversion."""
    return subject_pronoun(draw.pick(("you", "you", "he", "she", "they", "we")))


# --- Questions ------------------------------------------------------------


@construction("question by inversion")
def inversion(draw):
    who = questioner(draw)
    phrase = activity(draw, who)
    tense = draw.pick(
        [
            x
            for x in ("past", "near", "future", "can", "progressive", "present")
            if allowed(phrase.verb, x)
        ]
    )
    said = question(who, phrase, tense)
    return asks(said + time_for(draw, tense) if tense != "can" and draw.chance(0.4) else said)


@construction("question with est-ce que")
def est_ce_que(draw):
    who = subject_pronoun("I") if draw.chance(0.15) else person(draw)
    phrase = activity(draw, who)
    tense = (
        "can"
        if who.person == 0
        else draw.pick(
            [
                x
                for x in ("past", "near", "future", "progressive", "present")
                if allowed(phrase.verb, x)
            ]
        )
    )
    said = question(who, phrase, tense)
    return asks(said + time_for(draw, tense) if tense != "can" and draw.chance(0.3) else said)


@construction("question with où, quand, pourquoi")
def where_when_why(draw):
    who = questioner(draw) if draw.chance(0.6) else person(draw)
    kind = draw.pick(("where", "when", "why"))
    asked = pair(
        *{
            "where": ("where/w", "où/w"),
            "when": ("when/w", "quand/w"),
            "why": ("why/w", "pourquoi/w"),
        }[kind]
    )
    if kind == "where" and draw.chance(0.5):
        phrase = verb_phrase(
            draw.pick(
                (
                    lexicon.verb("live=habiter"),
                    lexicon.verb("work=travailler"),
                    lexicon.verb("study=étudier"),
                    lexicon.verb("go=aller"),
                )
            )
        )
        tense = "present" if phrase.verb.en != "go" else "past"
    else:
        phrase = action(draw, who)
        tense = draw.pick(("past", "near", "future"))
    return asks(asked + question(who, phrase, tense))


@construction("question about the object")
def who_what(draw):
    who = questioner(draw) if draw.chance(0.6) else person(draw)
    if draw.chance(0.5):
        verb = lexicon.verb(draw.pick(NOTHING_VERBS))
        what = pair("what/w", "que/w")
    else:
        verb, what = person_verb(draw), pair("who/w", "qui/w")
    tense = "present" if verb.en in ("know", "admire") else draw.pick(("past", "near", "future"))
    where = somewhere(draw) if draw.chance(0.4) and tense != "present" else Pair()
    return asks(what + question(who, verb_phrase(verb), tense) + where)


@construction("question about the subject")
def who_subject(draw):
    words = pair("who/n", "qui/n")
    who = type(subject_pronoun("he"))(words.en, words.fr, 2, 1, "m")
    phrase = activity(draw, who)
    tense = draw.pick(
        [x for x in ("past", "future", "near", "can", "progressive") if allowed(phrase.verb, x)]
    )
    said = clause(who, phrase, tense)
    return asks(said + time_for(draw, tense) if tense != "can" and draw.chance(0.4) else said)


# --- Orders ---------------------------------------------------------------


@construction("order")
def plain_order(draw):
    who = subject_pronoun("you")
    negated = draw.chance(0.35)
    said = order(wanted(draw, who, negated), 4, negated)
    if draw.chance(0.35):
        said = pair("please/a {o}", "s'il/A vous/A plaît/a , {o}", o=said)
    return exclaims(said)


INVOLUNTARY = ("see", "hear", "lose", "meet", "understand", "find", "break", "forget")


AVOIDABLE = (
    "lose",
    "break",
    "forget",
    "open",
    "close",
    "drink",
    "eat",
    "read",
    "sell",
    "watch",
    "hide",
    "drive",
    "feed",
    "invite",
    "help",
    "wear",
    "buy",
    "wash",
    "repair",
)


def wanted(draw, who, negated=False):
    """Something one can be told to do, or not to do."""
    while True:
        phrase = definite(draw, who) if negated else activity(draw, who)
        verb = phrase.verb.en
        if (verb in AVOIDABLE) if negated else (verb not in INVOLUNTARY):
            return phrase


@construction("order with a pronoun")
def order_pronoun(draw):
    negated = draw.chance(0.4)
    if draw.chance(0.5):
        what, noun, verb = named_item(draw, ("this", "the", "you"))
        while (verb.en not in AVOIDABLE) if negated else (verb.en in INVOLUNTARY):
            what, noun, verb = named_item(draw, ("this", "the", "you"))
        said = order(verb_phrase(verb, direct(pronoun_for(what))), 4, negated)
        dirty = [x for x in lexicon.ADJECTIVES if x.en == "dirty" and noun.adjectives in x.suits]
        look = (
            adjective(dirty[0], what.gender, what.number)
            if verb.en == "wash" and dirty
            else (quality(draw, what, noun))
        )
        known = is_(what, look)
        return exclaims(pair("{x} , {o}", "{x} , {o}", x=known, o=said))
    name = draw.pick(("I", "he", "she", "we", "they"))
    if draw.chance(0.4):
        en, fr, particle = draw.pick(ATTENTION).split()
        phrase = verb_phrase(lexicon.Verb(en, fr, particle.strip("-")), direct(name))
        return exclaims(order(phrase, 4, negated) + _polite(draw))
    phrase = given(draw, subject_pronoun("you"), indirect(name))
    return exclaims(order(phrase, 4, negated) + _polite(draw))


ATTENTION = (
    "help aider -",
    "invite inviter -",
    "wait attendre for",
    "look regarder at",
    "listen écouter to",
    "look chercher for",
    "follow suivre -",
)


def _polite(draw):
    return pair(", please/a", ", s'il/A vous/A plaît/a") if draw.chance(0.3) else Pair()


@construction("order with a reflexive verb")
def order_reflexive(draw):
    phrase = verb_phrase(draw.pick(lexicon.REFLEXIVE))
    negated = draw.chance(0.3)
    parts = order(phrase, 4, negated)
    when = draw.pick((Pair(), at_clock(draw), future_time(draw)))
    who = draw.pick(
        (
            Pair(),
            pair("madam/a ,", "madame/a ,"),
            pair("sir/a ,", "monsieur/a ,"),
            pair("doctor/a ,", "docteur/a ,"),
        )
    )
    return exclaims(who + parts + when)


@construction("suggestion with let's")
def lets(draw):
    who = subject_pronoun("we")
    if draw.chance(0.3):
        phrase = verb_phrase(draw.pick(lexicon.REFLEXIVE))
    else:
        phrase = wanted(draw, who)
    when = future_time(draw) if draw.chance(0.4) else Pair()
    return exclaims(order(phrase, 3) + when)


@construction("familiar address with tu")
def familiar(draw):
    who = subject_pronoun("thou")
    name = draw.pick(FAMILIAR)
    call = pair(*name.split("|"))
    who = replace(who, gender="f" if "maman" in name else "m")
    kind = draw.below(3)
    if kind == 0:
        negated = draw.chance(0.3)
        said = exclaims(order(wanted(draw, who, negated), 1, negated))
    elif kind == 1:
        phrase = activity(draw, who)
        said = asks(question(who, phrase, draw.pick(("past", "near", "future", "can"))))
    else:
        said = statement(draw, who, activity(draw, who), None, ("past", "near", "future"), 0.3)
    return pair("{c} , {s}", "{c} , {s}", c=call, s=said)
