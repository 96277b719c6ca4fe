"""Constructions of tense and negation."""

import lexicon
from adverbials import NUMBERS, at_clock, day_time, destination, future_time, past_time, somewhere
from clauses import clause, verb_phrase
from constructions import IF, WHEN, construction, declare, timed
from draw import rows
from events import action, activity, definite, is_, state, to_other
from exchanges import NOTHING_VERBS
from phrases import (
    NOTHING, as_noun, counted, drawn_noun, fitting, noun_phrase, perhaps, pronoun_again, subject, third_party,
)
from words import pair

# --- Tenses ---------------------------------------------------------------

declare("compound past with avoir", tense="past past perfect", do=action, time=0.5)


@construction("compound past with être")
def past_etre(draw):
    who = subject(draw)
    phrase = verb_phrase(draw.pick(lexicon.MOTION + lexicon.ARRIVAL))
    if phrase.verb.fr in ("aller", "revenir"):
        phrase = phrase.plus(destination(draw))
    elif phrase.verb.fr == "rester":
        phrase = phrase.plus(somewhere(draw))
    when = at_clock(draw) if draw.chance(0.4) else past_time(draw)
    return clause(who, phrase, "past", draw.negation(0.2)) + when


@construction("reflexive verb")
def reflexive(draw):
    who, phrase = subject(draw), verb_phrase(draw.pick(lexicon.REFLEXIVE))
    tense = draw.pick("past past near present future")
    if draw.chance(0.4) and phrase.verb.fr not in ("reposer", "amuser", "dépêcher"):
        return clause(who, phrase, tense) + at_clock(draw)
    return clause(who, phrase, tense, draw.negation(0.25)) + day_time(draw, tense)


declare("imparfait for habits", do=lambda draw, who: activity(draw, who, "used"), tense="used", time=0.5)


@construction("imparfait as background")
def background(draw):
    who, other = subject(draw), third_party(draw)
    said = clause(who, activity(draw, who, "background"), "background")
    event = draw.pick("arrive leave phone come go_home go_out")
    return pair(WHEN, a=said, b=clause(other, verb_phrase(event), "past"))


def action_or_leaving(draw, who, probability=0.6):
    """Some action with the given probability, else to leave or to arrive."""
    return action(draw, who) if draw.chance(probability) else verb_phrase(draw.pick("leave arrive"))


INTERRUPTIONS = ("arrive",)


@construction("pluperfect")
def pluperfect(draw):
    who = subject(draw)
    phrase = action_or_leaving(draw, who)
    already = pair("already/a | déjà/a") if draw.chance(0.5) else NOTHING
    said = clause(who, phrase, "pluperfect", adverb=already)
    if draw.chance(0.6):
        other = third_party(draw)
        return pair(WHEN, a=said, b=clause(other, verb_phrase(draw.pick(INTERRUPTIONS)), "past"))
    return said + pair("before/a dinner/b | avant/a le/B dîner/b")


@construction("future")
def future(draw):
    who = subject(draw)
    phrase, negation = activity(draw, who), draw.pick("- - not never")
    if negation:
        phrase = definite(draw, who)
    said = clause(who, phrase, "future", negation)
    return said if negation == "never" else said + future_time(draw)


declare("near future", do=activity, tense="near", time=0.6)
declare("recent past with venir de", do=lambda draw, who: action_or_leaving(draw, who, 0.7), tense="recent")


def had(who, what):
    """`he had time`, as a condition."""
    return clause(who, verb_phrase("have", what), "imperfect")


@construction("condition with si and conditional")
def conditional(draw):
    who, kind = subject(draw), draw.below(4)
    if kind == 0:
        noun = drawn_noun(draw, "house flat garden farm car boat bike")
        chosen = (fitting(draw, noun),) if draw.chance(0.6) else ()
        condition = had(who, noun_phrase(noun, "a", 1, chosen))
    elif kind < 3:
        condition = had(who, pair(("time/t | le/T temps/t", "more/m money/n | plus/m de/M argent/n")[kind - 1]))
    else:
        condition = is_(who, state(draw, who), "imperfect", draw.pick("- not"))
    again = pronoun_again(who)
    if draw.chance(0.5):
        phrase = to_other(draw, again, lasting=False)
        result = clause(again, phrase, "conditional", draw.pick("- not never"))
    else:
        result = clause(again, activity(draw, again), "conditional")
    return pair(IF, a=condition, b=result)


