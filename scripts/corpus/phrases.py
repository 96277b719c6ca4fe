"""Noun phrases, pronouns, and phrases of time and place."""

from dataclasses import dataclass

import english
import lexicon
from french import agree, plural
from words import Pair, concept, pair, word


@dataclass(frozen=True)
class NounPhrase(Pair):
    """A noun phrase with what agreement needs to know.

    `person` counts je, tu, il, nous, vous, ils from 0. `pronoun` is the French
    subject pronoun that inversion attaches, or empty for a full noun phrase.
    """

    person: int = 2
    number: int = 1
    gender: str = "m"
    pronoun: str = ""


# --- Pronouns -------------------------------------------------------------

# English subject, English object, French subject, direct, indirect, stressed.
PRONOUNS = {
    "I": ("I", "me", "je", "me", "me", "moi", 0, 1, "m"),
    "thou": ("you", "you", "tu", "te", "te", "toi", 1, 1, "m"),
    "he": ("he", "him", "il", "le", "lui", "lui", 2, 1, "m"),
    "she": ("she", "her", "elle", "la", "lui", "elle", 2, 1, "f"),
    "it_m": ("it", "it", "il", "le", "lui", "lui", 2, 1, "m"),
    "it_f": ("it", "it", "elle", "la", "lui", "elle", 2, 1, "f"),
    "we": ("we", "us", "nous", "nous", "nous", "nous", 3, 2, "m"),
    "you": ("you", "you", "vous", "vous", "vous", "vous", 4, 1, "m"),
    "they": ("they", "them", "ils", "les", "leur", "eux", 5, 2, "m"),
    "they_f": ("they", "them", "elles", "les", "leur", "elles", 5, 2, "f"),
}
PEOPLE = ("I", "he", "she", "we", "you", "they")
OTHERS = ("he", "she", "they")
POSSESSIVES = {
    "I": ("my", "mon ma mes"),
    "thou": ("your", "ton ta tes"),
    "he": ("his", "son sa ses"),
    "she": ("her", "son sa ses"),
    "we": ("our", "notre notre nos"),
    "you": ("your", "votre votre vos"),
    "they": ("their", "leur leur leurs"),
}


@dataclass(frozen=True)
class Clitic:
    """An object pronoun: after the verb in English, before it in French.

    `agreement` is the gender and number a participle takes from it, if any;
    `stressed` is its form after an affirmative order.
    """

    en: tuple
    fr: object
    rank: int
    agreement: tuple = None
    stressed: str = ""


RANKS = {
    "me": 0,
    "te": 0,
    "se": 0,
    "nous": 0,
    "vous": 0,
    "le": 1,
    "la": 1,
    "les": 1,
    "lui": 2,
    "leur": 2,
    "y": 3,
    "en": 4,
}


def subject_pronoun(name):
    """A pronoun as a subject."""
    en, _, fr, _, _, _, person, number, gender = PRONOUNS[name]
    said = pair(f"{en}/a", f"{fr}/a")
    return NounPhrase(said.en, said.fr, person, number, gender, fr)


def stressed_pronoun(name):
    """A pronoun after a preposition."""
    return pair(f"{PRONOUNS[name][1]}/a", f"{PRONOUNS[name][5]}/a")


def _clitic(en, fr, agreement=None):
    meaning = concept()
    stressed = {"me": "moi", "te": "toi"}.get(fr, fr)
    words = tuple(word(x, [meaning]) for x in en.split())
    return Clitic(words, word(fr, [meaning]), RANKS[fr], agreement, stressed)


def direct(name):
    """A pronoun as a direct object."""
    row = PRONOUNS[name]
    return _clitic(row[1], row[3], (row[8], row[7]))


def indirect(name, preposition=""):
    """A pronoun as an indirect object: « lui » for `him` or `to him`."""
    row = PRONOUNS[name]
    return _clitic(f"{preposition} {row[1]}".strip(), row[4])


def adverbial_pronoun(en, fr):
    """« y » or « en »."""
    return _clitic(en, fr)


def pronoun_for(phrase):
    """The name of the third-person pronoun that stands for a thing."""
    if phrase.number == 2:
        return "they" if phrase.gender == "m" else "they_f"
    return "it_" + phrase.gender


# --- Noun phrases ---------------------------------------------------------

ARTICLES = {
    "the": "le la les",
    "a": "un une des",
    "this": "ce cette ces",
    "that": "ce cette ces",
    "which": "quel quelle quels",
    "what a": "quel quelle quels",
}
PLURAL_ENGLISH = {"a": "some", "this": "these", "that": "those", "what a": "what"}


def _choose(forms, gender, number):
    masculine, feminine, both = forms.split()
    if number == 2:
        return "quelles" if (both, gender) == ("quels", "f") else both
    return masculine if gender == "m" else feminine


