"""Phrases of time and place."""

from collections import namedtuple

import lexicon
from draw import below, chance, either, listed, one_of, pick, rows
from phrases import noun_phrase, person
from words import pair

DAYS = rows("""Monday lundi, Tuesday mardi, Wednesday mercredi, Thursday jeudi, Friday vendredi,
    Saturday samedi, Sunday dimanche""")
MONTHS = rows("""January janvier, February février, March mars, April avril, May mai, June juin, July juillet,
    August août, September septembre, October octobre, November novembre, December décembre""")
NUMBERS = rows("""two deux, three trois, four quatre, five cinq, six six, seven sept, eight huit, nine neuf,
    ten dix, eleven onze, twelve douze""")
TENS = rows("""twenty vingt, thirty trente, forty quarante, fifty cinquante, sixty soixante,
    eighty quatre-vingts""")
HOURS = [("one", "une"), *NUMBERS]
CLOCK = listed("""half/h past/H {hour}/n | {hour}/n {hours}/N et/H demie/h;
    a/A quarter/q past/p {hour}/n | {hour}/n {hours}/N et/p quart/q;
    a/A quarter/q to/t {next}/n | {next}/n heures/N moins/t le/Q quart/q;
    {minutes}/m past/P {hour}/n | {hour}/n {hours}/N {minutes}/m;
    {hour}/n o'clock/h | {hour}/n {hours}/h""")
SIDES = """on/a | sur/a; under/a | sous/a; behind/a | derrière/a; near/a | près/a de/A;
    in/A front/a of/A | devant/a; next/a to/b | à/A côté/a de/b"""
DAY_PAST = """yesterday/a | hier/a; last/a night/b | hier/a soir/b; this/a morning/b | ce/a matin/b;
    yesterday/a morning/b | hier/a matin/b"""
DAY_FUTURE = "tomorrow/a | demain/a; tonight/a | ce/a soir/a; tomorrow/a morning/b | demain/a matin/b"
# How often a time in the past is so many days, weeks or years ago.
AGO = 0.2
# How often a time is a day of the week, in which words, and the other times.
Times = namedtuple("Times", "on_weekday weekday others")
TIMES = {
    "past": Times(on_weekday=0.2, weekday="last/a {day}/b | {day}/b dernier/a", others=DAY_PAST + """;
        last/a week/b | la/B semaine/b dernière/a; last/a year/b | l'/B année/b dernière/a;
        last/a month/b | le/B mois/b dernier/a; last/a summer/b | l'/B été/b dernier/a;
        last/a winter/b | l'/B hiver/b dernier/a"""),
    "future": Times(on_weekday=0.25, weekday="next/a {day}/b | {day}/b prochain/a", others=DAY_FUTURE + """;
        next/a week/b | la/B semaine/b prochaine/a; next/a month/b | le/B mois/b prochain/a;
        next/a year/b | l'/B année/b prochaine/a; soon/a | bientôt/a;
        this/a afternoon/b | cet/a après-midi/b; next/a summer/b | l'/B été/b prochain/a"""),
    "progressive": Times(on_weekday=0, weekday="", others="""
        now/a | maintenant/a; today/a | aujourd'hui/a; at/a the/a moment/b | en/a ce/a moment/b;
        this/a week/b | cette/a semaine/b"""),
    "present": Times(on_weekday=0.25, weekday="on/A {day}s/a | le/A {day}/a", others="""
        every/a day/b | tous/a les/A jours/b; every/a morning/b | tous/a les/A matins/b;
        every/a evening/b | tous/a les/A soirs/b; every/a week/b | toutes/a les/A semaines/b;
        in/A the/a morning/b | le/a matin/b; in/A the/a evening/b | le/a soir/b;
        twice/ab a/c week/d | deux/a fois/b par/c semaine/d; once/ab a/c month/d | une/a fois/b par/c mois/d;
        at/a night/b | la/a nuit/b"""),
}
SAME_TIMES = {"background": "past", "imperfect": "past", "near": "future", "used": "present"}
UNITS = rows("days jours, weeks semaines, months mois, years ans, hours heures, minutes minutes")


def time_for(tense):
    """A time that suits a tense; for the present a habit, for the progressive now."""
    tense = SAME_TIMES.get(tense, tense)
    if tense == "past" and chance(AGO):
        number, unit = pick(NUMBERS), pick(UNITS)
        return pair("{number}/n {unit}/u ago/a | il/A y/A a/a {number}/n {unit}/u", number=number, unit=unit)
    times = TIMES[tense]
    if times.weekday and chance(times.on_weekday):
        return pair(times.weekday, day=pick(DAYS))
    return pair(pick(times.others))


def time_of_state(tense):
    """A time that suits how something is, was or will be."""
    return time_for("progressive" if tense == "present" else tense)


def day_time(tense):
    """A day, for what happens once a day."""
    if tense == "present":
        return time_for(tense)
    return pair(pick(DAY_PAST if tense == "past" else DAY_FUTURE))


def clock():
    """A clock time without its preposition."""
    at, kind = below(10), below(5)
    minutes = pick(rows("five cinq, ten dix, twenty vingt")) if kind == 3 else ""
    hours = "heures" if at else "heure"
    return pair(CLOCK[kind], hour=HOURS[at], next=HOURS[at + 1], minutes=minutes, hours=hours)


def at_clock():
    """`at half past eight`."""
    return pair("at/a {time} | à/a {time}", time=clock())


def place(names=""):
    """Where somebody is, out of the English names in a text if there are any."""
    pool = [x for x in lexicon.PLACES if not names or "_".join(x[2].en) in listed(names)]
    return _at(*pick(pool))


def _at(preposition, preposition_fr, noun):
    return pair("{p}/p {noun}", p=(preposition, preposition_fr), noun=noun_phrase(noun, "the"))


def town(preposition="in"):
    """In or to a town: « à »."""
    return pair("{p}/p {city}/a", p=(preposition, "à"), city=pick(lexicon.CITIES))


def country(preposition="in"):
    """In or to a country: « en » or « au »."""
    name, preposition_fr, *_ = pick(lexicon.COUNTRIES)
    return pair("{p}/p {name}/a", p=(preposition, preposition_fr), name=name)


def home_of(preposition="at"):
    """`at John's house`: « chez Jean »."""
    return pair("{p}/A {owner} 's/h house/h | chez/ha {owner}", p=preposition, owner=person())


town_or_country = one_of(town, country)
somewhere = either(0.3, town_or_country, place)


def destination():
    """Where somebody goes."""
    kind = below(5)
    if kind < 3:
        return (town, country, home_of)[kind]("to")
    _, preposition_fr, noun = pick([x for x in lexicon.PLACES if x[0] == "at"])
    return _at("to", preposition_fr, noun)


def spot():
    """Next to, on or under a piece of furniture."""
    side = pair(pick(SIDES))
    noun = lexicon.SINGLE_NOUNS[pick("table bed chair desk sofa armchair")]
    return side + noun_phrase(noun, pick({"the": 2}, "this I"))
