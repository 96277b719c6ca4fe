"""The challenge: known constructions put together in ways that training does not have.

Each sentence nests or joins several clauses, so that it is longer than any in
training: a relative clause that is itself negated and holds a pronoun, a
report of a condition, a question about a reason, and so on.
"""

import lexicon
from clauses import clause, ing, question, verb_phrase
from events import (
    activity,
    asks,
    definite,
    is_,
    named_item,
    other_than,
    person_verb,
    pronoun_again,
    state,
    stop,
)
from phrases import (
    PEOPLE,
    NounPhrase,
    direct,
    future_time,
    indirect,
    named,
    past_time,
    pronoun_for,
    relative_of,
    role,
    subject,
    subject_pronoun,
    third_party,
)
from words import Pair, pair

NEGATIONS = (None, "not", "never")
COMBINATIONS = []


def combination(make):
    """Register a maker of challenge sentences."""
    COMBINATIONS.append(make)
    return make


def _headed(head, relative):
    joined = head + relative
    return NounPhrase(joined.en, joined.fr, head.person, head.number, head.gender)


def _unread(draw, who, tense="past"):
    """An activity whose English verb shows its tense."""
    while True:
        phrase = definite(draw, who, tense) if draw.chance(0.6) else activity(draw, who, tense)
        if phrase.verb.en != "read":
            return phrase


def somebody(draw):
    """`the teacher who has not helped us`."""
    head = role(draw)
    link = pair("who/r", "qui/r")
    who = NounPhrase(link.en, link.fr, head.person, head.number, head.gender)
    tense = draw.pick(("perfect", "pluperfect"))
    negation = draw.pick(("not", "never", None))
    kind = draw.below(3)
    if kind == 0:
        phrase = verb_phrase(person_verb(draw, lasting=False), direct(draw.pick(PEOPLE)))
    elif kind == 1:
        phrase = verb_phrase(
            draw.pick(lexicon.GIVING),
            indirect(draw.pick(PEOPLE)),
            named_item(draw, ("the", "this"))[0],
        )
    else:
        phrase = definite(draw, who)
    return _headed(head, clause(who, phrase, tense, negation))


def something(draw, giver=None):
    """`the letters that you have never shown her`, and its noun."""
    head, noun, verb = named_item(draw, ("the",))
    who = giver or subject(draw)
    agreement = (noun.gender, head.number)
    if draw.chance(0.6):
        phrase = verb_phrase(
            draw.pick(lexicon.GIVING), indirect(other_than(draw, who)), agreement=agreement
        )
    else:
        phrase = verb_phrase(verb, agreement=agreement)
    tense = draw.pick(("perfect", "pluperfect"))
    inner = clause(who, phrase, tense, draw.pick(NEGATIONS))
    return _headed(head, pair("that/r {c}", "que/r {c}", c=inner)), verb


def event(draw, who, tense="past"):
    """What somebody did or will do, sometimes denied."""
    negation = draw.pick((None, None, "not")) if tense == "past" else None
    phrase = definite(draw, who, tense) if negation else _unread(draw, who, tense)
    if phrase.verb.en == "read":
        phrase = verb_phrase(
            person_verb(draw, lasting=False), direct(draw.pick(("he", "she", "they")))
        )
    return clause(who, phrase, tense, negation)


@combination
def relative_then_pronoun(draw):
    """A thing described by a relative, and taken up by a pronoun."""
    who = third_party(draw)
    what, verb = something(draw)
    found = clause(who, verb_phrase(lexicon.Verb("find", "trouver"), what), "past")
    again = pronoun_again(who)
    sold = clause(
        again,
        verb_phrase(lexicon.Verb("sell", "vendre"), direct(pronoun_for(what))),
        draw.pick(("past", "near", "future")),
        draw.pick((None, "not")),
    )
    return stop(pair("{a} , but/n {b}", "{a} , mais/n {b}", a=found, b=sold))


@combination
def described_subject_with_reason(draw):
    """A described person does something for a reason."""
    who = somebody(draw)
    again = pronoun_again(who)
    tense, then = draw.pick((("past", "imperfect"), ("near", "present")))
    said = clause(who, _unread(draw, who), tense)
    reason = is_(again, state(draw, again), then, draw.pick((None, "not")))
    return stop(pair("{a} because/b {b}", "{a} parce/b que/b {b}", a=said, b=reason))


@combination
def condition_with_relative(draw):
    """If a described person had time, something would follow."""
    who = somebody(draw)
    have = clause(who, verb_phrase(lexicon.HAVE, pair("time/t", "le/T temps/t")), "imperfect")
    again = pronoun_again(who)
    phrase = verb_phrase(person_verb(draw, lasting=False), direct(other_than(draw, again)))
    result = clause(again, phrase, "conditional", draw.pick((None, "not", "never")))
    return stop(pair("if/i {a} , {b}", "si/i {a} , {b}", a=have, b=result))