def _determiner(kind, noun, number):
    """The determiner of a noun phrase as a pair of word patterns."""
    gender = noun.gender
    article = _choose("le la les", gender, number)
    if kind in POSSESSIVES:
        en, forms = POSSESSIVES[kind]
        return pair(f"{en}/d", f"^{_choose(forms, gender, number)}/d")
    if kind in ARTICLES:
        en = PLURAL_ENGLISH.get(kind, kind) if number == 2 else kind
        en = " ".join(f"{x}/d" for x in en.split())
        return pair(en, f"^{_choose(ARTICLES[kind], gender, number)}/d")
    if kind == "some":
        return pair("some/d", f"^de/d ^{article}/d" if number == 1 else "^des/d")
    if kind == "any":
        return pair("any/d", "de/d")
    if kind == "not a":
        return pair("a/d", "de/d")
    raise ValueError(kind)


def _unspoken_determiner(kind, noun, number, meaning):
    """The French article of an English noun that has none."""
    article = _choose("le la les", noun.gender, number)
    forms = {
        "bare": (),
        "general": (article,),
        "partitive": ("de", article) if number == 1 else ("des",),
    }[kind]
    return tuple(word(x, weak=[meaning], adnominal=True) for x in forms)


def _noun(noun, number, meaning):
    """The noun itself, a compound turning round between the languages."""
    inflected = number == 2
    en = noun.en[:-1] + ((english.plural(noun.en[-1]) if inflected else noun.en[-1]),)
    fr = ((plural(noun.fr[0]) if inflected else noun.fr[0]),) + noun.fr[1:]
    if noun.kind != "compound":
        small = ("à", "de", "en")
        return Pair(
            tuple(word(x, [meaning]) for x in en),
            tuple(word(x, weak=[meaning]) if x in small else word(x, [meaning]) for x in fr),
        )
    modifier = concept()
    return Pair(
        (word(en[0], [modifier]), word(en[1], [meaning])),
        (word(fr[0], [meaning]), word(fr[1], weak=[modifier]), word(fr[2], [modifier])),
    )


def adjective(item, gender, number, adnominal=False):
    """An adjective that agrees."""
    mark = "^" if adnominal else ""
    return pair(f"{item.en}/a", f"{mark}{agree(item.fr, gender, number)}/a")


def noun_phrase(noun, kind, number=1, adjectives=()):
    """A noun with its determiner and adjectives in the order of each language."""
    meaning = concept()
    head = _noun(noun, number, meaning)
    said = [adjective(x, noun.gender, number, x.before) for x in adjectives]
    before = Pair(fr=tuple(w for a, x in zip(said, adjectives) if x.before for w in a.fr))
    after = tuple(w for a, x in zip(said, adjectives) if not x.before for w in a.fr)
    if kind in ("bare", "general", "partitive"):
        opening = Pair(fr=_unspoken_determiner(kind, noun, number, meaning))
    else:
        opening = _determiner(kind, noun, number)
    french = opening.fr
    if before.fr and french and french[-1].text == "des":
        french = french[:-1] + (word("de", french[-1].strong, french[-1].weak),)
    en = opening.en + tuple(w for a in said for w in a.en) + head.en
    return NounPhrase(
        en, french + before.fr + head.fr + after, 5 if number == 2 else 2, number, noun.gender
    )


def counted(quantity, noun, number=2):
    """A quantity such as `three` or `a lot of` before a bare noun."""
    bare = noun_phrase(noun, "bare", number)
    joined = quantity + bare
    return NounPhrase(joined.en, joined.fr, bare.person, number, noun.gender)


def possessed(noun, owner, number=1):
    """`Mary's book`, which turns round: « le livre de Marie »."""
    owned = noun_phrase(noun, "bare", number)
    article = _choose("le la les", noun.gender, number)
    said = pair(
        "{owner} 's/dP {owned}", f"^{article}/p {{owned}} de/d {{owner}}", owner=owner, owned=owned
    )
    return NounPhrase(said.en, said.fr, owned.person, number, noun.gender)


# --- Drawn phrases --------------------------------------------------------


def named(draw, gender=None):
    """A person by name."""
    gender = gender or draw.pick("mf")
    en, fr = draw.pick(lexicon.NAMES[gender].split(",")).split()
    said = pair(f"{en}/a", f"{fr}/a")
    return NounPhrase(said.en, said.fr, 2, 1, gender)


def relative_of(draw, owner=None):
    """A member of somebody's family."""
    return family_member(draw, owner or draw.pick(("I", "I", "he", "she", "we", "you")))


def family_member(draw, owner):
    """A relative of a given person; husbands and wives are not shared, nor their own."""
    without = {
        "he": ("husband",),
        "she": ("wife",),
        "we": ("husband", "wife"),
        "they": ("husband", "wife"),
    }.get(owner, ())
    nouns = [x for x in lexicon.NOUNS["family"] if x.en[0] not in without]
    return noun_phrase(draw.pick(nouns), owner)


