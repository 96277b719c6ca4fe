"""Weather, dates, clock times and lengths of time."""

import english
import lexicon
from clauses import clause, question, verb_phrase
from events import asks, construction, day_time, stop
from phrases import (
    DAYS,
    MONTHS,
    NUMBERS,
    NounPhrase,
    TENS,
    at_clock,
    clock,
    country,
    future_time,
    noun_phrase,
    past_time,
    place,
    present_time,
    read,
    subject,
    third_party,
    town,
)
from words import Pair, pair

# --- Weather, dates and times ---------------------------------------------


# English after the verb and French after « il fait ».
WEATHER = (
    "hot/a|chaud/a",
    "cold/a|froid/a",
    "windy/a|du/A vent/a",
    "sunny/a|du/A soleil/a",
    "cool/a|frais/a",
    "dark/a|nuit/a",
    "foggy/a|du/A brouillard/a",
)


FINE = ("fine/a|beau/a", "bad/a|mauvais/a")


IS = {
    "present": ("is/f", "fait/f"),
    "imperfect": ("was/f", "faisait/f"),
    "future": ("will/F be/f", "fera/f"),
}


@construction("weather with il fait")
def weather(draw):
    tense = draw.pick(tuple(IS))
    en_is, fr_is = IS[tense]
    en, fr = draw.pick(WEATHER + FINE).split("|")
    if f"{en}|{fr}" in FINE:
        said = pair(f"the/I weather/i {en_is} {en}", f"il/i {fr_is} {fr}")
    else:
        said = pair(f"it/i {en_is} {en}", f"il/i {fr_is} {fr}")
    where = somewhere_outside(draw) if draw.chance(0.7) else Pair()
    when = {"present": present_time, "imperfect": past_time, "future": future_time}[tense](draw)
    return stop(said + where + (when if draw.chance(0.6) else Pair()))


def somewhere_outside(draw):
    """A place that has weather."""
    return draw.pick(
        (town, country, lambda d: place(d, ("garden", "street", "beach", "park", "forest")))
    )(draw)


FALLING = ("rain=pleuvoir", "snow=neiger")


@construction("rain and snow")
def rain(draw):
    it = NounPhrase(*_words("it/a", "il/a"), 2, 1, "m", "il")
    verb = lexicon.verb(draw.pick(FALLING))
    tense = draw.pick(("progressive", "past", "future", "near", "background"))
    if verb.en == "rain" and draw.chance(0.35):
        phrase = verb_phrase(verb, pair("cats/C and/C dogs/C", "des/C cordes/c"))
    elif draw.chance(0.3):
        phrase = verb_phrase(verb, pair("a/A lot/a", "beaucoup/a"))
    else:
        phrase = verb_phrase(verb)
    where = somewhere_outside(draw) if draw.chance(0.7) else Pair()
    when = _rain_time(draw, tense) if draw.chance(0.7) else Pair()
    if draw.chance(0.2):
        return asks(question(it, phrase, tense) + where + when)
    return stop(clause(it, phrase, tense) + where + when)


def _rain_time(draw, tense):
    if tense == "progressive":
        return present_time(draw)
    return day_time(draw, "past" if tense in ("past", "background") else "future")


def _words(en, fr):
    said = pair(en, fr)
    return said.en, said.fr


ORDINALS = (
    "first premier,second deux,third trois,fourth quatre,fifth cinq,sixth six,seventh sept,"
    "eighth huit,ninth neuf,tenth dix,eleventh onze,twelfth douze,twentieth vingt"
).split(",")


def date(draw):
    """`on the fifth of May`: « le cinq mai »."""
    en, fr = draw.pick(ORDINALS).split()
    month, month_fr = draw.pick(MONTHS).split()
    return pair(f"on/T the/t {en}/n of/M {month}/m", f"le/t {fr}/n {month_fr}/m")