WEATHER = """
    it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f hot/a | il/i fait/f chaud/a;
    it/i is/f cold/a | il/i fait/f froid/a; the/t weather/i is/f fine/a | il/TI fait/f beau/a"""


@construction("condition with si and future")
def real_condition(draw):
    who, condition = subject(draw), pair(draw.pick(WEATHER))
    if draw.chance(0.4):
        condition = is_(who, state(draw, who), "present", draw.pick("- not"))
        who = pronoun_again(who)
    result = clause(who, activity(draw, who), "future")
    return pair(IF, a=condition + perhaps(draw, 0.3, future_time), b=result)


@construction("modal verb")
def modal(draw):
    who, tense, negation = subject(draw), draw.pick("can must should could"), draw.negation(0.3)
    phrase = (definite if negation else activity)(draw, who)
    said = clause(who, phrase, tense, negation)
    return said if negation else said + perhaps(draw, 0.4, future_time)


# --- Negation -------------------------------------------------------------

declare("negation with pas", do=definite, negation="not", tenses="present past near future", time=0.35)


@construction("negation with jamais")
def negation_jamais(draw):
    who = subject(draw)
    phrase = definite(draw, who, "present")
    if draw.chance(0.6) and phrase.verb.en != "read":
        return clause(who, phrase, "present", "never")
    return clause(who, phrase, draw.pick("perfect future pluperfect"), "never")


declare("negation with plus", do=lambda draw, who: definite(draw, who, "used"), tense="present present future",
        negation="no longer; not anymore")
declare("negation with pas encore", do=definite, tense="perfect", negation="not yet")


@construction("nothing and nobody as objects")
def nothing_object(draw):
    who, negation = subject(draw), draw.pick("nothing nobody")
    verb = draw.pick(NOTHING_VERBS if negation == "nothing" else "see know help invite hear meet")
    tense = "present" if verb == "know" else draw.pick("past past future present near")
    return clause(who, verb_phrase(verb), tense, negation) + perhaps(draw, 0.6, somewhere)


@construction("nothing and nobody as subjects")
def nobody_subject(draw):
    if draw.chance(0.3):
        quality = draw.pick(rows("easy facile, ready prêt, new nouveau, expensive cher, clean propre, free gratuit"))
        template = "nothing/n is/v {quality}/a {where} | rien/n ne/N est/v {quality}/a {where}"
        return pair(template, quality=quality, where=somewhere(draw))
    nobody = as_noun(pair("nobody/n | personne/n ne/N"))
    phrase, tense = (definite if draw.chance(0.7) else activity)(draw, nobody), draw.pick("past future near")
    return timed(draw, clause(nobody, phrase, tense), tense, 0.3)


DENIED = lexicon.verbs_with("""
    have: vehicle animal thing garment food drink, buy: food drink fruit garment, eat: food fruit, drink: drink,
    want: food drink fruit
""")


@construction("no article under negation")
def negated_article(draw):
    who, (verb, classes) = subject(draw), draw.pick(DENIED)
    noun = drawn_noun(draw, classes)
    mass = noun.kind == "mass"
    number = 1 if mass or draw.chance(0.4) else 2
    phrase = verb_phrase(verb, noun_phrase(noun, "any" if mass or number == 2 else "not a", number))
    tenses = "present imperfect" if verb.en in ("have", "want") else "present past future"
    return clause(who, phrase, draw.pick(tenses), "not")


RESTRICTED = lexicon.verbs_with("eat: food fruit, drink: drink, have: thing garment fruit animal, buy: food fruit")


@construction("restriction with ne que")
def only(draw):
    who, (verb, classes) = subject(draw), draw.pick(RESTRICTED)
    if verb.en == "have":
        number = pair("{n}/a", n=draw.pick(NUMBERS))
        phrase = verb_phrase(verb, counted(number, drawn_noun(draw, classes)))
        return clause(who, phrase, draw.pick("present present imperfect"), "only")
    noun = drawn_noun(draw, classes)
    phrase = verb_phrase(verb, noun_phrase(noun, "partitive", 1 if noun.kind == "mass" else 2))
    return clause(who, phrase, draw.pick("present past future"), "only")