def role(draw, number=None):
    """A person by role."""
    number = number or (2 if draw.chance(0.25) else 1)
    return noun_phrase(draw.pick(lexicon.NOUNS["person"]), "the", number)


def person(draw):
    """A full noun phrase for a person."""
    return draw.pick((named, named, relative_of, role))(draw)


def subject(draw):
    """Anybody, as a subject."""
    if draw.chance(0.5):
        return subject_pronoun(draw.pick(PEOPLE))
    return person(draw)


def third_party(draw):
    """Anybody but the speaker and the hearer, as a subject."""
    return subject_pronoun(draw.pick(OTHERS)) if draw.chance(0.4) else person(draw)


def fitting(draw, noun, before=None):
    """An adjective that suits a noun."""
    pool = [
        x
        for x in lexicon.ADJECTIVES
        if before in (None, x.before) and any(c in x.suits for c in noun.adjectives)
    ]
    return draw.pick(pool) if pool else None


def thing(draw, classes, kinds=("the", "a", "my", "this"), described=0.25):
    """A thing out of the given classes, sometimes with an adjective."""
    noun = draw.pick(lexicon.object_nouns(classes))
    return described_noun(draw, noun, kinds, described)


def described_noun(draw, noun, kinds=("the", "a", "my", "this"), described=0.25):
    """A noun with a drawn determiner, number and adjective."""
    kind = draw.pick(kinds)
    if kind == "my":
        kind = draw.pick(("I", "he", "she", "we", "you", "they"))
    number = 2 if noun.kind != "mass" and draw.chance(0.3) else 1
    if noun.kind == "mass" and kind == "a":
        kind = "some"
    if noun.kind == "mass" and kind in ("this", "that"):
        kind = "the"
    chosen = fitting(draw, noun) if draw.chance(described) else None
    return noun_phrase(noun, kind, number, (chosen,) if chosen else ())


# --- Time and place -------------------------------------------------------

DAYS = (
    "Monday lundi,Tuesday mardi,Wednesday mercredi,Thursday jeudi,Friday vendredi,"
    "Saturday samedi,Sunday dimanche"
).split(",")
MONTHS = (
    "January janvier,February février,March mars,April avril,May mai,June juin,July juillet,"
    "August août,September septembre,October octobre,November novembre,"
    "December décembre"
).split(",")
NUMBERS = (
    "two deux,three trois,four quatre,five cinq,six six,seven sept,eight huit,nine neuf,"
    "ten dix,eleven onze,twelve douze"
).split(",")
TENS = (
    "twenty vingt,thirty trente,forty quarante,fifty cinquante,sixty soixante,"
    "eighty quatre-vingts"
).split(",")

DAY_PAST = (
    "yesterday/a|hier/a",
    "last/a night/b|hier/a soir/b",
    "this/a morning/b|ce/a matin/b",
    "yesterday/a morning/b|hier/a matin/b",
)
PAST_TIMES = DAY_PAST + (
    "last/a week/b|la/B semaine/b dernière/a",
    "last/a year/b|l'/B année/b dernière/a",
    "last/a month/b|le/B mois/b dernier/a",
    "last/a summer/b|l'/B été/b dernier/a",
    "last/a winter/b|l'/B hiver/b dernier/a",
)
DAY_FUTURE = (
    "tomorrow/a|demain/a",
    "tonight/a|ce/a soir/a",
    "tomorrow/a morning/b|demain/a matin/b",
)
FUTURE_TIMES = DAY_FUTURE + (
    "next/a week/b|la/B semaine/b prochaine/a",
    "next/a month/b|le/B mois/b prochain/a",
    "next/a year/b|l'/B année/b prochaine/a",
    "soon/a|bientôt/a",
    "this/a afternoon/b|cet/a après-midi/b",
    "next/a summer/b|l'/B été/b prochain/a",
)
HABITS = (
    "every/a day/b|tous/a les/A jours/b",
    "every/a morning/b|tous/a les/A matins/b",
    "every/a evening/b|tous/a les/A soirs/b",
    "every/a week/b|toutes/a les/A semaines/b",
    "in/A the/a morning/b|le/a matin/b",
    "in/A the/a evening/b|le/a soir/b",
    "twice/ab a/c week/d|deux/a fois/b par/c semaine/d",
    "once/ab a/c month/d|une/a fois/b par/c mois/d",
    "at/a night/b|la/a nuit/b",
)
PRESENT_TIMES = (
    "now/a|maintenant/a",
    "today/a|aujourd'hui/a",
    "at/a the/a moment/b|en/a ce/a moment/b",
    "this/a week/b|cette/a semaine/b",
)


