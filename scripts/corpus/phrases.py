"""Pronouns and noun phrases."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import english
import lexicon
from draw import chance, pick, pick_number, rows
from french import agree, plural
from words import Pair, concept, pair, words

NOTHING = Pair()


@dataclass(frozen=True)
class NounPhrase(Pair):
    """A noun phrase with what agreement needs to know.

    `person` counts je, tu, il, nous, vous, ils from 0. `pronoun` is the French subject pronoun that inversion
    attaches, or empty for a full noun phrase.
    """

    person: int = 2
    number: int = 1
    gender: str = "m"
    pronoun: str = ""

    def followed(self, other):
        """The same noun phrase with more behind it."""
        return replace(self, en=self.en + other.en, fr=self.fr + other.fr)


def as_noun(said, number=1, gender="m", person=None):
    """A pair as a noun phrase of the third person."""
    return NounPhrase(said.en, said.fr, person or (5 if number == 2 else 2), number, gender)


def perhaps(probability, make):
    """What `make` draws with the given probability, else nothing."""
    return make() if chance(probability) else NOTHING


class Pronoun(NamedTuple):
    """The forms of a pronoun: English in the first three, French in the others."""

    subject: str
    object: str
    own: str
    fr_subject: str
    direct: str
    indirect: str
    stressed: str
    fr_own: tuple
    person: int
    number: int
    gender: str


PRONOUNS = {
    name: Pronoun(*forms[:7], tuple(forms[7:10]), int(forms[10]), int(forms[11]), forms[12])
    for name, *forms in rows("""
        I       I     me    my     je     me    me     moi    mon    ma     mes     0  1  m,
        thou    you   you   your   tu     te    te     toi    ton    ta     tes     1  1  m,
        he      he    him   his    il     le    lui    lui    son    sa     ses     2  1  m,
        she     she   her   her    elle   la    lui    elle   son    sa     ses     2  1  f,
        it_m    it    it    its    il     le    lui    lui    son    sa     ses     2  1  m,
        it_f    it    it    its    elle   la    lui    elle   son    sa     ses     2  1  f,
        we      we    us    our    nous   nous  nous   nous   notre  notre  nos     3  2  m,
        you     you   you   your   vous   vous  vous   vous   votre  votre  vos     4  1  m,
        they    they  them  their  ils    les   leur   eux    leur   leur   leurs   5  2  m,
        they_f  they  them  their  elles  les   leur   elles  leur   leur   leurs   5  2  f""")
}
PEOPLE = "I he she we you they"


@dataclass(frozen=True)
class Clitic:
    """An object pronoun: after the verb in English, before it in French.

    `agreement` is the gender and number a participle takes from it, if any; `stressed` is its form after an
    affirmative order.
    """

    en: tuple
    fr: object
    rank: int
    agreement: tuple = None
    stressed: str = ""


# The order before the verb.
RANKS = {"me": 0, "te": 0, "nous": 0, "vous": 0, "le": 1, "la": 1, "les": 1, "lui": 2, "leur": 2, "y": 3, "en": 4}
STRESSED = {"me": "moi", "te": "toi"}


def subject_pronoun(name):
    """A pronoun as a subject."""
    row = PRONOUNS[name]
    said = pair("{x}/a", x=(row.subject, row.fr_subject))
    return NounPhrase(said.en, said.fr, row.person, row.number, row.gender, row.fr_subject)


def stressed_pronoun(name):
    """A pronoun after a preposition."""
    return pair("{x}/a", x=(PRONOUNS[name].object, PRONOUNS[name].stressed))


def adverbial_pronoun(en, fr, agreement=None):
    """« y » or « en », or another pronoun before the verb."""
    meaning = concept()
    spoken = words(" ".join(f"{x}/a" for x in en.split()), a=meaning)
    return Clitic(spoken, words(fr + "/a", a=meaning)[0], RANKS[fr], agreement, STRESSED.get(fr, fr))


def direct(name):
    """A pronoun as a direct object."""
    row = PRONOUNS[name]
    return adverbial_pronoun(row.object, row.direct, (row.gender, row.number))


def indirect(name, preposition=""):
    """A pronoun as an indirect object: « lui » for `him` or `to him`."""
    return adverbial_pronoun(f"{preposition} {PRONOUNS[name].object}", PRONOUNS[name].indirect)


def pronoun_for(phrase):
    """The name of the third-person pronoun that stands for a thing."""
    if phrase.number == 2:
        return "they" if phrase.gender == "m" else "they_f"
    return "it_" + phrase.gender


def name_of(who):
    """The name of the pronoun that agrees like a noun phrase, and of the possessive that refers back to it."""
    return ("I", "thou", "he" if who.gender == "m" else "she", "we", "you", "they")[who.person]


def pronoun_again(who):
    """The pronoun that takes a subject up again."""
    feminine = who.number == 2 and who.gender == "f" and not who.pronoun
    return subject_pronoun("they_f" if feminine else name_of(who))


# Masculine, feminine, masculine plural, feminine plural.
ARTICLES = {
    "le": ("le", "la", "les", "les"), "un": ("un", "une", "des", "des"), "ce": ("ce", "cette", "ces", "ces"),
    "quel": ("quel", "quelle", "quels", "quelles"),
}
# Singular and plural. The letter d is the determiner's own meaning, n that of the noun.
DETERMINERS = {
    "the": ("the/d | ^{le}/d", "the/d | ^{le}/d"),
    "a": ("a/d | ^{un}/d", "some/d | ^{un}/d"),
    "this": ("this/d | ^{ce}/d", "these/d | ^{ce}/d"),
    "that": ("that/d | ^{ce}/d", "those/d | ^{ce}/d"),
    "which": ("which/d | ^{quel}/d", "which/d | ^{quel}/d"),
    "what a": ("what/d a/d | ^{quel}/d", "what/d | ^{quel}/d"),
    "some": ("some/d | ^de/d ^{le}/d", "some/d | ^des/d"),
    "any": ("any/d | de/d", "any/d | de/d"),
    "not a": ("a/d | de/d", "a/d | de/d"),
    "bare": ("|", "|"),
    "general": ("| ^{le}/N", "| ^{le}/N"),
    "partitive": ("| ^de/N ^{le}/N", "| ^des/N"),
}


def article(name, gender, number):
    """A form of « le », « un », « ce » or « quel »."""
    return ARTICLES[name][(gender == "f") + 2 * (number == 2)]


def _determiner(kind, gender, number, meaning):
    if kind in PRONOUNS:
        masculine, feminine, both = PRONOUNS[kind].fr_own
        french = both if number == 2 else masculine if gender == "m" else feminine
        return pair("{own}/d | ^{french}/d", own=PRONOUNS[kind].own, french=french)
    forms = {name: article(name, gender, number) for name in ARTICLES}
    return pair(DETERMINERS[kind][number - 1], n=meaning, **forms)


def _noun(noun, number, meaning):
    """The noun itself, a compound turning round between the languages."""
    *before, last = noun.en
    first, *after = noun.fr
    en = [*before, english.plural(last) if number == 2 else last]
    fr = [plural(first) if number == 2 else first, *after]
    if noun.kind == "compound":
        return pair("{0}/m {1}/n | {2}/n {3}/M {4}/m".format(*en, *fr), n=meaning)
    marked = " ".join(x + ("/N" if x in ("à", "de", "en") else "/n") for x in fr)
    return pair(" ".join(x + "/n" for x in en) + " | " + marked, n=meaning)


def noun_phrase(noun, kind, number=1, adjectives=()):
    """A noun with its determiner and adjectives in the order of each language."""
    meaning = concept()
    opening, head = _determiner(kind, noun.gender, number, meaning), _noun(noun, number, meaning)
    spoken, before, after = (), (), ()
    for item in adjectives:
        mark = "^" if item.before else ""
        said = pair("{x}/a", x=(item.en, mark + agree(item.fr, noun.gender, number)))
        spoken += said.en
        before, after = (before + said.fr, after) if item.before else (before, after + said.fr)
    french = opening.fr
    if before and french and french[-1].text == "des":
        french = (*french[:-1], replace(french[-1], text="de", adnominal=False))
    said = Pair(opening.en + spoken + head.en, french + before + head.fr + after)
    return as_noun(said, number, noun.gender)


def counted(quantity, noun, number=2):
    """A quantity such as `three` or `a lot of` before a bare noun."""
    return as_noun(quantity + noun_phrase(noun, "bare", number), number, noun.gender)


def possessed(noun, owner, number=1):
    """`Mary's book`, which turns round: « le livre de Marie »."""
    said = pair(
        "{owner} 's/dP {owned} | ^{le}/p {owned} de/d {owner}",
        owner=owner, owned=noun_phrase(noun, "bare", number), le=article("le", noun.gender, number),
    )
    return as_noun(said, number, noun.gender)


def agreeing(item, who):
    """An adjective that says what somebody or something is like."""
    return pair("{x}/a", x=(item.en, agree(item.fr, who.gender, who.number)))


def named(gender=None):
    """A person by name."""
    gender = gender or pick("m f")
    return as_noun(pair("{x}/a", x=pick(lexicon.NAMES[gender])), gender=gender)


def country_name():
    """A country that is spoken of."""
    name, _, le, gender = pick(lexicon.COUNTRIES)
    return as_noun(pair("{x}/a | ^{le}/A {x}/a", x=name, le=le), gender=gender)


# Husbands and wives are not shared, nor one's own.
NOT_OF = {"he": "husband", "she": "wife", "we": "husband wife", "they": "husband wife"}


def relative_of(owner=None):
    """A member of somebody's family."""
    owner = owner or pick("I I he she we you")
    excluded = NOT_OF.get(owner, "").split()
    return noun_phrase(pick([x for x in lexicon.NOUNS["family"] if x.en[0] not in excluded]), owner)


