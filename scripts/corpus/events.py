"""What people do and how things are: verb phrases with sensible complements, and what is said of them."""

import lexicon
from adverbials import destination, place, town
from clauses import clause, verb_phrase
from draw import listed, rows
from phrases import (
    NOTHING, PEOPLE, agreeing, described_noun, direct, drawn_noun, fitting, name_of, noun_phrase, other_than,
    relative_of,
)
from words import pair

MOMENTARY = listed("see hear love understand find lose forget meet break keep")
NOT_HABITUAL = listed("lose break forget find build sell finish paint choose hide keep meet")
STATES_OF_MIND = ("know", "admire")
ACQUAINTANCES = listed("friend neighbour teacher doctor child guest colleague")
OBJECTS_OF = [(v, c) for v, c in lexicon.TRANSITIVE if v.en not in ("know", "love", "admire")]


def allowed(verb, tense):
    """Whether a verb goes with a tense."""
    if verb.en in STATES_OF_MIND:
        return tense == "present"
    if tense in ("progressive", "background"):
        return verb.en not in MOMENTARY
    return tense not in ("present", "used") or verb.en not in NOT_HABITUAL


# --- What people do -------------------------------------------------------


def action(draw, who, tense="past", kinds="the a own this"):
    """A transitive verb with an object, in some tense that the verb allows."""
    while True:
        verb, classes = draw.pick(OBJECTS_OF)
        if allowed(verb, tense):
            return verb_phrase(verb, object_of(draw, who, classes, kinds))


def definite(draw, who, tense="past"):
    """An action whose object can stand under a negation."""
    return action(draw, who, tense, "the own this")


def object_of(draw, who, classes, kinds, described=0.2):
    """Something the classes allow; `own` is the subject's."""
    noun = drawn_noun(draw, classes)
    if noun in lexicon.NOUNS["family"]:
        return relative_of(draw, name_of(who))
    stranger = noun in lexicon.NOUNS["person"] and noun.en[0] not in ACQUAINTANCES
    if stranger or noun in lexicon.NOUNS["building"]:
        kinds = "the this"
    kind = draw.pick(kinds)
    return described_noun(draw, noun, name_of(who) if kind == "own" else kind, described)


def activity(draw, who, tense="past"):
    """Any verb phrase that makes sense for a person."""
    kind = draw.below(8)
    if kind < 5:
        return action(draw, who, tense)
    if kind == 5:
        verb, places = draw.pick(lexicon.INTRANSITIVE)
        return verb_phrase(verb, town(draw) if draw.chance(0.2) else place(draw, places))
    if kind == 6:
        return verb_phrase(draw.pick(lexicon.MOTION), destination(draw))
    return playing(draw)


def visible(draw, who, make=activity, tense="past"):
    """A verb phrase whose English verb shows its tense: not `read`."""
    while True:
        phrase = make(draw, who, tense)
        if phrase.verb.en != "read":
            return phrase


def playing(draw):
    """To play takes « à » for games and « de » for instruments."""
    if draw.chance(0.5):
        en, le, fr = draw.pick(rows("tennis le tennis, chess les échecs, football le football, cards les cartes"))
        return verb_phrase("play", pair("{game}/g | à/G ^{le}/G {game}/g", game=(en, fr), le=le))
    en, le, fr = draw.pick(rows("piano le piano, guitar la guitare, violin le violon, flute la flûte"))
    return verb_phrase("play", pair("the/t {x}/g | de/G ^{le}/t {x}/g", x=(en, fr), le=le))


PERSON_VERBS = """
    see know help invite hear meet wait_for look_for understand admire listen_to look_at=regarder thank"""


def person_verb(draw, lasting=True):
    """A verb done to people; `lasting` allows states of mind."""
    return lexicon.verb(draw.pick([x for x in listed(PERSON_VERBS) if lasting or x not in STATES_OF_MIND]))


def to_other(draw, who, lasting=True, names=PEOPLE):
    """Something done to somebody else, who is a pronoun."""
    verb = person_verb(draw, lasting)
    return verb_phrase(verb, direct(other_than(draw, who, names)))


# --- Things and how they are ----------------------------------------------


def is_(who, predicate, tense="present", negation=""):
    """A clause with to be."""
    return clause(who, verb_phrase("be", predicate), tense, negation)


def state(draw, who):
    """An adjective that says how somebody is."""
    return agreeing(draw.pick(lexicon.STATES), who)


def quality(draw, phrase, noun):
    """An adjective that says what a thing is like."""
    return agreeing(fitting(draw, noun), phrase)


def intensity(draw):
    """`very` and its like, before an adjective; often nothing."""
    if draw.chance(0.5):
        return NOTHING
    return pair(draw.pick("very/a | très/a; too/a | trop/a; really/a | vraiment/a"))


HANDLED = "thing garment vehicle text furniture"


def known_thing(draw, classes, kinds="the my this"):
    """A thing that is talked about, with its noun."""
    noun = drawn_noun(draw, classes)
    return described_noun(draw, noun, kinds, 0.0), noun


ITEM_VERBS = {
    "thing": "find lose buy sell see forget hide",
    "garment": "wash lose buy find wear",
    "vehicle": "wash repair sell buy see",
    "text": "read finish translate find lose understand",
    "fruit": "eat buy wash cut=couper",
    "furniture": "sell buy clean repair",
}


def named_item(draw, kinds="the this I you"):
    """A thing that a pronoun can take up, and a verb done to it."""
    kind = draw.pick(tuple(ITEM_VERBS))
    noun = draw.pick(lexicon.NOUNS[kind])
    what = noun_phrase(noun, draw.pick(kinds), draw.number(0.4))
    return what, noun, lexicon.verb(draw.pick(ITEM_VERBS[kind]))