@construction("date")
def dates(draw):
    kind = draw.below(3)
    if kind == 0:
        phrase = verb_phrase(lexicon.Verb("be", "naître", auxiliary="être"))
        phrase = phrase.plus(pair("born/v", "", {"v": phrase.meaning}))
        return stop(clause(third_party(draw), phrase, "past") + date(draw))
    who = subject(draw)
    tense = draw.pick(("past", "future"))
    verb = draw.pick(
        [x for x in lexicon.ARRIVAL if x.en in ("leave", "arrive", "come") or x.particle == "home"]
    )
    said = clause(who, verb_phrase(verb), tense)
    if kind == 1:
        month, month_fr = draw.pick(MONTHS).split()
        return stop(said + pair(f"in/p {month}/m", f"en/p {month_fr}/m"))
    return stop(said + date(draw))


# What keeps to a timetable: noun, French noun and gender, verbs.
SCHEDULED = (
    "train train m leave=partir,arrive=arriver",
    "bus bus m leave=partir,arrive=arriver",
    "plane avion m leave=partir,arrive=arriver",
    "film film m begin=commencer",
    "lesson leçon f begin=commencer",
    "concert concert m begin=commencer",
)


@construction("clock time")
def clock_time(draw):
    if draw.chance(0.25):
        said = pair("it/i is/v {t}", "il/i est/v {t}", t=clock(draw))
        return stop(said + read("in/A the/a morning/b|du/a matin/b") if draw.chance(0.3) else said)
    en, fr, gender, verbs = draw.pick(SCHEDULED).split()
    what = noun_phrase(
        lexicon.Noun((en,), (fr,), gender, "count", ""), draw.pick(("the", "the", "you"))
    )
    verb_en, verb_fr = draw.pick(verbs.split(",")).split("=")
    phrase = verb_phrase(lexicon.verb(f"{verb_en}={verb_fr}"))
    if verb_fr == "partir" and draw.chance(0.4):
        city, city_fr = draw.pick(lexicon.CITIES.split(",")).split()
        phrase = phrase.plus(pair(f"for/p {city}/a", f"pour/p {city_fr}/a"))
    return stop(clause(what, phrase, draw.pick(("present", "past", "future"))) + at_clock(draw))


# Verb, and whether it lasts for years.
LASTING = (
    "live habiter years",
    "work travailler years",
    "study étudier years",
    "wait attendre hours",
    "sleep dormir hours",
    "play jouer hours",
    "sing chanter hours",
)


@construction("for and since, with the present")
def depuis(draw):
    who = subject(draw)
    verb, fr, scale = draw.pick(LASTING).split()
    long = scale == "years"
    where = draw.pick((town, country))(draw) if long else place(draw, usual_places(verb))
    phrase = verb_phrase(lexicon.verb(f"{verb}={fr}"), where)
    have = "has" if who.person == 2 else "have"
    if draw.chance(0.5):
        form = f"{have}/V been/V {english.gerund(verb)}/v"
    else:
        form = f"{have}/V {english.participle(verb)}/v"
    spoken = pair(form, "", {"v": phrase.meaning})
    french = clause(who, phrase, "present").fr
    return stop(Pair(who.en + spoken.en + where.en, french) + _span(draw, long))


def _span(draw, long):
    """How long, or since when."""
    if draw.chance(0.6):
        number, number_fr = draw.pick(NUMBERS + TENS[:2]).split()
        units = (
            ("years ans", "months mois", "weeks semaines")
            if long
            else ("hours heures", "minutes minutes")
        )
        unit, unit_fr = draw.pick(units).split()
        return pair(f"for/f {number}/n {unit}/u", f"depuis/f {number_fr}/n {unit_fr}/u")
    start, start_fr = draw.pick(DAYS + MONTHS if long else ["yesterday hier", "noon midi"]).split()
    return pair(f"since/f {start}/n", f"depuis/f {start_fr}/n")


def usual_places(verb):
    """Where one usually does what an English verb says."""
    for item, names in lexicon.INTRANSITIVE:
        if item.en == verb:
            return names
    return ()
