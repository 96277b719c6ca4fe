"""What people do: verb phrases with sensible complements and fitting times."""

import lexicon
from clauses import clause, verb_phrase
from french import agree
from phrases import (
    DAY_FUTURE,
    DAY_PAST,
    described_noun,
    destination,
    family_member,
    fitting,
    future_time,
    habit,
    noun_phrase,
    past_time,
    place,
    present_time,
    read,
    subject_pronoun,
    town,
)
from words import Pair, pair

CONSTRUCTIONS = {}


"""Name to the function that draws one sentence of the construction."""


MOMENTARY = (
    "see",
    "hear",
    "know",
    "love",
    "understand",
    "find",
    "lose",
    "forget",
    "meet",
    "break",
    "admire",
    "keep",
)


LASTING_STATES = ("know", "love", "admire")


NOT_HABITUAL = (
    "lose",
    "break",
    "forget",
    "find",
    "build",
    "sell",
    "finish",
    "paint",
    "choose",
    "hide",
    "keep",
    "meet",
)


ACQUAINTANCES = ("friend", "neighbour", "teacher", "doctor", "child", "guest", "colleague")


OBJECTS_OF = [(v, c) for v, c in lexicon.TRANSITIVE if v.en not in LASTING_STATES]


def construction(name):
    """Register a sentence maker under its name."""

    def register(make):
        CONSTRUCTIONS[name] = make
        return make

    return register


def owner_of(phrase):
    """The possessive that refers back to a noun phrase."""
    by_person = {0: "I", 1: "thou", 3: "we", 4: "you", 5: "they"}
    return by_person.get(phrase.person) or ("he" if phrase.gender == "m" else "she")


def allowed(verb, tense):
    """Whether a verb goes with a tense."""
    if tense in ("progressive", "background"):
        return verb.en not in MOMENTARY
    if tense in ("present", "used"):
        return verb.en not in NOT_HABITUAL
    return True


def action(draw, who, tense="past", kinds=("the", "a", "own", "this"), described=0.2):
    """A transitive verb with an object."""
    while True:
        verb, classes = draw.pick(OBJECTS_OF)
        if allowed(verb, tense):
            return verb_phrase(verb, object_of(draw, who, classes, kinds, described))


def object_of(draw, who, classes, kinds=("the", "a", "own", "this"), described=0.2):
    """Something the classes allow; `own` is the subject's."""
    noun = draw.pick(lexicon.object_nouns(classes))
    if noun in lexicon.NOUNS["family"]:
        return family_member(draw, owner_of(who))
    if noun in lexicon.NOUNS["person"] and noun.en[0] not in ACQUAINTANCES:
        kinds = ("the", "this")
    if noun in lexicon.NOUNS["building"]:
        kinds = ("the", "this")
    kind = draw.pick(kinds)
    return described_noun(draw, noun, (owner_of(who) if kind == "own" else kind,), described)


def activity(draw, who, tense="past"):
    """Any verb phrase that makes sense for a person."""
    kind = draw.below(8)
    if kind < 5:
        return action(draw, who, tense)
    if kind == 5:
        return intransitive(draw)
    if kind == 6:
        return verb_phrase(draw.pick(lexicon.MOTION), destination(draw))
    return sport_or_music(draw)


def intransitive(draw):
    """A verb without an object, where one would do it."""
    verb, places = draw.pick(lexicon.INTRANSITIVE)
    return verb_phrase(verb, town(draw) if draw.chance(0.2) else place(draw, places))


def day_time(draw, tense):
    """A day, for what happens once a day."""
    if tense == "present":
        return habit(draw)
    return read(draw.pick(DAY_PAST if tense == "past" else DAY_FUTURE))


def sport_or_music(draw):
    """To play takes « à » for games and « de » for instruments."""
    if draw.chance(0.5):
        game = draw.pick(
            ("tennis le^tennis", "chess les^échecs", "football le^football", "cards les^cartes")
        )
        en, fr = game.split()
        article, noun = fr.split("^")
        return verb_phrase(PLAY, pair(f"{en}/g", f"à/G ^{article}/G {noun}/g"))
    en, article, fr = draw.pick(
        ("piano le piano", "guitar la guitare", "violin le violon", "flute la flûte")
    ).split()
    return verb_phrase(PLAY, pair(f"the/t {en}/g", f"de/G ^{article}/t {fr}/g"))


PLAY = lexicon.Verb("play", "jouer")


def time_for(draw, tense):
    """A time that suits a tense."""
    if tense in ("past", "background"):
        return past_time(draw)
    if tense in ("future", "near"):
        return future_time(draw)
    if tense == "progressive":
        return present_time(draw)
    return habit(draw)


TENSES = ("present", "progressive", "past", "past", "near", "future")


def told(draw, who, phrase, negation=None, tenses=TENSES, timed=0.5):
    """A statement in a tense that suits the verb, perhaps with a time.

    `read` looks the same in the present and in the past: a time must tell.
    """
    fitting_tenses = [x for x in tenses if allowed(phrase.verb, x)] or ["past"]
    tense = draw.pick(fitting_tenses)
    said = clause(who, phrase, tense, negation)
    settles = phrase.verb.en == "read" and tense in ("present", "past")
    return said + time_for(draw, tense) if settles or draw.chance(timed) else said


def statement(draw, who, phrase, negation=None, tenses=TENSES, timed=0.5):
    """A told event as a sentence."""
    return stop(told(draw, who, phrase, negation, tenses, timed))