def read(entry):
    """A pair out of `english|french` patterns."""
    return pair(*entry.split("|"))


def past_time(draw):
    """A time before now."""
    if draw.chance(0.2):
        return ago(draw)
    if draw.chance(0.2):
        en, fr = draw.pick(DAYS).split()
        return pair(f"last/a {en}/b", f"{fr}/b dernier/a")
    return read(draw.pick(PAST_TIMES))


def ago(draw):
    """`two days ago`, which begins with « il y a »."""
    en, fr = draw.pick(NUMBERS).split()
    unit, unit_fr = draw.pick(
        (
            "days jours",
            "weeks semaines",
            "months mois",
            "years ans",
            "hours heures",
            "minutes minutes",
        )
    ).split()
    return pair(f"{en}/n {unit}/u ago/a", f"il/A y/A a/a {fr}/n {unit_fr}/u")


def future_time(draw):
    """A time after now."""
    if draw.chance(0.25):
        en, fr = draw.pick(DAYS).split()
        return pair(f"next/a {en}/b", f"{fr}/b prochain/a")
    return read(draw.pick(FUTURE_TIMES))


def habit(draw):
    """How often, or at which time of the day or week."""
    if draw.chance(0.25):
        en, fr = draw.pick(DAYS).split()
        return pair(f"on/A {en}s/a", f"le/A {fr}/a")
    return read(draw.pick(HABITS))


def present_time(draw):
    """A time that contains now."""
    return read(draw.pick(PRESENT_TIMES))


def clock(draw):
    """A clock time without its preposition."""
    hour = 1 + draw.below(10)
    (en, fr), (en_next, fr_next) = _hour(hour), _hour(hour + 1)
    hours, hours_next = ("heure" if x == "une" else "heures" for x in (fr, fr_next))
    kind = draw.below(5)
    if kind == 0:
        return pair(f"half/h past/H {en}/n", f"{fr}/n {hours}/N et/H demie/h")
    if kind == 1:
        return pair(f"a/A quarter/q past/p {en}/n", f"{fr}/n {hours}/N et/p quart/q")
    if kind == 2:
        return pair(
            f"a/A quarter/q to/t {en_next}/n", f"{fr_next}/n {hours_next}/N moins/t le/Q quart/q"
        )
    if kind == 3:
        minutes, minutes_fr = draw.pick(("five cinq", "ten dix", "twenty vingt")).split()
        return pair(f"{minutes}/m past/P {en}/n", f"{fr}/n {hours}/N {minutes_fr}/m")
    return pair(f"{en}/n o'clock/h", f"{fr}/n {hours}/h")


def _hour(number):
    return ("one", "une") if number == 1 else NUMBERS[number - 2].split()


def at_clock(draw):
    """`at half past eight`."""
    return pair("at/a {time}", "à/a {time}", time=clock(draw))


def place(draw, names=()):
    """Where somebody is, out of the given English names if there are any."""
    rows = [x.split() for x in lexicon.PLACES.strip().split("\n")]
    return _local(draw.pick([x for x in rows if not names or x[1] in names]))


def _local(row, en_preposition=None):
    preposition, en, preposition_fr, fr, gender = row
    noun = lexicon.Noun(tuple(en.split("_")), tuple(fr.split("_")), gender, "count", "")
    return pair(
        f"{en_preposition or preposition}/p {{noun}}",
        f"{preposition_fr}/p {{noun}}",
        noun=noun_phrase(noun, "the"),
    )


def town(draw, preposition="in"):
    """In or to a town: « à »."""
    en, fr = draw.pick(lexicon.CITIES.split(",")).split()
    return pair(f"{preposition}/p {en}/a", f"à/p {fr}/a")


def country(draw, preposition="in"):
    """In or to a country: « en » or « au »."""
    en, fr, preposition_fr, *_ = draw.pick(lexicon.COUNTRIES.strip().split("\n")).split()
    return pair(f"{preposition}/p {en}/a", f"{preposition_fr}/p {fr}/a")


def at_home_of(draw):
    """`at John's house`: « chez Jean »."""
    return pair("at/A {owner} 's/h house/h", "chez/ha {owner}", owner=person(draw))


def somewhere(draw):
    """Where something happens."""
    if draw.chance(0.3):
        return draw.pick((town, country))(draw)
    return place(draw)


def destination(draw):
    """Where somebody goes."""
    kind = draw.below(5)
    if kind == 0:
        return town(draw, "to")
    if kind == 1:
        return country(draw, "to")
    if kind == 2:
        return pair("to/A {owner} 's/h house/h", "chez/ha {owner}", owner=person(draw))
    rows = [x.split() for x in lexicon.PLACES.strip().split("\n")]
    return _local(draw.pick([x for x in rows if x[0] == "at"]), "to")
