"""The challenge: known constructions put together in ways that training does not have.

Each sentence nests or joins several clauses, so that it is longer than any in training: a relative clause
that is itself negated and holds a pronoun, a report of a condition, a question about a reason, and so on.
"""

from functools import partial

import lexicon
from adverbials import time_for
from clauses import ING, clause, having_object, nonfinite, question, verb_phrase
from constructions import AND, BECAUSE, BUT, IF, declare
from draw import below, chance, pick
from events import activity, definite, is_, item, item_verb, person_verb, state, to_other, visible
from linked import relative_subject, when_future
from phrases import (
    PEOPLE, direct, indirect, named_or_relative, other_than, pronoun, pronoun_again, pronoun_for, role,
    subject, third_party,
)
from words import pair

COMBINATIONS = {}
combine = partial(declare, into=COMBINATIONS)
BEFORE = "{done} before/b {later} when/w {came} | {done} avant/b de/B {later} quand/w {came}"
WITHOUT = "when/w {came} , {done} without/b {later} | quand/w {came} , {done} sans/b {later}"

def _doing(who, tense="past"):
    return (definite if chance(0.6) else activity)(who, tense)

def shown(who):
    """Something done whose English verb shows its tense."""
    return visible(who, _doing)

def done_to(names=PEOPLE):
    """Something done to any pronoun."""
    verb = person_verb(lasting=False)
    return verb_phrase(verb, direct(pick(names)))

def somebody():
    """`the teacher who has not helped us`."""
    head = role()
    who = relative_subject(head)
    tense, negation, kind = pick("perfect pluperfect"), pick("not never -"), below(3)
    if kind == 0:
        phrase = done_to()
    elif kind == 1:
        giving, receiver, what = pick(lexicon.GIVING), indirect(pick(PEOPLE)), item("the this")
        item_verb(what)  # A verb is drawn for every item, although this one is given.
        phrase = verb_phrase(giving, receiver, what)
    else:
        phrase = definite(who)
    return head.followed(clause(who, phrase, tense, negation))

def something():
    """`the letters that you have never shown her`."""
    head = item("the")
    verb, who, receiver = item_verb(head), subject(), ()
    if chance(0.6):
        verb, receiver = pick(lexicon.GIVING), [indirect(other_than(who))]
    phrase = having_object(verb, head, *receiver)
    inner = clause(who, phrase, pick("perfect pluperfect"), pick("- not never"))
    return head.followed(pair("that/r {c} | que/r {c}", c=inner))

def event(who):
    """A past action, sometimes denied."""
    negation = pick({"": 2, "not": 1})
    phrase = definite(who) if negation else shown(who)
    return clause(who, done_to("he she they") if phrase.verb.en == "read" else phrase, "past", negation)

combine("a thing described by a relative and taken up by a pronoun",
        who=third_party, what=something, a=lambda who, what: clause(who, verb_phrase("find", what), "past"),
        do=lambda what: verb_phrase("sell", direct(pronoun_for(what))),
        tense="past near future", negation="- not",
        b=lambda who, do, tense, negation: clause(pronoun_again(who), do, tense, negation), said=BUT)
combine("a described person does something for a reason",
        who=somebody, again=pronoun_again, tense=(("past", "imperfect"), ("near", "present")),
        a=lambda who, tense: clause(who, shown(who), tense[0]),
        b=lambda again, tense: is_(again, state(again), tense[1], pick("- not")), said=BECAUSE)
combine("if a described person had time, something would follow",
        who=somebody, again=pronoun_again,
        a=lambda who: clause(who, verb_phrase("have", pair("time/t | le/T temps/t")), "imperfect"),
        do=lambda again: to_other(again, lasting=False), negation="- not never",
        b=lambda again, do, negation: clause(again, do, "conditional", negation), said=IF)
combine("somebody thinks or says that, if …, …",
        who=third_party, other=third_party, verb="think say believe",
        again=lambda other: pronoun_again(other),
        main=lambda again: clause(again, shown(again), "future"),
        weather="""it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a;
                   it/i is/f cold/a | il/i fait/f froid/a""",
        first=lambda other: clause(other, done_to(), "future", pick("- not")),
        what="that/t {first} if/i {weather} , but/n that/u {main} | "
             "que/t {first} si/i {weather} , mais/n que/u {main}",
        said=lambda who, verb, what: clause(who, verb_phrase(verb, what)))
combine("a question about why a described person did something", mark="?",
        who=lambda: pronoun("you he she they"), c=lambda: event(somebody()),
        what="why/w {c} | pourquoi/w {c}",
        said=lambda who, what: question(who, verb_phrase("know=savoir", what)) + time_for("past"))
combine("futures in both clauses, with a described object and a pronoun",
        first=third_party, who=subject, arrival="leave arrive", to=lambda who: indirect(other_than(who)),
        what=something, verb=lexicon.GIVING, negation="- not",
        do=lambda verb, to, what: verb_phrase(verb, to, what),
        main=lambda who, do, negation: clause(who, do, "future", negation),
        said=lambda first, arrival, main: when_future(first, verb_phrase(arrival), main) + time_for("future"))
combine("three events in a row",
        who=third_party, other=named_or_relative, again=pronoun_again, first=event,
        b=lambda other: event(other),
        reason=lambda again: is_(again, state(again), "imperfect"),
        a=lambda first, reason: pair(BECAUSE, a=first, b=reason), said=AND)
combine("an opinion about a person, and what that person does not do",
        teller=subject, who=somebody, again=pronoun_again,
        c=lambda who: is_(who, state(who), pick("present imperfect")),
        b=lambda again: clause(again, to_other(again, lasting=False), "future", "not"),
        what="that/t {c} | que/t {c}",
        a=lambda teller, what: clause(teller, verb_phrase("think", what)), said=AND)
combine("an action before another one, interrupted by somebody described",
        who=third_party, other=somebody, done=lambda who: clause(who, shown(who), "past"),
        later=lambda who: nonfinite(shown(who), template=ING),
        came=lambda other: clause(other, verb_phrase(pick("leave arrive")), "past"),
        said=lambda: BEFORE if chance(0.4) else WITHOUT)