def stop(meaning):
    """End a sentence with a full stop."""
    return pair("{a} .", "{a} .", a=meaning)


def asks(meaning):
    """End a sentence with a question mark."""
    return pair("{a} ?", "{a} ?", a=meaning)


def exclaims(meaning):
    """End a sentence with an exclamation mark."""
    return pair("{a} !", "{a} !", a=meaning)


def is_(who, predicate, tense="present", negation=None, adverb=Pair()):
    """A clause with to be."""
    return clause(who, verb_phrase(lexicon.BE, predicate), tense, negation, adverb)


def state(draw, who):
    """An adjective that says how somebody is."""
    item = draw.pick(lexicon.STATES)
    return pair(f"{item.en}/a", f"{agree(item.fr, who.gender, who.number)}/a")


def quality(draw, phrase, noun):
    """An adjective that says what a thing is like."""
    item = fitting(draw, noun)
    return pair(f"{item.en}/a", f"{agree(item.fr, phrase.gender, phrase.number)}/a")


def known_thing(
    draw, classes=("thing", "garment", "vehicle", "text", "furniture"), kinds=("the", "my", "this")
):
    """A thing that is talked about, with its noun."""
    noun = draw.pick(lexicon.object_nouns(classes))
    return described_noun(draw, noun, kinds, 0.0), noun


def intensity(draw):
    """`very` and its like, before an adjective; often nothing."""
    if draw.chance(0.5):
        return Pair()
    return pair(*draw.pick((("very/a", "très/a"), ("too/a", "trop/a"), ("really/a", "vraiment/a"))))


# --- Who and what is spoken of ---------------------------------------------


def definite(draw, who, tense="future"):
    """An action whose object can stand under a negation."""
    return action(draw, who, tense, ("the", "own", "this"))


def pronoun_again(who):
    """The pronoun that takes a subject up again."""
    if who.pronoun:
        return subject_pronoun(name_of(who))
    if who.number == 2:
        return subject_pronoun("they_f" if who.gender == "f" else "they")
    return subject_pronoun("he" if who.gender == "m" else "she")


def name_of(who):
    """The name of the pronoun that agrees like a noun phrase."""
    return {
        0: "I",
        1: "thou",
        2: "he" if who.gender == "m" else "she",
        3: "we",
        4: "you",
        5: "they",
    }[who.person]


PERSON_VERBS = (
    ("see", "voir"),
    ("know", "connaître"),
    ("help", "aider"),
    ("invite", "inviter"),
    ("hear", "entendre"),
    ("meet", "rencontrer"),
    ("wait for", "attendre"),
    ("look for", "chercher"),
    ("understand", "comprendre"),
    ("admire", "admirer"),
    ("listen to", "écouter"),
    ("look at", "regarder"),
    ("thank", "remercier"),
)


def person_verb(draw, lasting=True):
    """A verb done to people, with its particle; `lasting` allows verbs of state."""
    en, fr = draw.pick([x for x in PERSON_VERBS if lasting or x[0] not in ("know", "admire")])
    head, _, particle = en.partition(" ")
    return lexicon.Verb(head, fr, particle)


def other_than(draw, who, names=("I", "he", "she", "we", "you", "they")):
    """A pronoun for somebody else than the subject."""
    if not who.pronoun or who.person in (2, 5):
        return draw.pick(names)
    first, second = ("I", "we"), ("you", "thou")
    own = first if who.person in (0, 3) else second
    return draw.pick([x for x in names if x not in own])


ITEM_VERBS = {
    "thing": "find=trouver,lose=perdre,buy=acheter,sell=vendre,see=voir,forget=oublier,hide=cacher",
    "garment": "wash=laver,lose=perdre,buy=acheter,find=trouver,wear=porter",
    "vehicle": "wash=laver,repair=réparer,sell=vendre,buy=acheter,see=voir",
    "text": "read=lire,finish=finir,translate=traduire,find=trouver,lose=perdre,understand=comprendre",
    "fruit": "eat=manger,buy=acheter,wash=laver,cut=couper",
    "furniture": "sell=vendre,buy=acheter,clean=nettoyer,repair=réparer",
}


def named_item(draw, kinds=("the", "this", "I", "you")):
    """A thing that a pronoun can take up, and a verb done to it."""
    kind = draw.pick(tuple(ITEM_VERBS))
    noun = draw.pick(lexicon.NOUNS[kind])
    what = noun_phrase(noun, draw.pick(kinds), 2 if draw.chance(0.4) else 1)
    verb = lexicon.verb(draw.pick(ITEM_VERBS[kind].split(",")))
    return what, noun, verb


def capital(said):
    """The same with a capital on both sides, for a second sentence."""

    def raised(words):
        first = words[0]
        return (
            type(first)(
                first.text[0].upper() + first.text[1:], first.strong, first.weak, first.adnominal
            ),
            *words[1:],
        )

    return Pair(raised(said.en), raised(said.fr))


NOTHING_VERBS = (
    "eat=manger",
    "buy=acheter",
    "see=voir",
    "hear=entendre",
    "understand=comprendre",
    "find=trouver",
    "choose=choisir",
    "forget=oublier",
    "drink=boire",
    "order=commander",
    "say=dire",
)


NOBODY_VERBS = (
    "see=voir",
    "know=connaître",
    "help=aider",
    "invite=inviter",
    "hear=entendre",
    "meet=rencontrer",
)
