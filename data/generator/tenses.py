"""Constructions of tense and negation."""

import lexicon
from adverbials import NUMBERS, at_clock, day_time, destination, somewhere, time_for
from clauses import clause, verb_phrase
from constructions import IF, WHEN, construction, declare, sentence_of, timed
from draw import below, chance, either, pick, pick_not, rows, sometimes_not, weighted
from events import action, activity, definite, is_, state, to_other
from exchanges import NOTHING_VERBS
from phrases import as_noun, counted, fitting, noun_of, noun_phrase, pronoun_again, subject, third_party
from words import NOTHING, pair, perhaps

WEATHER = """
    it/i rains/a | il/i pleut/a; it/i snows/a | il/i neige/a; it/i is/f hot/a | il/i fait/f chaud/a;
    it/i is/f cold/a | il/i fait/f froid/a; the/t weather/i is/f fine/a | il/TI fait/f beau/a"""
DENIED = lexicon.verbs_with("""have: vehicle animal thing garment food drink, buy: food drink fruit garment,
    eat: food fruit, drink: drink, want: food drink fruit""")
RESTRICTED = lexicon.verbs_with("""eat: food fruit, drink: drink, have: thing garment fruit animal,
    buy: food fruit""")
NOBODY_VERBS = "see know help invite hear meet"
HAD = ("time/t | le/T temps/t", "more/m money/n | plus/m de/M argent/n")

declare("compound past with avoir", tense={"past": 2, "perfect": 1}, do=action, time=0.5)
declare("compound past with être",
        verb=lexicon.MOTION + lexicon.ARRIVAL,
        what=lambda verb: destination() if verb.fr in ("aller", "revenir") else (
            somewhere() if verb.fr == "rester" else NOTHING),
        when=either(0.4, at_clock, lambda: time_for("past")), tense="past", negation=sometimes_not(0.2))
declare("reflexive verb",
        verb=lexicon.REFLEXIVE, tense=weighted({"past": 2}, "near present future"),
        hour=lambda verb: chance(0.4) and verb.fr not in ("reposer", "amuser", "dépêcher"),
        negation=lambda hour: "" if hour else pick_not(0.25),
        when=lambda hour, tense: at_clock() if hour else day_time(tense))

def action_or_leaving(who, acting=0.6):
    """Some action with the probability `acting`, else to leave or to arrive."""
    return action(who) if chance(acting) else verb_phrase(pick("leave arrive"))

declare("imparfait for habits", do=lambda who: activity(who, "used"), tense="used", time=0.5)
declare("imparfait as background",
        who=subject, other=third_party, a=lambda who: clause(who, activity(who, "background"), "background"),
        event="arrive leave phone come go_home go_out",
        b=lambda other, event: clause(other, verb_phrase(event), "past"),
        said=WHEN)
declare("pluperfect",
        who=subject, do=action_or_leaving, adverb=lambda: perhaps(0.5, lambda: pair("already/a | déjà/a")),
        a=lambda who, do, adverb: clause(who, do, "pluperfect", adverb=adverb),
        other=lambda: third_party() if chance(0.6) else None,
        # The list of one takes its draw like any other.
        b=lambda other: clause(other, verb_phrase(pick(["arrive"])), "past") if other else None,
        said=lambda other: WHEN if other else "{a} before/a dinner/b | {a} avant/a le/B dîner/b")
declare("future",
        who=subject, do=activity, negation=lambda: pick({"": 2}, "not never"),
        a=lambda who, do, negation: clause(who, definite(who) if negation else do, "future", negation),
        said=lambda a, negation: a if negation == "never" else a + time_for("future"))
declare("near future", do=activity, tense="near", time=0.6)
declare("recent past with venir de", do=lambda who: action_or_leaving(who, acting=0.7), tense="recent")

