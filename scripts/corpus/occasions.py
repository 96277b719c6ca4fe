"""Weather, dates, clock times and lengths of time."""

import english
import lexicon
from adverbials import (
    DAYS, MONTHS, NUMBERS, TENS, at_clock, clock, country, day_time, place, present_time, time_of_state, town,
    town_or_country,
)
from clauses import clause, question, verb_phrase
from constructions import asks, construction
from draw import listed, rows
from phrases import noun_phrase, perhaps, subject, subject_pronoun, third_party
from words import Pair, pair, words

# --- Weather --------------------------------------------------------------

# English after the verb and French after « il fait »; the fine ones are said of the weather.
WEATHER = listed("""
    hot/a | chaud/a; cold/a | froid/a; windy/a | du/A vent/a; sunny/a | du/A soleil/a; cool/a | frais/a;
    dark/a | nuit/a; foggy/a | du/A brouillard/a
""")
FINE = listed("fine/a | beau/a; bad/a | mauvais/a")
IS = {"present": ("is/f", "fait/f"), "imperfect": ("was/f", "faisait/f"), "future": ("will/F be/f", "fera/f")}


@construction("weather with il fait")
def weather(draw):
    tense, sky = draw.pick(tuple(IS)), draw.pick(WEATHER + FINE)
    it = "the/I weather/i" if sky in FINE else "it/i"
    said = pair("{it} {is_} {sky}", it=(it, "il/i"), is_=IS[tense], sky=sky.split("|"))
    where, when = perhaps(draw, 0.7, outside), time_of_state(draw, tense)
    return said + where + when if draw.chance(0.6) else said + where


def outside(draw):
    """A place that has weather."""
    return draw.pick((town, country, lambda draw: place(draw, "garden street beach park forest")))(draw)


@construction("rain and snow")
def rain(draw):
    verb, tense = draw.pick("rain snow"), draw.pick("progressive past future near background")
    phrase = verb_phrase(verb)
    if verb == "rain" and draw.chance(0.35):
        phrase = phrase.about("cats/C and/C dogs/C | des/C cordes/c")
    elif draw.chance(0.3):
        phrase = phrase.about("a/A lot/a | beaucoup/a")
    where = perhaps(draw, 0.7, outside)
    when = perhaps(draw, 0.7, lambda draw: _rain_time(draw, tense))
    it = subject_pronoun("it_m")
    if draw.chance(0.2):
        return asks(question(it, phrase, tense) + where + when)
    return clause(it, phrase, tense) + where + when


def _rain_time(draw, tense):
    if tense == "progressive":
        return present_time(draw)
    return day_time(draw, "past" if tense in ("past", "background") else "future")


# --- Dates and times ------------------------------------------------------

ORDINALS = rows(
    "first premier, second deux, third trois, fourth quatre, fifth cinq, sixth six, seventh sept, eighth huit, "
    "ninth neuf, tenth dix, eleventh onze, twelfth douze, twentieth vingt"
)


def date(draw):
    """`on the fifth of May`: « le cinq mai »."""
    template = "on/T the/t {day}/n of/M {month}/m | le/t {day}/n {month}/m"
    return pair(template, day=draw.pick(ORDINALS), month=draw.pick(MONTHS))


@construction("date")
def dates(draw):
    kind = draw.below(3)
    if kind == 0:
        born = verb_phrase("be=naître").about("born/v |")
        return clause(third_party(draw), born, "past") + date(draw)
    who, tense = subject(draw), draw.pick("past future")
    said = clause(who, verb_phrase(draw.pick("leave arrive go_home come")), tense)
    return said + (pair("in/p {m}/m | en/p {m}/m", m=draw.pick(MONTHS)) if kind == 1 else date(draw))


# What keeps to a timetable, and its verbs.
SCHEDULED = listed("""
    train train m: leave arrive; bus bus m: leave arrive; plane avion m: leave arrive;
    film film m: begin=commencer; lesson leçon f: begin=commencer; concert concert m: begin=commencer
""")


@construction("clock time")
def clock_time(draw):
    if draw.chance(0.25):
        said = pair("it/i is/v {time} | il/i est/v {time}", time=clock(draw))
        return said + perhaps(draw, 0.3, lambda _: pair("in/A the/a morning/b | du/a matin/b"))
    noun, _, verbs = draw.pick(SCHEDULED).partition(":")
    what = noun_phrase(lexicon.noun(*noun.split()), draw.pick("the the you"))
    phrase = verb_phrase(draw.pick(verbs))
    if phrase.verb.en == "leave" and draw.chance(0.4):
        phrase = phrase.about("for/p {city}/a | pour/p {city}/a", city=draw.pick(lexicon.CITIES))
    return clause(what, phrase, draw.pick("present past future")) + at_clock(draw)


@construction("for and since, with the present")
def depuis(draw):
    who, verb = subject(draw), lexicon.verb(draw.pick("live work study wait sleep play sing"))
    long = verb.en in ("live", "work", "study")
    where = town_or_country(draw) if long else place(draw, lexicon.USUAL_PLACES[verb.en])
    phrase = verb_phrase(verb, where)
    pattern = f"been/V {english.gerund(verb.en)}/v" if draw.chance(0.5) else f"{english.participle(verb.en)}/v"
    have = english.finite("have", "present", who.person)
    spoken = words(f"{have}/V {pattern}", v=phrase.meaning)
    return Pair(who.en + spoken + where.en, clause(who, phrase).fr) + _span(draw, long)


def _span(draw, long):
    """How long, or since when."""
    if draw.chance(0.6):
        number = draw.pick(NUMBERS + TENS[:2])
        units = "years ans, months mois, weeks semaines" if long else "hours heures, minutes minutes"
        return pair("for/f {n}/n {unit}/u | depuis/f {n}/n {unit}/u", n=number, unit=draw.pick(rows(units)))
    start = draw.pick(DAYS + MONTHS if long else rows("yesterday hier, noon midi"))
    return pair("since/f {start}/n | depuis/f {start}/n", start=start)