def role():
    """A person by role."""
    number = pick_number(0.25)
    return noun_phrase(pick(lexicon.NOUNS["person"]), "the", number)


def person():
    """A full noun phrase for a person."""
    return pick((named, named, relative_of, role))()


def named_or_relative():
    """One person by name or from the family."""
    return pick((named, relative_of))()


def drawn_pronoun(names=PEOPLE):
    """One of the pronouns, as a subject."""
    return subject_pronoun(pick(names))


def subject():
    """Anybody, as a subject."""
    return drawn_pronoun() if chance(0.5) else person()


def third_party():
    """Anybody but the speaker and the hearer, as a subject."""
    return drawn_pronoun("he she they") if chance(0.4) else person()


def other_than(who, names=PEOPLE):
    """The name of a pronoun for somebody else than the subject."""
    own = {0: ("I", "we"), 3: ("I", "we"), 1: ("you", "thou"), 4: ("you", "thou")}
    excluded = own.get(who.person, ()) if who.pronoun else ()
    return pick([x for x in names.split() if x not in excluded])


def fitting(noun, before=None):
    """An adjective that suits a noun."""
    pool = [
        x for x in lexicon.ADJECTIVES
        if before in (None, x.before) and any(c in x.suits for c in noun.adjectives)
    ]
    return pick(pool) if pool else None


def drawn_noun(classes):
    """A noun out of the given classes."""
    return pick(lexicon.nouns_of(classes))


def described_noun(noun, kinds, described):
    """A noun with a drawn determiner and number, and an adjective with the given probability."""
    kind = pick(kinds)
    if kind == "my":
        kind = pick("I he she we you they")
    number = 2 if noun.kind != "mass" and chance(0.3) else 1
    if noun.kind == "mass":
        kind = {"a": "some", "this": "the", "that": "the"}.get(kind, kind)
    chosen = fitting(noun) if chance(described) else None
    return noun_phrase(noun, kind, number, (chosen,) if chosen else ())