@construction("condition with si and conditional")
def conditional():
    who, kind = subject(), below(4)
    if kind == 3:
        condition = is_(who, state(who), "imperfect", pick("- not"))
    else:
        had = pair(HAD[kind - 1])
        if kind == 0:
            noun = noun_of("house flat garden farm car boat bike")
            had = noun_phrase(noun, "a", 1, [fitting(noun)] if chance(0.6) else ())
        condition = clause(who, verb_phrase("have", had), "imperfect")
    again = pronoun_again(who)
    if chance(0.5):
        result = clause(again, to_other(again, lasting=False), "conditional", pick("- not never"))
    else:
        result = clause(again, activity(again), "conditional")
    return pair(IF, a=condition, b=result)

declare("condition with si and future",
        person=subject, weather=WEATHER, of_person=lambda: chance(0.4),
        mood=lambda person, of_person: of_person and is_(person, state(person), "present", pick("- not")),
        who=lambda person, of_person: pronoun_again(person) if of_person else person,
        b=lambda who: clause(who, activity(who), "future"),
        a=lambda weather, mood: timed(mood or weather, "future", 0.3), said=IF)
declare("modal verb",
        who=subject, tense="can must should could", negation=sometimes_not(0.3),
        do=lambda who, negation: (definite if negation else activity)(who),
        a=lambda who, do, tense, negation: clause(who, do, tense, negation),
        said=lambda a, negation: a if negation else timed(a, "future", 0.4))
declare("negation with pas", do=definite, negation="not", tenses="present past near future", time=0.35)
declare("negation with jamais",
        do=lambda who: definite(who, "present"), negation="never",
        present=lambda do: chance(0.6) and do.verb.en != "read",
        tense=lambda present: "present" if present else pick("perfect future pluperfect"))
declare("negation with plus",
        do=lambda who: definite(who, "used"), tense={"present": 2, "future": 1},
        negation="no_longer not_anymore")
declare("negation with pas encore", do=definite, tense="perfect", negation="not_yet")
declare("nothing and nobody as objects",
        who=subject, negation="nothing nobody",
        verb=lambda negation: pick(NOTHING_VERBS if negation == "nothing" else NOBODY_VERBS),
        tense=lambda verb: "present" if verb == "know" else pick({"past": 2}, "future present near"),
        a=lambda who, verb, tense, negation: clause(who, verb_phrase(verb), tense, negation),
        said=lambda a: a + perhaps(0.6, somewhere))
construction("nothing and nobody as subjects")(either(
    0.3,
    sentence_of(quality=rows("""easy facile, ready prêt, new nouveau, expensive cher, clean propre,
                             free gratuit"""), where=somewhere,
                said="nothing/n is/v {quality}/a {where} | rien/n ne/N est/v {quality}/a {where}"),
    sentence_of(who=lambda: as_noun(pair("nobody/n | personne/n ne/N")),
                do=lambda who: (definite if chance(0.7) else activity)(who), tense="past future near",
                said=lambda who, do, tense: timed(clause(who, do, tense), tense, 0.3))))
declare("no article under negation",
        row=DENIED, noun=lambda row: noun_of(row[1]),
        number=lambda noun: 1 if noun.kind == "mass" or chance(0.4) else 2,
        kind=lambda noun, number: "any" if noun.kind == "mass" or number == 2 else "not a",
        what=lambda noun, kind, number: noun_phrase(noun, kind, number),
        verb=lambda row: row[0], negation="not",
        lasts=lambda verb: verb.en in ("have", "want"),
        tense=lambda lasts: pick("present imperfect" if lasts else "present past future"))
declare("restriction with ne que",
        row=RESTRICTED, verb=lambda row: row[0],
        number=lambda verb: verb.en == "have" and pair("{n}/a", n=pick(NUMBERS)),
        noun=lambda row: noun_of(row[1]),
        what=lambda number, noun: counted(number, noun) if number else noun_phrase(
            noun, "partitive", 1 if noun.kind == "mass" else 2),
        tense=lambda number: pick({"present": 2, "imperfect": 1} if number else "present past future"),
        negation="only")
