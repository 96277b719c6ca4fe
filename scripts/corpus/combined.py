"""The challenge: known constructions put together in ways that training does not have.

Each sentence nests or joins several clauses, so that it is longer than any in training: a relative clause that is
itself negated and holds a pronoun, a report of a condition, a question about a reason, and so on.
"""

from constructions import *
from linked import relative_subject, when_future

COMBINATIONS = {}
"""Name to the function that draws one sentence of the challenge."""


def combination(make):
    """Register a maker of challenge sentences."""
    COMBINATIONS[make.__name__] = lambda: finished(make())
    return make


def _doing(who, tense="past"):
    return (definite if chance(0.6) else activity)(who, tense)


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
    """What somebody did, sometimes denied."""
    negation = pick("- - not")
    phrase = definite(who) if negation else visible(who, _doing)
    if phrase.verb.en == "read":
        phrase = done_to("he she they")
    return clause(who, phrase, "past", negation)


@combination
def relative_then_pronoun():
    """A thing described by a relative, and taken up by a pronoun."""
    who, what = third_party(), something()
    sell = verb_phrase("sell", direct(pronoun_for(what)))
    sold = clause(pronoun_again(who), sell, pick("past near future"), pick("- not"))
    return pair(BUT, a=clause(who, verb_phrase("find", what), "past"), b=sold)


@combination
def described_subject_with_reason():
    """A described person does something for a reason."""
    who = somebody()
    again, (tense, then) = pronoun_again(who), pick((("past", "imperfect"), ("near", "present")))
    said = clause(who, visible(who, _doing), tense)
    return pair(BECAUSE, a=said, b=is_(again, state(again), then, pick("- not")))


@combination
def condition_with_relative():
    """If a described person had time, something would follow."""
    who = somebody()
    again = pronoun_again(who)
    condition = clause(who, verb_phrase("have", pair("time/t | le/T temps/t")), "imperfect")
    phrase = to_other(again, lasting=False)
    return pair(IF, a=condition, b=clause(again, phrase, "conditional", pick("- not never")))


@combination
def reported_condition():
    """Somebody thinks or says that, if …, …."""
    teller, who = third_party(), third_party()
    verb, again = pick("think say believe"), pronoun_again(who)
    main = clause(again, visible(again, _doing), "future")
    weather = pick("""
        it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f cold/a | il/i fait/f froid/a""")
    first = clause(who, done_to(), "future", pick("- not"))
    content = pair(
        "that/t {first} if/i {weather} , but/n that/u {main} | que/t {first} si/i {weather} , mais/n que/u {main}",
        first=first, weather=pair(weather), main=main,
    )
    return clause(teller, verb_phrase(verb, content))


@combination
def question_about_a_reason():
    """Do you know why the described person did it, and where?"""
    asking, who = pronoun("you he she they"), somebody()
    content = pair("why/w {c} | pourquoi/w {c}", c=event(who))
    return asks(question(asking, verb_phrase("know=savoir", content)) + time_for("past"))


@combination
def when_future_chain():
    """Futures in both clauses, with a described object and a pronoun."""
    first, who = third_party(), subject()
    arrival, receiver = verb_phrase(pick("leave arrive")), indirect(other_than(who))
    what = something()
    giving = clause(who, verb_phrase(pick(lexicon.GIVING), receiver, what), "future", pick("- not"))
    return when_future(first, arrival, giving) + time_for("future")


@combination
def story():
    """Three events in a row."""
    who, other = third_party(), named_or_relative()
    again = pronoun_again(who)
    first, second = event(who), event(other)
    first = pair(BECAUSE, a=first, b=is_(again, state(again), "imperfect"))
    return pair(AND, a=first, b=second)


@combination
def opinion_about_described():
    """An opinion about a person, followed by what that person does not do."""
    teller, who = subject(), somebody()
    again = pronoun_again(who)
    is_so = is_(who, state(who), pick("present imperfect"))
    denied = clause(again, to_other(again, lasting=False), "future", "not")
    said = clause(teller, verb_phrase("think", pair("that/t {c} | que/t {c}", c=is_so)))
    return pair(AND, a=said, b=denied)


@combination
def before_and_while():
    """An action before another one, interrupted by somebody who is described."""
    who, other = third_party(), somebody()
    done, later = clause(who, visible(who, _doing), "past"), ing(visible(who, _doing))
    came = clause(other, verb_phrase(pick("leave arrive")), "past")
    before = "{done} before/b {later} when/w {came} | {done} avant/b de/B {later} quand/w {came}"
    without = "when/w {came} , {done} without/b {later} | quand/w {came} , {done} sans/b {later}"
    return pair(before if chance(0.4) else without, done=done, later=later, came=came)
