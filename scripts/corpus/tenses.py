"""Constructions of tense and negation."""

from constructions import *
from exchanges import NOTHING_VERBS

declare("compound past with avoir", tense="past past perfect", do=action, time=0.5)


@construction("compound past with être")
def past_etre():
    who, phrase = subject(), verb_phrase(pick(lexicon.MOTION + lexicon.ARRIVAL))
    if phrase.verb.fr in ("aller", "revenir"):
        phrase = phrase.plus(destination())
    elif phrase.verb.fr == "rester":
        phrase = phrase.plus(somewhere())
    when = at_clock() if chance(0.4) else time_for("past")
    return clause(who, phrase, "past", pick_not(0.2)) + when


@construction("reflexive verb")
def reflexive():
    who, phrase = subject(), verb_phrase(pick(lexicon.REFLEXIVE))
    tense = pick("past past near present future")
    if chance(0.4) and phrase.verb.fr not in ("reposer", "amuser", "dépêcher"):
        return clause(who, phrase, tense) + at_clock()
    return clause(who, phrase, tense, pick_not(0.25)) + day_time(tense)


def action_or_leaving(who, probability=0.6):
    """Some action with the given probability, else to leave or to arrive."""
    return action(who) if chance(probability) else verb_phrase(pick("leave arrive"))


declare("imparfait for habits", do=lambda who: activity(who, "used"), tense="used", time=0.5)
declare("imparfait as background", who=subject, other=third_party,
        a=lambda who: clause(who, activity(who, "background"), "background"),
        b=lambda other: clause(other, verb_phrase(pick("arrive leave phone come go_home go_out")), "past"),
        said=lambda a, b: pair(WHEN, a=a, b=b))


@construction("pluperfect")
def pluperfect():
    who = subject()
    phrase, already = action_or_leaving(who), perhaps(0.5, lambda: pair("already/a | déjà/a"))
    said = clause(who, phrase, "pluperfect", adverb=already)
    if chance(0.6):
        other, event = third_party(), pick(["arrive"])
        return pair(WHEN, a=said, b=clause(other, verb_phrase(event), "past"))
    return said + pair("before/a dinner/b | avant/a le/B dîner/b")


@construction("future")
def future():
    who = subject()
    phrase, negation = activity(who), pick("- - not never")
    said = clause(who, definite(who) if negation else phrase, "future", negation)
    return said if negation == "never" else said + time_for("future")


declare("near future", do=activity, tense="near", time=0.6)
declare("recent past with venir de", do=lambda who: action_or_leaving(who, 0.7), tense="recent")

OWNED = "house flat garden farm car boat bike"
HAD = ("time/t | le/T temps/t", "more/m money/n | plus/m de/M argent/n")


@construction("condition with si and conditional")
def conditional():
    who, kind = subject(), below(4)
    if kind == 3:
        condition = is_(who, state(who), "imperfect", pick("- not"))
    else:
        had = pair(HAD[kind - 1]) if kind else _owned(noun_of(OWNED))
        condition = clause(who, verb_phrase("have", had), "imperfect")
    again = pronoun_again(who)
    if chance(0.5):
        result = clause(again, to_other(again, lasting=False), "conditional", pick("- not never"))
    else:
        result = clause(again, activity(again), "conditional")
    return pair(IF, a=condition, b=result)


def _owned(noun):
    return noun_phrase(noun, "a", 1, [fitting(noun)] if chance(0.6) else ())


WEATHER = """
    it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f hot/a | il/i fait/f chaud/a;
    it/i is/f cold/a | il/i fait/f froid/a; the/t weather/i is/f fine/a | il/TI fait/f beau/a"""


@construction("condition with si and future")
def real_condition():
    who, condition = subject(), pair(pick(WEATHER))
    if chance(0.4):
        condition = is_(who, state(who), "present", pick("- not"))
        who = pronoun_again(who)
    result = clause(who, activity(who), "future")
    return pair(IF, a=timed(condition, "future", 0.3), b=result)


@construction("modal verb")
def modal():
    who, tense, negation = subject(), pick("can must should could"), pick_not(0.3)
    said = clause(who, (definite if negation else activity)(who), tense, negation)
    return said if negation else timed(said, "future", 0.4)


declare("negation with pas", do=definite, negation="not", tenses="present past near future", time=0.35)


@construction("negation with jamais")
def negation_jamais():
    who = subject()
    phrase = definite(who, "present")
    present = chance(0.6) and phrase.verb.en != "read"
    return clause(who, phrase, "present" if present else pick("perfect future pluperfect"), "never")


declare("negation with plus", do=lambda who: definite(who, "used"), tense="present present future",
        negation="no_longer not_anymore")
declare("negation with pas encore", do=definite, tense="perfect", negation="not_yet")


@construction("nothing and nobody as objects")
def nothing_object():
    who, negation = subject(), pick("nothing nobody")
    verb = pick(NOTHING_VERBS if negation == "nothing" else "see know help invite hear meet")
    tense = "present" if verb == "know" else pick("past past future present near")
    return clause(who, verb_phrase(verb), tense, negation) + perhaps(0.6, somewhere)


@construction("nothing and nobody as subjects")
def nobody_subject():
    if chance(0.3):
        quality = pick(rows("easy facile, ready prêt, new nouveau, expensive cher, clean propre, free gratuit"))
        template = "nothing/n is/v {quality}/a {where} | rien/n ne/N est/v {quality}/a {where}"
        return pair(template, quality=quality, where=somewhere())
    nobody = as_noun(pair("nobody/n | personne/n ne/N"))
    phrase, tense = (definite if chance(0.7) else activity)(nobody), pick("past future near")
    return timed(clause(nobody, phrase, tense), tense, 0.3)


DENIED = lexicon.verbs_with("""
    have: vehicle animal thing garment food drink, buy: food drink fruit garment, eat: food fruit, drink: drink,
    want: food drink fruit
""")
RESTRICTED = lexicon.verbs_with("eat: food fruit, drink: drink, have: thing garment fruit animal, buy: food fruit")


@construction("no article under negation")
def negated_article():
    who, (verb, classes) = subject(), pick(DENIED)
    noun = noun_of(classes)
    mass = noun.kind == "mass"
    number = 1 if mass or chance(0.4) else 2
    phrase = verb_phrase(verb, noun_phrase(noun, "any" if mass or number == 2 else "not a", number))
    tenses = "present imperfect" if verb.en in ("have", "want") else "present past future"
    return clause(who, phrase, pick(tenses), "not")


@construction("restriction with ne que")
def only():
    who, (verb, classes) = subject(), pick(RESTRICTED)
    if verb.en == "have":
        number, tenses = pair("{n}/a", n=pick(NUMBERS)), "present present imperfect"
        what = counted(number, noun_of(classes))
    else:
        noun, tenses = noun_of(classes), "present past future"
        what = noun_phrase(noun, "partitive", 1 if noun.kind == "mass" else 2)
    return clause(who, verb_phrase(verb, what), pick(tenses), "only")
