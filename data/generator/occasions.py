"""Weather, dates, clock times and lengths of time."""

from functools import partial

import english
import lexicon
from adverbials import (
    DAYS, MONTHS, NUMBERS, TENS, at_clock, clock, country, day_time, place, time_for, time_of_state, town,
    town_or_country,
)
from clauses import clause, question, verb_phrase
from constructions import asks, construction, declare
from draw import below, chance, listed, one_of, pick, rows
from phrases import noun_phrase, subject, subject_pronoun, third_party
from words import Pair, pair, perhaps, words

# English after the verb and French after « il fait »; the fine ones are said of the weather.
WEATHER = listed("""hot/a | chaud/a; cold/a | froid/a; windy/a | du/A vent/a; sunny/a | du/A soleil/a;
    cool/a | frais/a; dark/a | nuit/a; foggy/a | du/A brouillard/a""")
FINE = listed("fine/a | beau/a; bad/a | mauvais/a")
IS = {"present": ("is/f", "fait/f"), "imperfect": ("was/f", "faisait/f"), "future": ("will/F be/f", "fera/f")}
# A place that has weather.
outside = one_of(town, country, partial(place, "garden street beach park forest"))
ORDINALS = rows("""first premier, second deux, third trois, fourth quatre, fifth cinq, sixth six,
    seventh sept, eighth huit, ninth neuf, tenth dix, eleventh onze, twelfth douze, twentieth vingt""")
# Things with a timetable, and their verbs.
SCHEDULED = """train train m: leave arrive; bus bus m: leave arrive; plane avion m: leave arrive;
    film film m: begin=commencer; lesson leçon f: begin=commencer; concert concert m: begin=commencer"""

declare("weather with il fait",
        tense=tuple(IS), sky=lambda: pick(WEATHER + FINE).split("|"),
        it=lambda sky: ("the/I weather/i" if "|".join(sky) in FINE else "it/i", "il/i"),
        does=lambda tense: IS[tense], where=lambda: perhaps(0.7, outside), when=time_of_state, kept=0.6,
        said="{it} {does} {sky} {where} | {it} {does} {sky} {where}")

@construction("rain and snow")
def rain():
    verb, tense = pick("rain snow"), pick("progressive past future near background")
    it, phrase = subject_pronoun("it_m"), verb_phrase(verb)
    if verb == "rain" and chance(0.35):
        phrase = phrase.about("cats/C and/C dogs/C | des/C cordes/c")
    elif chance(0.3):
        phrase = phrase.about("a/A lot/a | beaucoup/a")
    where = perhaps(0.7, outside)
    if chance(0.7):
        day = "past" if tense in ("past", "background") else "future"
        where = where + (time_for(tense) if tense == "progressive" else day_time(day))
    return asks(question(it, phrase, tense) + where) if chance(0.2) else clause(it, phrase, tense) + where

def date():
    """`on the fifth of May`: « le cinq mai »."""
    template = "on/T the/t {day}/n of/M {month}/m | le/t {day}/n {month}/m"
    return pair(template, day=pick(ORDINALS), month=pick(MONTHS))

@construction("date")
def dates():
    kind = below(3)
    if kind == 0:
        return clause(third_party(), verb_phrase("be=naître").about("born/v |"), "past") + date()
    who, tense = subject(), pick("past future")
    said = clause(who, verb_phrase(pick("leave arrive go_home come")), tense)
    return said + (pair("in/p {m}/m | en/p {m}/m", m=pick(MONTHS)) if kind == 1 else date())

@construction("clock time")
def clock_time():
    if chance(0.25):
        said = pair("it/i is/v {time} | il/i est/v {time}", time=clock())
        return said + perhaps(0.3, lambda: pair("in/A the/a morning/b | du/a matin/b"))
    noun, _, verbs = pick(SCHEDULED).partition(":")
    what = noun_phrase(lexicon.noun(*noun.split()), pick({"the": 2, "you": 1}))
    phrase = verb_phrase(pick(verbs))
    if phrase.verb.en == "leave" and chance(0.4):
        phrase = phrase.about("for/p {city}/a | pour/p {city}/a", city=pick(lexicon.CITIES))
    return clause(what, phrase, pick("present past future")) + at_clock()

@construction("for and since, with the present")
def depuis():
    who, verb = subject(), lexicon.verb(pick("live work study wait sleep play sing"))
    long = verb.en in ("live", "work", "study")
    where = town_or_country() if long else place(lexicon.USUAL_PLACES[verb.en])
    phrase = verb_phrase(verb, where)
    pattern = f"been/V {english.gerund(verb.en)}/v" if chance(0.5) else f"{english.participle(verb.en)}/v"
    have = english.finite("have", "present", who.person)
    spoken = words(f"{have}/V {pattern}", v=phrase.meaning)
    return Pair(who.en + spoken + where.en, clause(who, phrase).fr) + _span(long)

def _span(long):
    """A duration, or a point in time since."""
    if chance(0.6):
        number = pick(NUMBERS + TENS[:2])
        units = "years ans, months mois, weeks semaines" if long else "hours heures, minutes minutes"
        return pair("for/f {n}/n {unit}/u | depuis/f {n}/n {unit}/u", n=number, unit=pick(rows(units)))
    starts = DAYS + MONTHS if long else rows("yesterday hier, noon midi")
    return pair("since/f {x}/n | depuis/f {x}/n", x=pick(starts))
