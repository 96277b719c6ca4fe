"""The time, the day and the weather, as one asks for them."""

import lexicon
from adverbials import DAYS, MONTHS, clock
from clauses import clause, question, verb_phrase
from constructions import asks, everyday, finished
from draw import below, chance, pick, pick_not, weighted
from errands import requested
from greetings import MARKS, a_city, framed
from introductions import number
from occasions import ORDINALS, SCHEDULED, WEATHER
from phrases import noun_phrase, subject_pronoun
from words import NOTHING, pair

TIMED = SCHEDULED + """; shop magasin m: open=ouvrir close=fermer; museum musée m: open=ouvrir close=fermer;
    bank banque f: open=ouvrir close=fermer; restaurant restaurant m: open=ouvrir close=fermer;
    library bibliothèque f: open=ouvrir close=fermer; party fête f: begin=commencer;
    game jeu m: begin=commencer"""
ASKED_TIME = weighted({"what/w time/t is/v it/i {now} | quelle/w heure/t est/v -il/i {now}": 4},
    """do/A you/y have/a the/t time/h | avez/a -vous/y l'/t heure/h;
    do/K you/y know/k what/w time/t it/i is/e | savez/k -vous/y quelle/w heure/t il/i est/e;
    can/c you/y tell/t me/m the/h time/x | pouvez/c -vous/y me/m dire/t l'/h heure/x""")
NOW = "|; now/n | maintenant/n; in/i {city} | à/i {city}"
WHEN_IT = """when/w {q} | quand/w {q}; what/w time/t {q} | à/W quelle/w heure/t {q};
    at/a what/w time/t {q} | à/a quelle/w heure/t {q}"""
ABOUT_NOW = weighted({"it/i is/v noon/n | il/i est/v midi/n": 1,
    "it/i is/v midnight/n | il/i est/v minuit/n": 1, "it/i is/v {n} o'clock/h | il/i est/v {n} heures/h": 2},
    """it/i is/v already/a {n} o'clock/h | il/i est/v déjà/a {n} heures/h;
    it/i is/v late/l | il/i est/v tard/l;
    it/i is/v almost/a {n} o'clock/h | il/i est/v presque/a {n} heures/h;
    it/i is/v early/l | il/i est/v tôt/l; at/a {n} o'clock/h | à/a {n} heures/h;
    it/i is/v very/w late/l | il/i est/v très/w tard/l""")
PART = weighted({"|": 2},
    "now/a | maintenant/a; in/A the/a morning/b | du/a matin/b; in/A the/a evening/b | du/a soir/b")
ASKED_DAY = weighted({"what/w day/d is/v it/s {today} | quel/w jour/d sommes/v -nous/s {today}": 2},
    """what/w is/v the/t date/d {today} | quelle/w est/v la/t date/d {today};
    what/w month/d is/v it/s | quel/w mois/d sommes/v -nous/s""")
TOLD_DAY = weighted({"today/t is/i {day}/d | aujourd'hui/t , c'est/i {day}/d": 2,
    "tomorrow/t is/i {day}/d | demain/t , c'est/i {day}/d": 2},
    """it/c is/i {day}/d {today} | ce/c est/i {day}/d {today};
    it/c is/i not/n {day}/d {today} | ce/c ne/N est/i pas/n {day}/d {today};
    today/t is/i the/l {nth}/n of/M {month}/m | aujourd'hui/t , c'est/i le/l {nth}/n {month}/m;
    my/m birthday/b is/i {when} | mon/m anniversaire/b est/i {when}""")
SOME_DAY = """today/t | aujourd'hui/t; tomorrow/t | demain/t; in/i {month}/m | en/i {month}/m;
    on/D {day}/d | {day}/d"""
SKY = weighted({"nice/a | beau/a": 2}, """beautiful/a | beau/a; fine/a | beau/a; bad/a | mauvais/a;
    warm/a | chaud/a; cold/a | froid/a; terrible/a | mauvais/a""")
OUTSIDE = weighted({"|": 2, "today/t | aujourd'hui/t": 2}, """this/t morning/m | ce/t matin/m;
    now/t | maintenant/t; here/t | ici/t; here/t today/u | ici/t aujourd'hui/u; in/i {city} | à/i {city};
    outside/o | dehors/o; this/a week/b | cette/a semaine/b; this/a afternoon/b | cet/a après-midi/b""")
VERY = weighted({"|": 3}, "very/v | très/v; too/v | trop/v; really/v | vraiment/v; so/v | si/v")


@everyday("asking for the time")
def asking_for_the_time():
    """`What time is it?`, `When does the train leave?`"""
    if chance(0.5):
        now = pair(pick(NOW), city=a_city())
        return requested(pair(pick(ASKED_TIME), now=now), please=0.5)
    what, _, verbs = pick(TIMED).partition(":")
    q = question(noun_phrase(lexicon.noun(*what.split()), "the"), verb_phrase(pick(verbs)))
    return requested(pair(pick(WHEN_IT), q=q), please=0.2)


@everyday("telling the time")
def telling_the_time():
    """`It's already ten o'clock.`"""
    if chance(0.4):
        return framed(pair(pick(ABOUT_NOW), n=number(12)), calling=0.2, ends=MARKS)
    return pair("it/i is/v {time} {part} | il/i est/v {time} {part}", time=clock(), part=pair(pick(PART)))


@everyday("day and date")
def day_and_date():
    """`Today is Monday.`: « Aujourd'hui, c'est lundi. »."""
    today = pair(pick("|; today/t | aujourd'hui/t"))
    if chance(0.35):
        return requested(pair(pick(ASKED_DAY), today=today), please=0.4)
    day, month = pick(DAYS), pick(MONTHS)
    when = pair(pick(SOME_DAY), day=day, month=month)
    return pair(pick(TOLD_DAY), day=day, month=month, nth=pick(ORDINALS), today=today, when=when)


@everyday("talk about the weather")
def weather():
    """`The weather is nice today.`: « Il fait beau aujourd'hui. »."""
    where, very, kind = pair(pick(OUTSIDE), city=a_city()), pair(pick(VERY)), below(7)
    if kind == 0:
        like = "what/w is/v the/T weather/t like/W {x} | quel/w temps/t fait/v -il/T {x}"
        return requested(pair(like, x=where), please=0.1)
    if kind <= 2:
        it, phrase = subject_pronoun("it_m"), verb_phrase(pick({"rain": 2, "snow": 1}))
        if chance(0.25):
            return asks(question(it, phrase, "progressive") + where)
        return clause(it, phrase, "progressive", pick_not(0.2)) + where
    if kind <= 4:
        said = "the/I weather/i is/f {very} {sky} {x} | il/i fait/f {very} {sky} {x}"
        return framed(pair(said, very=very, sky=pair(pick(SKY)), x=where), calling=0.1)
    sky = pick(WEATHER + 2 * ["nice/a | beau/a", "warm/a | chaud/a"])
    very = NOTHING if "du/A" in sky or "nuit" in sky else very
    templates = weighted({"it/i is/f {very} {sky} {x} | il/i fait/f {very} {sky} {x}": 2},
        """is/f it/i {sky} {x} ? | fait/f -il/i {sky} {x} ?;
        it/i is/f not/n {very} {sky} {x} | il/i ne/N fait/f pas/n {very} {sky} {x}""")
    return finished(pair(pick(templates), very=very, sky=pair(sky), x=where))
