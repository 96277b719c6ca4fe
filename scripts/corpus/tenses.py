"""Constructions of tense and negation."""

from constructions import *
from exchanges import NOTHING_VERBS

WEATHER = """
    it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f hot/a | il/i fait/f chaud/a;
    it/i is/f cold/a | il/i fait/f froid/a; the/t weather/i is/f fine/a | il/TI fait/f beau/a"""
DENIED = lexicon.verbs_with("""have: vehicle animal thing garment food drink, buy: food drink fruit garment,
    eat: food fruit, drink: drink, want: food drink fruit""")
RESTRICTED = lexicon.verbs_with("eat: food fruit, drink: drink, have: thing garment fruit animal, buy: food fruit")
HAD = ("time/t | le/T temps/t", "more/m money/n | plus/m de/M argent/n")


def action_or_leaving(who, probability=0.6):
    """Some action with the given probability, else to leave or to arrive."""
    return action(who) if chance(probability) else verb_phrase(pick("leave arrive"))


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


declare("imparfait for habits", do=lambda who: activity(who, "used"), tense="used", time=0.5)
declare("imparfait as background",
        who=subject, other=third_party, a=lambda who: clause(who, activity(who, "background"), "background"),
        event="arrive leave phone come go_home go_out", b=lambda other, event: clause(other, verb_phrase(event), "past"),
        said=WHEN)


@construction("pluperfect")
def pluperfect():
    who = subject()
    phrase, already = action_or_leaving(who), perhaps(0.5, lambda: pair("already/a | déjà/a"))
    said = clause(who, phrase, "pluperfect", adverb=already)
    if chance(0.6):
        other, event = third_party(), pick(["arrive"])
        return pair(WHEN, a=said, b=clause(other, verb_phrase(event), "past"))
    return said + pair("before/a dinner/b | avant/a le/B dîner/b")


declare("future",
        who=subject, do=activity, negation=lambda: pick("- - not never"),
        a=lambda who, do, negation: clause(who, definite(who) if negation else do, "future", negation),
        said=lambda a, negation: a if negation == "never" else a + time_for("future"))
declare("near future", do=activity, tense="near", time=0.6)
declare("recent past with venir de", do=lambda who: action_or_leaving(who, 0.7), tense="recent")


@construction("condition with si and conditional")
def conditional():
    who, kind = subject(), below(4)
    if kind == 3:
        condition = is_(who, state(who), "imperfect", pick("- not"))
    else:
        noun = noun_of("house flat garden farm car boat bike") if kind == 0 else None
        had = noun_phrase(noun, "a", 1, [fitting(noun)] if chance(0.6) else ()) if noun else pair(HAD[kind - 1])
        condition = clause(who, verb_phrase("have", had), "imperfect")
    again = pronoun_again(who)
    if chance(0.5):
        result = clause(again, to_other(again, lasting=False), "conditional", pick("- not never"))
    else:
        result = clause(again, activity(again), "conditional")
    return pair(IF, a=condition, b=result)


@construction("condition with si and future")
def real_condition():
    who, condition = subject(), pair(pick(WEATHER))
    if chance(0.4):
        condition = is_(who, state(who), "present", pick("- not"))
        who = pronoun_again(who)
    result = clause(who, activity(who), "future")
    return pair(IF, a=timed(condition, "future", 0.3), b=result)


declare("modal verb",
        who=subject, tense="can must should could", negation=0.3,
        do=lambda who, negation: (definite if negation else activity)(who),
        a=lambda who, do, tense, negation: clause(who, do, tense, negation),
        said=lambda a, negation: a if negation else timed(a, "future", 0.4))
declare("negation with pas", do=definite, negation="not", tenses="present past near future", time=0.35)
declare("negation with jamais", do=lambda who: definite(who, "present"), negation="never", present=lambda: chance(0.6),
        tense=lambda do, present: "present" if present and do.verb.en != "read" else pick("perfect future pluperfect"))
declare("negation with plus", do=lambda who: definite(who, "used"), tense="present present future",
        negation="no_longer not_anymore")
declare("negation with pas encore", do=definite, tense="perfect", negation="not_yet")
declare("nothing and nobody as objects",
        who=subject, negation="nothing nobody",
        verb=lambda negation: pick(NOTHING_VERBS if negation == "nothing" else "see know help invite hear meet"),
        tense=lambda verb: "present" if verb == "know" else pick("past past future present near"),
        a=lambda who, verb, tense, negation: clause(who, verb_phrase(verb), tense, negation),
        said=lambda a: a + perhaps(0.6, somewhere))


@construction("nothing and nobody as subjects")
def nobody_subject():
    if chance(0.3):
        quality = pick(rows("easy facile, ready prêt, new nouveau, expensive cher, clean propre, free gratuit"))
        template = "nothing/n is/v {quality}/a {where} | rien/n ne/N est/v {quality}/a {where}"
        return pair(template, quality=quality, where=somewhere())
    nobody = as_noun(pair("nobody/n | personne/n ne/N"))
    phrase, tense = (definite if chance(0.7) else activity)(nobody), pick("past future near")
    return timed(clause(nobody, phrase, tense), tense, 0.3)


declare("no article under negation",
        row=DENIED, noun=lambda row: noun_of(row[1]),
        number=lambda noun: 1 if noun.kind == "mass" or chance(0.4) else 2,
        what=lambda noun, number: noun_phrase(noun, "not a" if (noun.kind, number) == ("count", 1) else "any", number),
        verb=lambda row: row[0], negation="not",
        tense=lambda verb: pick("present imperfect" if verb.en in ("have", "want") else "present past future"))


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
