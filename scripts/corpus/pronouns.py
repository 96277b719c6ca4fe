"""Constructions with object pronouns, which stand before the verb in French."""

from constructions import *


def topic(what, said):
    """`My scarf? I can wash it.`"""
    said = Pair(*((capital(first), *others) for first, *others in (said.en, said.fr)))
    return pair("{what} ? {said}", what=what, said=said)


declare("direct object pronoun", do=to_other, negation=0.3, tenses="present past near future", time=0.4)


@construction("pronoun for a thing named before")
def antecedent():
    what, noun, verb = named_item()
    who, phrase = subject(), verb_phrase(verb, direct(pronoun_for(what)))
    said = clause(who, phrase, pick("future near can past") if verb.en != "read" else "near")
    if chance(0.4):
        return topic(what, said)
    known = is_(what, quality(what, noun))
    if chance(0.6):
        return pair(AND, a=known, b=said)
    return pair(BUT, a=known, b=clause(who, phrase, pick("future near can"), "not"))


@construction("participle agreement with a preceding object")
def participle_agreement():
    what, noun, verb = named_item()
    who, phrase = subject(), verb_phrase(verb, direct(pronoun_for(what)))
    tense = "perfect" if verb.en == "read" else pick("past past perfect")
    said = clause(who, phrase, tense, pick_not(0.3))
    if chance(0.5):
        return topic(what, said)
    return pair(AND, a=is_(what, quality(what, noun), "imperfect"), b=said)


GIFTS = "text thing fruit keepsake"


def given(who, receiver):
    """To give, show or send something to a pronoun."""
    what = object_of(who, pick(GIFTS), "the own this", 0.15)
    return verb_phrase(pick(lexicon.GIVING), receiver, what)


def given_to_person(who):
    """To give, show or send something to somebody."""
    what = object_of(who, pick(GIFTS), "the a own")
    receiver = pair("to/a {p} | à/a {p}", p=person())
    return verb_phrase(pick(lexicon.GIVING), what, receiver)


@construction("indirect object pronoun")
def indirect_pronoun():
    who = subject()
    receiver, negation = indirect(other_than(who)), pick_not(0.2)
    if chance(0.5):
        phrase = verb_phrase(pick(lexicon.TO_PERSON), receiver)
        return told(who, phrase, negation, "present past near future")
    phrase = given(who, receiver)
    return clause(who, phrase, pick("past perfect pluperfect near future"), negation)


declare("giving to somebody", do=given_to_person, tenses="past near future", time=0.5)


@construction("two object pronouns")
def two_pronouns():
    what = noun_phrase(drawn_noun(GIFTS), pick("the this I"), pick_number(0.4))
    who = pick((third_party(), drawn_pronoun()))
    receiver = indirect(other_than(who), "to")
    phrase = verb_phrase(pick(lexicon.GIVING), direct(pronoun_for(what)), receiver)
    return topic(what, clause(who, phrase, pick("past perfect future near"), pick_not(0.3)))


@construction("pronoun y")
def pronoun_y():
    who = subject()
    feeling = "love" if chance(0.5) else "know"
    where = pair("{x}/a", x=pick(lexicon.CITIES)) if chance(0.6) else country_name()
    doing = pick("work live study go stay")
    tense = pick("future near past" if doing in ("go", "stay") else "present future used")
    reason = clause(pronoun_again(who), verb_phrase(doing, adverbial_pronoun("there", "y")), tense)
    link = BECAUSE if tense in ("present", "used") else AND
    return pair(link, a=clause(who, verb_phrase(feeling, where)), b=reason)


@construction("pronoun en")
def pronoun_en():
    who, noun = subject(), drawn_noun("fruit thing garment animal")
    number, verb, tense = pick(NUMBERS), pick("have see buy"), pick("past future")
    phrase = verb_phrase(verb, pair("{n}/a", n=number), adverbial_pronoun("of them", "en"))
    said = clause(who, phrase, "present" if verb == "have" else tense)
    if chance(0.5):
        return topic(noun_phrase(noun, "the", 2), said)
    other = pick((named, role))()
    return pair(AND, a=clause(other, verb_phrase("sell", noun_phrase(noun, "a", 2)), "progressive"), b=said)


def accompanied(who):
    """Something done with, without or for somebody."""
    other = stressed_pronoun(other_than(who))
    company = pair("{p}/a {other}", p=pick(rows("with avec, without sans, for pour")), other=other)
    return activity(who).plus(company)


declare("stressed pronoun after a preposition", do=accompanied, tenses="past near future", time=0.3)
