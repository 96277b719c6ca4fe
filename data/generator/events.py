"""Events and states: verb phrases with sensible complements, and what is said of them."""

from functools import partial

import lexicon
from adverbials import destination, place, town
from clauses import clause, verb_phrase
from draw import below, chance, listed, pick, pick_number, rows
from phrases import (
    agreeing, described_noun, direct, fitting, name_of, noun_of, noun_phrase, other_than, relative_of,
)
from words import pair

MOMENTARY = listed("see hear love understand find lose forget meet break keep")
NOT_HABITUAL = listed("lose break forget find build sell finish paint choose hide keep meet")
STATES_OF_MIND = ("know", "admire")
ACQUAINTANCES = listed("friend neighbour teacher doctor child guest colleague")
OBJECTS_OF = [(v, c) for v, c in lexicon.TRANSITIVE if v.en not in ("know", "love", "admire")]
PERSON_VERBS = listed("""see know help invite hear meet wait_for look_for understand admire listen_to
    look_at=regarder thank""")
HANDLED = "thing garment vehicle text furniture"
ITEM_VERBS = {
    "thing": "find lose buy sell see forget hide", "garment": "wash lose buy find wear",
    "vehicle": "wash repair sell buy see", "text": "read finish translate find lose understand",
    "fruit": "eat buy wash cut=couper", "furniture": "sell buy clean repair",
}


def allowed(verb, tense):
    """True if a verb goes with a tense."""
    if verb.en in STATES_OF_MIND:
        return tense == "present"
    if tense in ("progressive", "background"):
        return verb.en not in MOMENTARY
    return tense not in ("present", "used") or verb.en not in NOT_HABITUAL


def action(who, tense="past", kinds="the a own this"):
    """A transitive verb with an object, in some tense that the verb allows."""
    while True:
        verb, classes = pick(OBJECTS_OF)
        if allowed(verb, tense):
            return verb_phrase(verb, object_of(who, classes, kinds))


# An action whose object can stand under a negation.
definite = partial(action, kinds="the own this")


def object_of(who, classes, kinds, described=0.2):
    """Something the classes allow; `own` is the subject's."""
    noun = noun_of(classes)
    if noun in lexicon.NOUNS["family"]:
        return relative_of(name_of(who))
    stranger = noun in lexicon.NOUNS["person"] and noun.en[0] not in ACQUAINTANCES
    kind = pick("the this" if stranger or noun in lexicon.NOUNS["building"] else kinds)
    return described_noun(noun, name_of(who) if kind == "own" else kind, described)


def activity(who, tense="past"):
    """Any verb phrase that makes sense for a person."""
    kind = below(8)
    if kind < 5:
        return action(who, tense)
    if kind == 5:
        verb, places = pick(lexicon.INTRANSITIVE)
        return verb_phrase(verb, town() if chance(0.2) else place(places))
    if kind == 6:
        return verb_phrase(pick(lexicon.MOTION), destination())
    # To play takes « à » for games and « de » for instruments.
    if chance(0.5):
        en, le, fr = pick(rows("tennis le tennis, chess les échecs, football le football, cards les cartes"))
        return verb_phrase("play", pair("{x}/g | à/G ^{le}/G {x}/g", x=(en, fr), le=le))
    en, le, fr = pick(rows("piano le piano, guitar la guitare, violin le violon, flute la flûte"))
    return verb_phrase("play", pair("the/t {x}/g | de/G ^{le}/t {x}/g", x=(en, fr), le=le))


def suitable(accepts, make, *arguments):
    """Result of `make`, as soon as its verb is an accepted one."""
    while True:
        phrase = make(*arguments)
        if accepts(phrase.verb):
            return phrase


def visible(who, make=activity, *tense):
    """A verb phrase whose English verb shows its tense: not `read`."""
    return suitable(lambda verb: verb.en != "read", make, who, *tense)


def person_verb(lasting=True):
    """A verb done to people; `lasting` allows states of mind."""
    return lexicon.verb(pick([x for x in PERSON_VERBS if lasting or x not in STATES_OF_MIND]))


def to_other(who, lasting=True):
    """Something done to somebody else, who is a pronoun."""
    verb = person_verb(lasting)
    return verb_phrase(verb, direct(other_than(who)))


def is_(who, predicate, tense="present", negation=""):
    """A clause with to be."""
    return clause(who, verb_phrase("be", predicate), tense, negation)


def state(who):
    """An adjective that says how somebody is."""
    return agreeing(pick(lexicon.STATES), who)


def quality(what):
    """An adjective that says what a thing is like."""
    return agreeing(fitting(what.noun), what)


def intense(adjective, what):
    """Often with `very` and its like before it."""
    intensity = pair("" if chance(0.5) else pick("very/a | très/a; too/a | trop/a; really/a | vraiment/a"))
    return intensity + adjective(what)


def known(classes, kinds="the my this"):
    """A thing that is talked about."""
    return described_noun(noun_of(classes), kinds)


def item(kinds="the this I you"):
    """A thing that a pronoun can take up."""
    noun = pick(lexicon.NOUNS[pick(tuple(ITEM_VERBS))])
    return noun_phrase(noun, pick(kinds), pick_number(0.4))


def item_verb(what):
    """Something done to such a thing."""
    verbs = next(verbs for kind, verbs in ITEM_VERBS.items() if what.noun in lexicon.NOUNS[kind])
    return lexicon.verb(pick(verbs))
