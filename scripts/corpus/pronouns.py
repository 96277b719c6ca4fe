"""Constructions with object pronouns, which stand before the verb in French."""

import lexicon
from clauses import clause, verb_phrase
from events import (
    activity,
    capital,
    construction,
    is_,
    named_item,
    object_of,
    other_than,
    person_verb,
    pronoun_again,
    quality,
    statement,
    stop,
)
from phrases import (
    NUMBERS,
    PEOPLE,
    adverbial_pronoun,
    direct,
    indirect,
    named,
    noun_phrase,
    person,
    pronoun_for,
    role,
    stressed_pronoun,
    subject,
    subject_pronoun,
    third_party,
)
from words import pair


@construction("direct object pronoun")
def direct_pronoun(draw):
    who = subject(draw)
    phrase = verb_phrase(person_verb(draw), direct(other_than(draw, who)))
    negation = "not" if draw.chance(0.3) else None
    tenses = (
        ("present",)
        if phrase.verb.en in ("know", "admire")
        else ("present", "past", "near", "future")
    )
    return statement(draw, who, phrase, negation, tenses, 0.4)


@construction("pronoun for a thing named before")
def antecedent(draw):
    what, noun, verb = named_item(draw)
    who = subject(draw)
    phrase = verb_phrase(verb, direct(pronoun_for(what)))
    said = clause(
        who, phrase, draw.pick(("future", "near", "can", "past")) if verb.en != "read" else "near"
    )
    if draw.chance(0.4):
        return stop(pair("{x} ? {s}", "{x} ? {s}", x=what, s=capital(said)))
    known = is_(what, quality(draw, what, noun))
    if draw.chance(0.6):
        return stop(pair("{x} , and/n {s}", "{x} , et/n {s}", x=known, s=said))
    said = clause(who, phrase, draw.pick(("future", "near", "can")), "not")
    return stop(pair("{x} , but/n {s}", "{x} , mais/n {s}", x=known, s=said))


@construction("participle agreement with a preceding object")
def participle_agreement(draw):
    what, noun, verb = named_item(draw)
    who = subject(draw)
    tense = "perfect" if verb.en == "read" else draw.pick(("past", "past", "perfect"))
    said = clause(
        who,
        verb_phrase(verb, direct(pronoun_for(what))),
        tense,
        "not" if draw.chance(0.3) else None,
    )
    if draw.chance(0.5):
        return stop(pair("{x} ? {s}", "{x} ? {s}", x=what, s=capital(said)))
    known = is_(what, quality(draw, what, noun), "imperfect")
    return stop(pair("{x} , and/n {s}", "{x} , et/n {s}", x=known, s=said))


@construction("indirect object pronoun")
def indirect_pronoun(draw):
    who = subject(draw)
    name = other_than(draw, who)
    negation = "not" if draw.chance(0.2) else None
    if draw.chance(0.5):
        phrase = verb_phrase(draw.pick(lexicon.TO_PERSON), indirect(name))
        return statement(draw, who, phrase, negation, ("present", "past", "near", "future"))
    phrase = given(draw, who, indirect(name))
    tense = draw.pick(("past", "perfect", "pluperfect", "near", "future"))
    return stop(clause(who, phrase, tense, negation))


GIFTS = ("text", "thing", "fruit", "keepsake")


def given(draw, who, receiver):
    """To give, show or send something to a receiver."""
    what = object_of(draw, who, (draw.pick(GIFTS),), ("the", "own", "this"), 0.15)
    return verb_phrase(draw.pick(lexicon.GIVING), receiver, what)


@construction("giving to somebody")
def giving(draw):
    who = subject(draw)
    what = object_of(draw, who, (draw.pick(GIFTS),), ("the", "a", "own"), 0.2)
    receiver = person(draw)
    phrase = verb_phrase(draw.pick(lexicon.GIVING), what, pair("to/a {p}", "à/a {p}", p=receiver))
    return statement(draw, who, phrase, None, ("past", "near", "future"))


