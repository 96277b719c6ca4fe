"""Constructions with object pronouns, which stand before the verb in French."""

import lexicon
from adverbials import NUMBERS
from clauses import clause, verb_phrase
from constructions import AND, BECAUSE, BUT, construction, declare, told
from draw import rows
from events import activity, is_, named_item, object_of, quality, to_other
from phrases import (
    adverbial_pronoun, country_name, direct, drawn_noun, drawn_pronoun, indirect, named, noun_phrase, other_than,
    person, pronoun_again, pronoun_for, role, stressed_pronoun, subject, third_party,
)
from surface import capital
from words import Pair, pair


def topic(what, said):
    """`My scarf? I can wash it.`"""
    said = Pair(*((capital(first), *others) for first, *others in (said.en, said.fr)))
    return pair("{what} ? {said}", what=what, said=said)


declare("direct object pronoun", do=to_other, negation=0.3, tenses="present past near future", time=0.4)


@construction("pronoun for a thing named before")
def antecedent(draw):
    what, noun, verb = named_item(draw)
    who, phrase = subject(draw), verb_phrase(verb, direct(pronoun_for(what)))
    said = clause(who, phrase, draw.pick("future near can past") if verb.en != "read" else "near")
    if draw.chance(0.4):
        return topic(what, said)
    known = is_(what, quality(draw, what, noun))
    if draw.chance(0.6):
        return pair(AND, a=known, b=said)
    return pair(BUT, a=known, b=clause(who, phrase, draw.pick("future near can"), "not"))


@construction("participle agreement with a preceding object")
def participle_agreement(draw):
    what, noun, verb = named_item(draw)
    who, phrase = subject(draw), verb_phrase(verb, direct(pronoun_for(what)))
    tense = "perfect" if verb.en == "read" else draw.pick("past past perfect")
    said = clause(who, phrase, tense, draw.negation(0.3))
    if draw.chance(0.5):
        return topic(what, said)
    return pair(AND, a=is_(what, quality(draw, what, noun), "imperfect"), b=said)


GIFTS = "text thing fruit keepsake"


def given(draw, who, receiver):
    """To give, show or send something to a pronoun."""
    what = object_of(draw, who, draw.pick(GIFTS), "the own this", 0.15)
    return verb_phrase(draw.pick(lexicon.GIVING), receiver, what)


def given_to_person(draw, who):
    """To give, show or send something to somebody."""
    what = object_of(draw, who, draw.pick(GIFTS), "the a own")
    receiver = pair("to/a {p} | à/a {p}", p=person(draw))
    return verb_phrase(draw.pick(lexicon.GIVING), what, receiver)


@construction("indirect object pronoun")
def indirect_pronoun(draw):
    who = subject(draw)
    receiver, negation = indirect(other_than(draw, who)), draw.negation(0.2)
    if draw.chance(0.5):
        phrase = verb_phrase(draw.pick(lexicon.TO_PERSON), receiver)
        return told(draw, who, phrase, negation, "present past near future")
    phrase = given(draw, who, receiver)
    return clause(who, phrase, draw.pick("past perfect pluperfect near future"), negation)


declare("giving to somebody", do=given_to_person, tenses="past near future", time=0.5)


@construction("two object pronouns")
def two_pronouns(draw):
    what = noun_phrase(drawn_noun(draw, GIFTS), draw.pick("the this I"), draw.number(0.4))
    who = draw.pick((third_party(draw), drawn_pronoun(draw)))
    receiver = indirect(other_than(draw, who), "to")
    phrase = verb_phrase(draw.pick(lexicon.GIVING), direct(pronoun_for(what)), receiver)
    return topic(what, clause(who, phrase, draw.pick("past perfect future near"), draw.negation(0.3)))


@construction("pronoun y")
def pronoun_y(draw):
    who = subject(draw)
    feeling = "love" if draw.chance(0.5) else "know"
    where = pair("{x}/a", x=draw.pick(lexicon.CITIES)) if draw.chance(0.6) else country_name(draw)
    doing = draw.pick("work live study go stay")
    tense = draw.pick("future near past" if doing in ("go", "stay") else "present future used")
    reason = clause(pronoun_again(who), verb_phrase(doing, adverbial_pronoun("there", "y")), tense)
    link = BECAUSE if tense in ("present", "used") else AND
    return pair(link, a=clause(who, verb_phrase(feeling, where)), b=reason)


@construction("pronoun en")
def pronoun_en(draw):
    who, noun = subject(draw), drawn_noun(draw, "fruit thing garment animal")
    number, verb, tense = draw.pick(NUMBERS), draw.pick("have see buy"), draw.pick("past future")
    phrase = verb_phrase(verb, pair("{n}/a", n=number), adverbial_pronoun("of them", "en"))
    said = clause(who, phrase, "present" if verb == "have" else tense)
    if draw.chance(0.5):
        return topic(noun_phrase(noun, "the", 2), said)
    other = draw.pick((named, role))(draw)
    return pair(AND, a=clause(other, verb_phrase("sell", noun_phrase(noun, "a", 2)), "progressive"), b=said)


def accompanied(draw, who):
    """Something done with, without or for somebody."""
    other = stressed_pronoun(other_than(draw, who))
    company = pair("{p}/a {other}", p=draw.pick(rows("with avec, without sans, for pour")), other=other)
    return activity(draw, who).plus(company)


declare("stressed pronoun after a preposition", do=accompanied, tenses="past near future", time=0.3)
