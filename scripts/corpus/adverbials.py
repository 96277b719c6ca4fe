"""Phrases of time and place."""

import lexicon
from draw import listed, rows
from phrases import noun_phrase, person
from words import pair

DAYS = rows(
    "Monday lundi, Tuesday mardi, Wednesday mercredi, Thursday jeudi, Friday vendredi, Saturday samedi, "
    "Sunday dimanche"
)
MONTHS = rows(
    "January janvier, February février, March mars, April avril, May mai, June juin, July juillet, August août, "
    "September septembre, October octobre, November novembre, December décembre"
)
NUMBERS = rows(
    "two deux, three trois, four quatre, five cinq, six six, seven sept, eight huit, nine neuf, ten dix, "
    "eleven onze, twelve douze"
)
TENS = rows("twenty vingt, thirty trente, forty quarante, fifty cinquante, sixty soixante, eighty quatre-vingts")
HOURS = [("one", "une"), *NUMBERS]

DAY_PAST = """
    yesterday/a | hier/a; last/a night/b | hier/a soir/b; this/a morning/b | ce/a matin/b;
    yesterday/a morning/b | hier/a matin/b"""
PAST_TIMES = DAY_PAST + """;
    last/a week/b | la/B semaine/b dernière/a; last/a year/b | l'/B année/b dernière/a;
    last/a month/b | le/B mois/b dernier/a; last/a summer/b | l'/B été/b dernier/a;
    last/a winter/b | l'/B hiver/b dernier/a"""
DAY_FUTURE = """
    tomorrow/a | demain/a; tonight/a | ce/a soir/a; tomorrow/a morning/b | demain/a matin/b"""
FUTURE_TIMES = DAY_FUTURE + """;
    next/a week/b | la/B semaine/b prochaine/a; next/a month/b | le/B mois/b prochain/a;
    next/a year/b | l'/B année/b prochaine/a; soon/a | bientôt/a;
    this/a afternoon/b | cet/a après-midi/b; next/a summer/b | l'/B été/b prochain/a"""
HABITS = """
    every/a day/b | tous/a les/A jours/b; every/a morning/b | tous/a les/A matins/b;
    every/a evening/b | tous/a les/A soirs/b; every/a week/b | toutes/a les/A semaines/b;
    in/A the/a morning/b | le/a matin/b; in/A the/a evening/b | le/a soir/b;
    twice/ab a/c week/d | deux/a fois/b par/c semaine/d; once/ab a/c month/d | une/a fois/b par/c mois/d;
    at/a night/b | la/a nuit/b"""
PRESENT_TIMES = """
    now/a | maintenant/a; today/a | aujourd'hui/a; at/a the/a moment/b | en/a ce/a moment/b;
    this/a week/b | cette/a semaine/b"""


# --- Time -----------------------------------------------------------------


def past_time(draw):
    """A time before now."""
    if draw.chance(0.2):
        units = rows("days jours, weeks semaines, months mois, years ans, hours heures, minutes minutes")
        number, unit = draw.pick(NUMBERS), draw.pick(units)
        return pair("{number}/n {unit}/u ago/a | il/A y/A a/a {number}/n {unit}/u", number=number, unit=unit)
    if draw.chance(0.2):
        return pair("last/a {day}/b | {day}/b dernier/a", day=draw.pick(DAYS))
    return pair(draw.pick(PAST_TIMES))


def future_time(draw):
    """A time after now."""
    if draw.chance(0.25):
        return pair("next/a {day}/b | {day}/b prochain/a", day=draw.pick(DAYS))
    return pair(draw.pick(FUTURE_TIMES))


def habit(draw):
    """How often, or at which time of the day or week."""
    if draw.chance(0.25):
        return pair("on/A {day}s/a | le/A {day}/a", day=draw.pick(DAYS))
    return pair(draw.pick(HABITS))


def present_time(draw):
    """A time that contains now."""
    return pair(draw.pick(PRESENT_TIMES))


TIMES = {
    "past": past_time, "background": past_time, "imperfect": past_time, "future": future_time,
    "near": future_time, "progressive": present_time,
}


def time_for(draw, tense):
    """A time that suits a tense."""
    return TIMES.get(tense, habit)(draw)


def time_of_state(draw, tense):
    """A time that suits how something is, was or will be."""
    return present_time(draw) if tense == "present" else time_for(draw, tense)


def day_time(draw, tense):
    """A day, for what happens once a day."""
    if tense == "present":
        return habit(draw)
    return pair(draw.pick(DAY_PAST if tense == "past" else DAY_FUTURE))


CLOCK = listed("""
    half/h past/H {hour}/n       | {hour}/n {hours}/N et/H demie/h;
    a/A quarter/q past/p {hour}/n | {hour}/n {hours}/N et/p quart/q;
    a/A quarter/q to/t {next}/n  | {next}/n {hours_next}/N moins/t le/Q quart/q;
    {minutes}/m past/P {hour}/n  | {hour}/n {hours}/N {minutes}/m;
    {hour}/n o'clock/h           | {hour}/n {hours}/h
""")


def clock(draw):
    """A clock time without its preposition."""
    at, kind = draw.below(10), draw.below(5)
    minutes = draw.pick(rows("five cinq, ten dix, twenty vingt")) if kind == 3 else ""
    return pair(
        CLOCK[kind], hour=HOURS[at], next=HOURS[at + 1], minutes=minutes,
        hours="heure" if at == 0 else "heures", hours_next="heures",
    )


def at_clock(draw):
    """`at half past eight`."""
    return pair("at/a {time} | à/a {time}", time=clock(draw))


# --- Place ----------------------------------------------------------------


def place(draw, names=""):
    """Where somebody is, out of the English names in a text if there are any."""
    return _local(*draw.pick([x for x in lexicon.PLACES if not names or "_".join(x[2].en) in listed(names)]))


def _local(preposition, preposition_fr, noun):
    return pair("{p}/p {noun}", p=(preposition, preposition_fr), noun=noun_phrase(noun, "the"))


def town(draw, preposition="in"):
    """In or to a town: « à »."""
    return pair("{p}/p {city}/a", p=(preposition, "à"), city=draw.pick(lexicon.CITIES))


def country(draw, preposition="in"):
    """In or to a country: « en » or « au »."""
    name, preposition_fr, *_ = draw.pick(lexicon.COUNTRIES)
    return pair("{p}/p {name}/a", p=(preposition, preposition_fr), name=name)


def home_of(draw, preposition="at"):
    """`at John's house`: « chez Jean »."""
    return pair("{p}/A {owner} 's/h house/h | chez/ha {owner}", p=preposition, owner=person(draw))


def town_or_country(draw):
    """In a town or a country."""
    return draw.pick((town, country))(draw)


def somewhere(draw):
    """Where something happens."""
    return town_or_country(draw) if draw.chance(0.3) else place(draw)


def destination(draw):
    """Where somebody goes."""
    kind = draw.below(5)
    if kind < 3:
        return (town, country, home_of)[kind](draw, "to")
    _, preposition_fr, noun = draw.pick([x for x in lexicon.PLACES if x[0] == "at"])
    return _local("to", preposition_fr, noun)


SIDES = """
    on/a | sur/a; under/a | sous/a; behind/a | derrière/a; near/a | près/a de/A;
    in/A front/a of/A | devant/a; next/a to/b | à/A côté/a de/b"""


def spot(draw):
    """Next to, on or under a piece of furniture."""
    side = pair(draw.pick(SIDES))
    noun = lexicon.SINGLE_NOUNS[draw.pick("table bed chair desk sofa armchair")]
    return side + noun_phrase(noun, draw.pick("the the this I"))