@combination
def reported_condition(draw):
    """Somebody thinks or says that, if …, …."""
    teller, who = third_party(draw), third_party(draw)
    verb = draw.pick(
        (
            lexicon.Verb("think", "penser"),
            lexicon.Verb("say", "dire"),
            lexicon.Verb("believe", "croire"),
        )
    )
    again = pronoun_again(who)
    main = clause(again, _unread(draw, again), "future", None)
    weather = pair(
        *draw.pick(
            (
                ("it/i rains/a", "il/i pleut/a"),
                ("it/i snows/a", "il/i neige/a"),
                ("it/i is/f cold/a", "il/i fait/f froid/a"),
            )
        )
    )
    first = clause(
        who,
        verb_phrase(person_verb(draw, lasting=False), direct(draw.pick(PEOPLE))),
        "future",
        draw.pick((None, "not")),
    )
    content = pair(
        "that/t {a} if/i {w} , but/n that/u {b}",
        "que/t {a} si/i {w} , mais/n que/u {b}",
        a=first,
        w=weather,
        b=main,
    )
    return stop(clause(teller, verb_phrase(verb).plus(content), "present"))


@combination
def question_about_a_reason(draw):
    """Do you know why the described person did it, and where?"""
    asking = subject_pronoun(draw.pick(("you", "he", "she", "they")))
    who = somebody(draw)
    inner = event(draw, who)
    content = pair("why/w {c}", "pourquoi/w {c}", c=inner)
    phrase = verb_phrase(lexicon.Verb("know", "savoir"), content)
    return asks(question(asking, phrase, "present") + past_time(draw))


@combination
def when_future_chain(draw):
    """Futures in both clauses, with a described object and a pronoun."""
    first, who = third_party(draw), subject(draw)
    arrival = verb_phrase(draw.pick([x for x in lexicon.ARRIVAL if x.en in ("arrive", "leave")]))
    english, french = clause(first, arrival, "present"), clause(first, arrival, "future")
    receiver = other_than(draw, who)
    what, _ = something(draw)
    giving = clause(
        who,
        verb_phrase(draw.pick(lexicon.GIVING), indirect(receiver), what),
        "future",
        draw.pick((None, "not")),
    )
    return stop(
        pair(
            "when/w {a} , {b} {t}",
            "quand/w {f} , {b} {t}",
            a=Pair(en=english.en),
            f=Pair(fr=french.fr),
            b=giving,
            t=future_time(draw),
        )
    )


@combination
def story(draw):
    """Three events in a row."""
    who, other = third_party(draw), draw.pick((named, relative_of))(draw)
    again = pronoun_again(who)
    first = event(draw, who)
    second = event(draw, other)
    reason = is_(again, state(draw, again), "imperfect")
    return stop(
        pair(
            "{a} because/b {r} , and/n {c}",
            "{a} parce/b que/b {r} , et/n {c}",
            a=first,
            r=reason,
            c=second,
        )
    )


@combination
def opinion_about_described(draw):
    """An opinion about a person, followed by what that person does not do."""
    teller, who = subject(draw), somebody(draw)
    again = pronoun_again(who)
    is_so = is_(who, state(draw, who), draw.pick(("present", "imperfect")))
    denied = clause(
        again,
        verb_phrase(person_verb(draw, lasting=False), direct(other_than(draw, again))),
        "future",
        "not",
    )
    phrase = verb_phrase(lexicon.Verb("think", "penser"), pair("that/t {c}", "que/t {c}", c=is_so))
    said = clause(teller, phrase, "present")
    return stop(pair("{a} , and/n {b}", "{a} , et/n {b}", a=said, b=denied))


@combination
def before_and_while(draw):
    """An action before another one, interrupted by somebody who is described."""
    who, other = third_party(draw), somebody(draw)
    done = clause(who, _unread(draw, who), "past")
    later = ing(_unread(draw, who, "future"))
    came = clause(
        other,
        verb_phrase(draw.pick([x for x in lexicon.ARRIVAL if x.en in ("arrive", "leave")])),
        "past",
    )
    return stop(
        pair(
            "{a} before/b {l} when/w {c}",
            "{a} avant/b de/B {l} quand/w {c}",
            a=done,
            l=later,
            c=came,
        )
        if draw.chance(0.4)
        else pair(
            "when/w {c} , {a} without/b {l}",
            "quand/w {c} , {a} sans/b {l}",
            a=done,
            l=later,
            c=came,
        )
    )
