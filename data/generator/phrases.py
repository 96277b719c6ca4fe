"""Pronouns and noun phrases."""

from collections import namedtuple
from dataclasses import dataclass, replace

import english
import lexicon
from draw import chance, either, listed, one_of, pick, pick_number, rows, weighted
from french import agree, plural
from words import NOTHING, Pair, concept, pair


@dataclass(frozen=True)
class NounPhrase(Pair):
    """A noun phrase with what agreement needs to know, and its noun where it says more about a thing.

    `person` counts je, tu, il, nous, vous, ils from 0. `pronoun` is the French subject pronoun that inversion
    attaches, or empty for a full noun phrase.
    """

    gender: str = "m"
    number: int = 1
    person: int = 2
    pronoun: str = ""
    noun: object = None

    def followed(self, other):
        """The same noun phrase with more behind it."""
        return replace(self, en=self.en + other.en, fr=self.fr + other.fr)


def as_noun(said, gender="m", number=1, noun=None):
    """A pair as a noun phrase of the third person."""
    return NounPhrase(said.en, said.fr, gender, number, 5 if number == 2 else 2, "", noun)


# English forms, then French ones; the last are the possessives before m, f and plural nouns.
Pronoun = namedtuple(
    "Pronoun", "subject object own fr_subject direct indirect stressed fr_own person number gender"
)
PRONOUNS = {
    name: Pronoun(*forms[:7], forms[7:10], int(person), int(number), gender)
    for name, *forms, person, number, gender in rows("""
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
# An object pronoun, which stands after the verb in English and before it in French, by rank; `agreement` is
# the gender and number that a participle takes from it, if any.
Clitic = namedtuple("Clitic", "en fr rank agreement")
_RANKED = rows("me te nous vous, le la les, lui leur, y, en")
RANKS = {pronoun: rank for rank, pronouns in enumerate(_RANKED) for pronoun in pronouns}


def clitic(en, fr, agreement=None):
    """A pronoun before the verb, such as « y » and « en »."""
    said = pair("{en} | {fr}/a", en=" ".join(f"{x}/a" for x in en.split()), fr=fr)
    return Clitic(said.en, said.fr[0], RANKS[fr], agreement)


def direct(name):
    """A pronoun as a direct object."""
    row = PRONOUNS[name]
    return clitic(row.object, row.direct, (row.gender, row.number))


def indirect(name, preposition=""):
    """A pronoun as an indirect object: « lui » for `him` or `to him`."""
    return clitic(f"{preposition} {PRONOUNS[name].object}", PRONOUNS[name].indirect)


def subject_pronoun(name):
    """A pronoun as a subject."""
    row = PRONOUNS[name]
    said = pair("{x}/a", x=(row.subject, row.fr_subject))
    return NounPhrase(said.en, said.fr, row.gender, row.number, row.person, row.fr_subject)


def stressed_pronoun(name):
    """A pronoun after a preposition."""
    return pair("{x}/a", x=(PRONOUNS[name].object, PRONOUNS[name].stressed))


def pronoun_for(phrase):
    """The name of the third-person pronoun that stands for a thing."""
    if phrase.number == 1:
        return "it_" + phrase.gender
    return "they" if phrase.gender == "m" else "they_f"


def name_of(who):
    """The name of the pronoun that agrees like a noun phrase, and whose possessive refers back to it."""
    return ("I", "thou", "he" if who.gender == "m" else "she", "we", "you", "they")[who.person]


def pronoun_again(who):
    """The pronoun that takes a subject up again."""
    feminine = who.number == 2 and who.gender == "f" and not who.pronoun
    return subject_pronoun("they_f" if feminine else name_of(who))
OWN = {"je": ("I", "we"), "nous": ("I", "we"), "tu": ("you",), "vous": ("you",)}
# Husbands and wives are not shared, nor one's own.
NOT_OF = {"he": ["husband"], "she": ["wife"], "we": ["husband", "wife"], "they": ["husband", "wife"]}


# Masculine, feminine, masculine plural, feminine plural.
ARTICLES = {
    "le": ("le", "la", "les", "les"), "un": ("un", "une", "des", "des"), "ce": ("ce", "cette", "ces", "ces"),
    "quel": ("quel", "quelle", "quels", "quelles"),
}
# With a singular and with a plural, if not alike; d is the determiner's own meaning, n that of the noun.
DETERMINERS = {
    "the": ["the/d | ^{le}/d"], "which": ["which/d | ^{quel}/d"],
    "a": ["a/d | ^{un}/d", "some/d | ^{un}/d"], "what a": ["what/d a/d | ^{quel}/d", "what/d | ^{quel}/d"],
    "this": ["this/d | ^{ce}/d", "these/d | ^{ce}/d"], "that": ["that/d | ^{ce}/d", "those/d | ^{ce}/d"],
    "some": ["some/d | ^de/d ^{le}/d", "some/d | ^des/d"], "any": ["any/d | de/d"], "not a": ["a/d | de/d"],
    "bare": ["|"], "general": ["| ^{le}/N"], "partitive": ["| ^de/N ^{le}/N", "| ^des/N"],
}


def article(name, gender, number):
    """A form of « le », « un », « ce » or « quel »."""
    return ARTICLES[name][(gender == "f") + 2 * (number == 2)]


def _determiner(kind, noun, number, meaning):
    if kind in PRONOUNS:
        own, form = PRONOUNS[kind], 2 if number == 2 else "mf".index(noun.gender)
        return pair("{en}/d | ^{fr}/d", en=own.own, fr=own.fr_own[form])
    forms = {name: article(name, noun.gender, number) for name in ARTICLES}
    return pair(DETERMINERS[kind][: number][-1], n=meaning, **forms)


def _noun(noun, number, meaning):
    """The noun itself, a compound turning round between the languages."""
    (*en, last), (first, *fr) = noun.en, noun.fr
    if number == 2:
        last, first = english.plural(last), plural(first)
    if noun.kind == "compound":
        return pair("{0}/m {1}/n | {2}/n {3}/M {4}/m".format(*en, last, first, *fr), n=meaning)
    marked = " ".join(x + ("/N" if x in ("à", "de", "en") else "/n") for x in (first, *fr))
    return pair("{en} | {fr}", en=" ".join(x + "/n" for x in (*en, last)), fr=marked, n=meaning)


def noun_phrase(noun, kind, number=1, adjectives=()):
    """A noun with its determiner and adjectives in the order of each language."""
    meaning = concept()
    opening, head = _determiner(kind, noun, number, meaning), _noun(noun, number, meaning)
    said = [pair("{x}/a", x=(x.en, "^" * x.before + agree(x.fr, noun.gender, number))) for x in adjectives]
    before = sum((x for x in said if x.fr[0].adnominal), NOTHING)
    after = sum((x for x in said if not x.fr[0].adnominal), NOTHING)
    french, spoken = opening.fr, sum(said, NOTHING)
    if before.fr and french and french[-1].text == "des":
        french = (*french[:-1], replace(french[-1], text="de", adnominal=False))
    said = Pair(opening.en + spoken.en + head.en, french + before.fr + head.fr + after.fr)
    return as_noun(said, noun.gender, number, noun)


def counted(quantity, noun, number=2):
    """A quantity such as `three` or `a lot of` before a bare noun."""
    return as_noun(quantity + noun_phrase(noun, "bare", number), noun.gender, number)


def agreeing(item, who):
    """An adjective that says what somebody or something is like."""
    return pair("{x}/a", x=(item.en, agree(item.fr, who.gender, who.number)))


def named():
    """A person by name."""
    gender = pick("m f")
    return as_noun(pair("{x}/a", x=pick(lexicon.NAMES[gender])), gender)


def country_name():
    """A country that is spoken of."""
    name, _, le, gender = pick(lexicon.COUNTRIES)
    return as_noun(pair("{x}/a | ^{le}/A {x}/a", x=name, le=le), gender)


def relative_of(owner=None):
    """A member of somebody's family."""
    owner = owner or pick({"I": 2}, "he she we you")
    family = [x for x in lexicon.NOUNS["family"] if x.en[0] not in NOT_OF.get(owner, ())]
    return noun_phrase(pick(family), owner)


def role():
    """A person by role."""
    number = pick_number(0.25)
    return noun_phrase(pick(lexicon.NOUNS["person"]), "the", number)


def pronoun(names=PEOPLE, others=()):
    """One of the pronouns, picked by name, as a subject."""
    return subject_pronoun(pick(names, others))


person = one_of(*weighted({named: 2}, (relative_of, role)))
named_or_relative = one_of(named, relative_of)
subject = one_of(pronoun, person)
# Anybody but the speaker and the hearer.
third_party = either(0.4, lambda: pronoun("he she they"), person)


def other_than(who):
    """The name of a pronoun for somebody else than the subject."""
    return pick([x for x in listed(PEOPLE) if x not in OWN.get(who.pronoun, ())])


def fitting(noun, before=None):
    """An adjective that suits a noun, if there is one."""
    suits = (x for x in lexicon.ADJECTIVES if any(c in x.suits for c in noun.adjectives))
    pool = [x for x in suits if before in (None, x.before)]
    return pick(pool) if pool else None


def noun_of(classes):
    """A noun out of the given classes."""
    return pick(lexicon.nouns_of(classes))


def described_noun(noun, kinds, described=0.0):
    """A noun with a drawn determiner and number, and an adjective with the given probability."""
    kind = pick(kinds)
    if kind == "my":
        kind = pick("I he she we you they")
    mass = noun.kind == "mass"
    number = 1 if mass else pick_number(0.3)
    kind = {"a": "some", "this": "the", "that": "the"}.get(kind, kind) if mass else kind
    return noun_phrase(noun, kind, number, [fitting(noun)] if chance(described) else ())
