"""Constructions with object pronouns, which stand before the verb in French."""

from constructions import *


def topic(what, said):
    """`My scarf? I can wash it.`"""
    said = Pair(*((capital(first), *others) for first, *others in (said.en, said.fr)))
    return pair("{what} ? {said}", what=what, said=said)


declare("direct object pronoun", do=to_other, negation=0.3, tenses="present past near future", time=0.4)


def taking_up(what, verb):
    """Something done to a thing that a pronoun takes up."""
    return verb_phrase(verb, direct(pronoun_for(what)))


@construction("pronoun for a thing named before")
def antecedent():
    what = item()
    do, who = taking_up(what, item_verb(what)), subject()
    said = clause(who, do, pick("future near can past") if do.verb.en != "read" else "near")
    if chance(0.4):
        return topic(what, said)
    known = is_(what, quality(what))
    if chance(0.6):
        return pair(AND, a=known, b=said)
    return pair(BUT, a=known, b=clause(who, do, pick("future near can"), "not"))


@construction("participle agreement with a preceding object")
def participle_agreement():
    what = item()
    do, who = taking_up(what, item_verb(what)), subject()
    said = clause(who, do, "perfect" if do.verb.en == "read" else pick("past past perfect"), pick_not(0.3))
    return topic(what, said) if chance(0.5) else pair(AND, a=is_(what, quality(what), "imperfect"), b=said)


GIFTS = "text thing fruit keepsake"


def given(who, receiver):
    """To give, show or send something to a pronoun."""
    what = object_of(who, pick(GIFTS), "the own this", 0.15)
    return verb_phrase(pick(lexicon.GIVING), receiver, what)


def given_to_person(who):
    """To give, show or send something to somebody."""
    what, receiver = object_of(who, pick(GIFTS), "the a own"), person()
    return verb_phrase(pick(lexicon.GIVING), what, pair("to/a {p} | à/a {p}", p=receiver))


@construction("indirect object pronoun")
def indirect_pronoun():
    who = subject()
    receiver, negation = indirect(other_than(who)), pick_not(0.2)
    if chance(0.5):
        phrase = verb_phrase(pick(lexicon.TO_PERSON), receiver)
        return told(who, phrase, negation, "present past near future")
    return clause(who, given(who, receiver), pick("past perfect pluperfect near future"), negation)


declare("giving to somebody", do=given_to_person, tenses="past near future", time=0.5)
declare("two object pronouns",
        what=lambda: noun_phrase(noun_of(GIFTS), pick("the this I"), pick_number(0.4)),
        who=lambda: pick((third_party(), pronoun())),
        to=lambda who: indirect(other_than(who), "to"),
        do=lambda what, to: verb_phrase(pick(lexicon.GIVING), direct(pronoun_for(what)), to),
        tense="past perfect future near", negation=0.3,
        said=lambda what, who, do, tense, negation: topic(what, clause(who, do, tense, negation)))


@construction("pronoun y")
def pronoun_y():
    who, feeling = subject(), "love" if chance(0.5) else "know"
    where = pair("{x}/a", x=pick(lexicon.CITIES)) if chance(0.6) else country_name()
    doing = pick("work live study go stay")
    tense = pick("future near past" if doing in ("go", "stay") else "present future used")
    reason = clause(pronoun_again(who), verb_phrase(doing, clitic("there", "y")), tense)
    link = BECAUSE if tense in ("present", "used") else AND
    return pair(link, a=clause(who, verb_phrase(feeling, where)), b=reason)


@construction("pronoun en")
def pronoun_en():
    who, noun = subject(), noun_of("fruit thing garment animal")
    number, verb, tense = pick(NUMBERS), pick("have see buy"), pick("past future")
    phrase = verb_phrase(verb, pair("{n}/a", n=number), clitic("of them", "en"))
    said = clause(who, phrase, "present" if verb == "have" else tense)
    if chance(0.5):
        return topic(noun_phrase(noun, "the", 2), said)
    other = pick((named, role))()
    return pair(AND, a=clause(other, verb_phrase("sell", noun_phrase(noun, "a", 2)), "progressive"), b=said)


declare("stressed pronoun after a preposition",
        who=subject, other=lambda who: stressed_pronoun(other_than(who)),
        company=lambda other: pair("{p}/a {o}", p=pick(rows("with avec, without sans, for pour")), o=other),
        do=lambda who, company: activity(who).plus(company), tenses="past near future", time=0.3)