@construction("two object pronouns")
def two_pronouns(draw):
    noun = draw.pick(lexicon.object_nouns(GIFTS))
    what = noun_phrase(noun, draw.pick(("the", "this", "I")), 2 if draw.chance(0.4) else 1)
    who = draw.pick((third_party(draw), subject_pronoun(draw.pick(PEOPLE))))
    receiver = other_than(draw, who)
    phrase = verb_phrase(
        draw.pick(lexicon.GIVING), direct(pronoun_for(what)), indirect(receiver, "to")
    )
    said = clause(
        who,
        phrase,
        draw.pick(("past", "perfect", "future", "near")),
        "not" if draw.chance(0.3) else None,
    )
    return stop(pair("{x} ? {s}", "{x} ? {s}", x=what, s=capital(said)))


@construction("pronoun y")
def pronoun_y(draw):
    who = subject(draw)
    if draw.chance(0.5):
        know = clause(who, verb_phrase(lexicon.Verb("love", "adorer"), _place_name(draw)))
    else:
        know = clause(who, verb_phrase(lexicon.Verb("know", "connaître"), _place_name(draw)))
    again = pronoun_again(who)
    there = adverbial_pronoun("there", "y")
    verb = draw.pick(
        (
            lexicon.verb("work=travailler"),
            lexicon.verb("live=habiter"),
            lexicon.verb("study=étudier"),
            lexicon.verb("go=aller"),
            lexicon.verb("stay=rester"),
        )
    )
    tense = draw.pick(
        ("future", "near", "past") if verb.en in ("go", "stay") else ("present", "future", "used")
    )
    reason = clause(again, verb_phrase(verb, there), tense)
    if tense in ("present", "used"):
        return stop(pair("{a} because/b {c}", "{a} parce/b que/b {c}", a=know, c=reason))
    return stop(pair("{a} , and/n {c}", "{a} , et/n {c}", a=know, c=reason))


def _place_name(draw):
    if draw.chance(0.6):
        en, fr = draw.pick(lexicon.CITIES.split(",")).split()
        return pair(f"{en}/a", f"{fr}/a")
    en, fr, _, article, _ = draw.pick(lexicon.COUNTRIES.strip().split("\n")).split()
    return pair(f"{en}/a", f"^{article}/A {fr}/a")


@construction("pronoun en")
def pronoun_en(draw):
    who = subject(draw)
    noun = draw.pick(lexicon.object_nouns(("fruit", "thing", "garment", "animal")))
    many = noun_phrase(noun, "a", 2)
    en, fr = draw.pick(NUMBERS).split()
    verb = lexicon.verb(draw.pick(("have=avoir", "see=voir", "buy=acheter")))
    of_them = adverbial_pronoun("of them", "en")
    tense = {"have": "present"}.get(verb.en, draw.pick(("past", "future")))
    phrase = verb_phrase(verb, pair(f"{en}/a", f"{fr}/a"), of_them)
    said = clause(who, phrase, tense)
    if draw.chance(0.5):
        return stop(pair("{x} ? {s}", "{x} ? {s}", x=noun_phrase(noun, "the", 2), s=capital(said)))
    other = draw.pick((named, role))(draw)
    first = clause(other, verb_phrase(lexicon.verb("sell=vendre"), many), "progressive")
    return stop(pair("{x} , and/n {s}", "{x} , et/n {s}", x=first, s=said))


@construction("stressed pronoun after a preposition")
def stressed(draw):
    who = subject(draw)
    other = stressed_pronoun(other_than(draw, who))
    en, fr = draw.pick(("with avec", "without sans", "for pour")).split()
    company = pair(f"{en}/a {{p}}", f"{fr}/a {{p}}", p=other)
    phrase = activity(draw, who).plus(company)
    return statement(draw, who, phrase, None, ("past", "near", "future"), 0.3)
