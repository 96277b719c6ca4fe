"""The challenge: known constructions put together in ways that training does not have.

Each sentence nests or joins several clauses, so that it is longer than any in training: a relative clause that is
itself negated and holds a pronoun, a report of a condition, a question about a reason, and so on.
"""

import lexicon
from adverbials import future_time, past_time
from clauses import clause, ing, question, verb_phrase
from constructions import AND, BECAUSE, BUT, IF, asks, finished
from events import activity, definite, is_, named_item, person_verb, state, to_other, visible
from linked import relative_subject, when_future
from phrases import (
    PEOPLE, direct, drawn_pronoun, indirect, named_or_relative, other_than, pronoun_again, pronoun_for, role, subject,
    third_party,
)
from words import pair

COMBINATIONS = {}
"""Name to the function that draws one sentence of the challenge."""


def combination(make):
    """Register a maker of challenge sentences."""
    COMBINATIONS[make.__name__] = lambda draw: finished(make(draw))
    return make


def _doing(draw, who, tense="past"):
    return (definite if draw.chance(0.6) else activity)(draw, who, tense)


def done_to(draw, names=PEOPLE):
    """Something done to any pronoun."""
    verb = person_verb(draw, lasting=False)
    return verb_phrase(verb, direct(draw.pick(names)))


def somebody(draw):
    """`the teacher who has not helped us`."""
    head = role(draw)
    who = relative_subject(head)
    tense, negation, kind = draw.pick("perfect pluperfect"), draw.pick("not never -"), draw.below(3)
    if kind == 0:
        phrase = done_to(draw)
    elif kind == 1:
        giving, receiver = draw.pick(lexicon.GIVING), indirect(draw.pick(PEOPLE))
        phrase = verb_phrase(giving, receiver, named_item(draw, "the this")[0])
    else:
        phrase = definite(draw, who)
    return head.followed(clause(who, phrase, tense, negation))


def something(draw):
    """`the letters that you have never shown her`."""
    head, noun, verb = named_item(draw, "the")
    who, receiver = subject(draw), ()
    if draw.chance(0.6):
        verb, receiver = draw.pick(lexicon.GIVING), (indirect(other_than(draw, who)),)
    phrase = verb_phrase(verb, *receiver, agreement=(noun.gender, head.number))
    inner = clause(who, phrase, draw.pick("perfect pluperfect"), draw.pick("- not never"))
    return head.followed(pair("that/r {c} | que/r {c}", c=inner))


def event(draw, who):
    """What somebody did, sometimes denied."""
    negation = draw.pick("- - not")
    phrase = definite(draw, who) if negation else visible(draw, who, _doing)
    if phrase.verb.en == "read":
        phrase = done_to(draw, "he she they")
    return clause(who, phrase, "past", negation)


@combination
def relative_then_pronoun(draw):
    """A thing described by a relative, and taken up by a pronoun."""
    who, what = third_party(draw), something(draw)
    sell = verb_phrase("sell", direct(pronoun_for(what)))
    sold = clause(pronoun_again(who), sell, draw.pick("past near future"), draw.pick("- not"))
    return pair(BUT, a=clause(who, verb_phrase("find", what), "past"), b=sold)


@combination
def described_subject_with_reason(draw):
    """A described person does something for a reason."""
    who = somebody(draw)
    again, (tense, then) = pronoun_again(who), draw.pick((("past", "imperfect"), ("near", "present")))
    said = clause(who, visible(draw, who, _doing), tense)
    return pair(BECAUSE, a=said, b=is_(again, state(draw, again), then, draw.pick("- not")))


@combination
def condition_with_relative(draw):
    """If a described person had time, something would follow."""
    who = somebody(draw)
    again = pronoun_again(who)
    condition = clause(who, verb_phrase("have", pair("time/t | le/T temps/t")), "imperfect")
    phrase = to_other(draw, again, lasting=False)
    return pair(IF, a=condition, b=clause(again, phrase, "conditional", draw.pick("- not never")))


@combination
def reported_condition(draw):
    """Somebody thinks or says that, if …, …."""
    teller, who = third_party(draw), third_party(draw)
    verb, again = draw.pick("think say believe"), pronoun_again(who)
    main = clause(again, visible(draw, again, _doing), "future")
    weather = draw.pick("""
        it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f cold/a | il/i fait/f froid/a""")
    first = clause(who, done_to(draw), "future", draw.pick("- not"))
    content = pair(
        "that/t {first} if/i {weather} , but/n that/u {main} | que/t {first} si/i {weather} , mais/n que/u {main}",
        first=first, weather=pair(weather), main=main,
    )
    return clause(teller, verb_phrase(verb, content))


@combination
def question_about_a_reason(draw):
    """Do you know why the described person did it, and where?"""
    asking, who = drawn_pronoun(draw, "you he she they"), somebody(draw)
    content = pair("why/w {c} | pourquoi/w {c}", c=event(draw, who))
    return asks(question(asking, verb_phrase("know=savoir", content)) + past_time(draw))


@combination
def when_future_chain(draw):
    """Futures in both clauses, with a described object and a pronoun."""
    first, who = third_party(draw), subject(draw)
    arrival, receiver = verb_phrase(draw.pick("leave arrive")), indirect(other_than(draw, who))
    what = something(draw)
    giving = clause(who, verb_phrase(draw.pick(lexicon.GIVING), receiver, what), "future", draw.pick("- not"))
    return when_future(first, arrival, giving) + future_time(draw)


@combination
def story(draw):
    """Three events in a row."""
    who, other = third_party(draw), named_or_relative(draw)
    again = pronoun_again(who)
    first, second = event(draw, who), event(draw, other)
    first = pair(BECAUSE, a=first, b=is_(again, state(draw, again), "imperfect"))
    return pair(AND, a=first, b=second)


@combination
def opinion_about_described(draw):
    """An opinion about a person, followed by what that person does not do."""
    teller, who = subject(draw), somebody(draw)
    again = pronoun_again(who)
    is_so = is_(who, state(draw, who), draw.pick("present imperfect"))
    denied = clause(again, to_other(draw, again, lasting=False), "future", "not")
    said = clause(teller, verb_phrase("think", pair("that/t {c} | que/t {c}", c=is_so)))
    return pair(AND, a=said, b=denied)


@combination
def before_and_while(draw):
    """An action before another one, interrupted by somebody who is described."""
    who, other = third_party(draw), somebody(draw)
    done, later = clause(who, visible(draw, who, _doing), "past"), ing(visible(draw, who, _doing))
    came = clause(other, verb_phrase(draw.pick("leave arrive")), "past")
    before = "{done} before/b {later} when/w {came} | {done} avant/b de/B {later} quand/w {came}"
    without = "when/w {came} , {done} without/b {later} | quand/w {came} , {done} sans/b {later}"
    return pair(before if draw.chance(0.4) else without, done=done, later=later, came=came)
