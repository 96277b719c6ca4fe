"""Constructions with object pronouns, which stand before the verb in French."""

import lexicon
from adverbials import NUMBERS
from clauses import clause, verb_phrase
from constructions import AND, BECAUSE, BUT, construction, declare, told
from draw import chance, either, one_of, pick, pick_number, rows, sometimes_not
from events import activity, is_, item, item_verb, object_of, quality, to_other
from phrases import (
    clitic, country_name, direct, indirect, named, noun_of, noun_phrase, other_than, person, pronoun,
    pronoun_again, pronoun_for, role, stressed_pronoun, subject, third_party,
)
from surface import capital
from words import Pair, pair

GIFTS = "text thing fruit keepsake"

def topic(what, said):
    """`My scarf? I can wash it.`"""
    said = Pair(*((capital(first), *others) for first, *others in (said.en, said.fr)))
    return pair("{what} ? {said}", what=what, said=said)

def taking_up(what, verb):
    """Something done to a thing that a pronoun takes up."""
    return verb_phrase(verb, direct(pronoun_for(what)))

def given(who, receiver):
    """To give, show or send something to a pronoun."""
    what = object_of(who, pick(GIFTS), "the own this", described=0.15)
    return verb_phrase(pick(lexicon.GIVING), receiver, what)

declare("direct object pronoun",
        do=to_other, negation=sometimes_not(0.3), tenses="present past near future", time=0.4)

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

declare("participle agreement with a preceding object",
        what=item, verb=item_verb, who=subject,
        tense=lambda verb: "perfect" if verb.en == "read" else pick({"past": 2, "perfect": 1}),
        negation=sometimes_not(0.3),
        b=lambda what, verb, who, tense, negation: clause(who, taking_up(what, verb), tense, negation),
        said=lambda what, b: topic(what, b) if chance(0.5) else pair(
            AND, a=is_(what, quality(what), "imperfect"), b=b))
declare("indirect object pronoun",
        who=subject, to=lambda who: indirect(other_than(who)), negation=sometimes_not(0.2),
        talking=lambda: chance(0.5),
        do=lambda who, to, talking: verb_phrase(pick(lexicon.TO_PERSON), to) if talking else given(who, to),
        said=lambda who, do, negation, talking: told(who, do, negation, "present past near future")
        if talking else clause(who, do, pick("past perfect pluperfect near future"), negation))
declare("giving to somebody",
        gift=lambda who: object_of(who, pick(GIFTS), "the a own"), receiver=person, verb=lexicon.GIVING,
        what="{gift} to/a {receiver} | {gift} à/a {receiver}", tenses="past near future", time=0.5)
declare("two object pronouns",
        what=lambda: noun_phrase(noun_of(GIFTS), pick("the this I"), pick_number(0.4)),
        who=lambda: pick((third_party(), pronoun())), to=lambda who: indirect(other_than(who), "to"),
        do=lambda what, to: verb_phrase(pick(lexicon.GIVING), direct(pronoun_for(what)), to),
        tense="past perfect future near", negation=sometimes_not(0.3),
        said=lambda what, who, do, tense, negation: topic(what, clause(who, do, tense, negation)))
declare("pronoun y",
        who=subject, feeling=lambda: "love" if chance(0.5) else "know",
        where=either(0.6, lambda: pair("{x}/a", x=pick(lexicon.CITIES)), country_name),
        doing="work live study go stay",
        tense=lambda doing: pick("future near past" if doing in ("go", "stay") else "present future used"),
        a=lambda who, feeling, where: clause(who, verb_phrase(feeling, where)),
        again=pronoun_again, do=lambda doing: verb_phrase(doing, clitic("there", "y")),
        b=lambda again, do, tense: clause(again, do, tense),
        said=lambda tense: BECAUSE if tense in ("present", "used") else AND)
declare("pronoun en",
        who=subject, noun=lambda: noun_of("fruit thing garment animal"), number=NUMBERS, verb="have see buy",
        tense="past future",
        do=lambda verb, number: verb_phrase(verb, pair("{n}/a", n=number), clitic("of them", "en")),
        b=lambda who, do, verb, tense: clause(who, do, "present" if verb == "have" else tense),
        sell=lambda noun: verb_phrase("sell", noun_phrase(noun, "a", 2)),
        said=lambda noun, sell, b: topic(noun_phrase(noun, "the", 2), b) if chance(0.5) else pair(
            AND, a=clause(one_of(named, role)(), sell, "progressive"), b=b))
declare("stressed pronoun after a preposition",
        other=lambda who: stressed_pronoun(other_than(who)),
        preposition=rows("with avec, without sans, for pour"),
        company="{preposition}/a {other} | {preposition}/a {other}",
        do=lambda who, company: activity(who).plus(company),
        tenses="past near future", time=0.3)
