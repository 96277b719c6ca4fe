"""Idioms and set phrases that do not match word for word."""

from dataclasses import replace

import english
import french
import lexicon
from clauses import clause, infinitive, question, verb_phrase
from events import (
    action,
    activity,
    allowed,
    asks,
    construction,
    day_time,
    definite,
    is_,
    known_thing,
    name_of,
    other_than,
    owner_of,
    state,
    stop,
    time_for,
)
from nominal import CONTAINERS
from occasions import usual_places
from phrases import (
    NounPhrase,
    OTHERS,
    PEOPLE,
    POSSESSIVES,
    adjective,
    at_home_of,
    counted,
    country,
    direct,
    future_time,
    habit,
    indirect,
    named,
    noun_phrase,
    past_time,
    person,
    place,
    present_time,
    read,
    relative_of,
    subject,
    subject_pronoun,
    town,
)
from words import Pair, concept, pair, word

# --- Idioms with avoir and être -------------------------------------------


HAVING = (
    "hungry/a|faim/a",
    "thirsty/a|soif/a",
    "cold/a|froid/a",
    "hot/a|chaud/a",
    "sleepy/a|sommeil/a",
    "right/a|raison/a",
    "wrong/a|tort/a",
    "lucky/a|de/A la/A chance/a",
    "ashamed/a|honte/a",
)


BEING = (
    "late/a|en/A retard/a",
    "early/a|en/A avance/a",
    "angry/a|en/A colère/a",
    "on/A time/a|à/A l'heure/a",
    "on/A holiday/a|en/A vacances/a",
)


@construction("to be hungry, right or afraid, with avoir")
def having(draw):
    who = subject(draw)
    be = lexicon.Verb("be", "avoir")
    tense = draw.pick(("present", "present", "imperfect", "future"))
    negation = draw.pick((None, None, "not", "never"))
    if draw.chance(0.35):
        animal = noun_phrase(draw.pick(lexicon.NOUNS["animal"]), "general", 2)
        phrase = verb_phrase(be, pair("afraid/a of/b {x}", "peur/a de/b {x}", x=animal))
        return stop(clause(who, phrase, tense, negation))
    idiom = draw.pick(HAVING)
    if negation and "chance" in idiom:
        negation = None
    phrase = verb_phrase(be, read(idiom))
    if draw.chance(0.25) and who.pronoun not in ("je", "tu", "") and tense == "present":
        return asks(question(who, phrase, tense))
    return stop(clause(who, phrase, tense, negation))


@construction("to be late or angry, with être en")
def being(draw):
    who = subject(draw)
    idiom = draw.pick(BEING)
    tense = draw.pick(("present", "imperfect", "future"))
    negation = "not" if draw.chance(0.3) else None
    said = is_(who, read(idiom), tense, negation)
    when = {"present": present_time, "imperfect": past_time, "future": future_time}[tense](draw)
    return stop(said + when if draw.chance(0.5) else said)


HELPERS = ("doctor", "teacher", "lawyer", "engineer", "friend", "baker")


@construction("to need, with avoir besoin de")
def need(draw):
    who = subject(draw)
    if draw.chance(0.3):
        inner = action(draw, who, "future")
        phrase = verb_phrase(lexicon.Verb("need", "avoir"))
        tail = pair(
            "to/pV {i}",
            "besoin/N de/p {i}",
            {"v": inner.meaning, "n": phrase.meaning},
            i=infinitive(inner, who.person),
        )
        return stop(clause(who, phrase.plus(tail), draw.pick(("present", "imperfect"))))
    classes = draw.pick((("food", "drink"), ("thing", "garment", "vehicle"), HELPERS))
    noun = draw.pick(lexicon.object_nouns(classes))
    kind = draw.pick(("the", "my", "a")) if noun.kind != "mass" else draw.pick(("the", "partitive"))
    if classes is HELPERS:
        kind = "a"
    kind = "I" if kind == "my" else kind
    phrase = verb_phrase(lexicon.Verb("need", "avoir"))
    number = 1 if noun.kind == "mass" or draw.chance(0.7) else 2
    tail = pair(
        "{x}", "besoin/V de/V {x}", {"v": phrase.meaning}, x=noun_phrase(noun, kind, number)
    )
    tense = draw.pick(("present", "imperfect", "future"))
    return stop(
        clause(who, phrase.plus(tail), tense, "not" if draw.chance(0.2) and kind != "a" else None)
    )


BODY = (
    "head tête f",
    "back dos m",
    "throat gorge f",
    "foot pied m",
    "hand main f",
    "leg jambe f",
    "stomach ventre m",
    "arm bras m",
    "knee genou m",
)


@construction("parts of the body that hurt")
def hurting(draw):
    part, fr, gender = draw.pick(BODY).split()
    article = "le" if gender == "m" else "la"
    name = draw.pick(("I", "he", "she", "you"))
    tense = draw.pick(("present", "imperfect"))
    sufferer = subject_pronoun(name)
    have = french.finite("avoir", tense, sufferer.person)
    hurts = "hurts/v" if tense == "present" else "was/V hurting/v"
    said = pair(
        f"{POSSESSIVES[name][0]}/s {part}/p {hurts}",
        f"{sufferer.pronoun}/s {have}/V mal/v à/V ^{article}/P {fr}/p",
    )
    when = {"present": habit, "imperfect": past_time}[tense](draw)
    return stop(said + when if draw.chance(0.7) else said)


GROOMING = (
    "wash laver hands les mains",
    "wash laver face le visage",
    "wash laver hair les cheveux",
    "brush brosser teeth les dents",
    "brush brosser hair les cheveux",
    "break casser leg la jambe",
    "break casser arm le bras",
)


@construction("reflexive with parts of the body")
def body_reflexive(draw):
    verb, fr, part, article, noun = draw.pick(GROOMING).split()
    broken = verb == "break"
    who = subject_pronoun(draw.pick(("I", "he", "she", "you"))) if broken else subject(draw)
    washing = lexicon.Verb(verb, fr, reflexive=True, auxiliary="être")
    own = POSSESSIVES[owner_of(who)][0]
    phrase = verb_phrase(
        washing, pair(f"{own}/d {part}/p", f"{article}/d {noun}/p"), reflexive_agrees=False
    )
    tense = "past" if broken else draw.pick(("past", "present", "future", "near"))
    negation = "not" if draw.chance(0.15) and not broken else None
    when = (past_time if broken else lambda d: day_time(d, tense))(draw)
    said = clause(who, phrase, tense, negation)
    return stop(said + when if draw.chance(0.7) else said)


def crossed(who, verb, liked, tense):
    """A verb whose French subject is the English object: `I miss you`, « vous me manquez »."""
    meaning, person_index = concept(), liked.person
    en, fr = verb
    form = {
        "present": english.finite(en, "present", who.person),
        "imperfect": english.finite(en, "past", who.person),
        "future": en,
    }[tense]
    will = (word("will", weak=[meaning]),) if tense == "future" else ()
    finite = word(french.finite(fr, tense, person_index), [meaning])
    spoken = (*who.en, *will, word(form, [meaning]), *_as_object(liked))
    if who.pronoun:
        dative = replace(who.fr[0], text=indirect(name_of(who)).fr.text)
        return Pair(spoken, (*liked.fr, dative, finite))
    return Pair(spoken, (*liked.fr, finite, word("à", weak=[meaning]), *who.fr))


def _as_object(liked):
    """The English object that is the French subject."""
    if not liked.pronoun:
        return liked.en
    return (replace(liked.en[0], text=direct(name_of(liked)).en[0].text),)


@construction("to miss somebody, with manquer")
def missing(draw):
    who = subject(draw)
    tense = draw.pick(("present", "present", "imperfect", "future"))
    missed = draw.pick((_anybody_else, named, relative_of, _country))
    missed = missed(draw, who) if missed is _anybody_else else missed(draw)
    return stop(crossed(who, ("miss", "manquer"), missed, tense))


def _anybody_else(draw, who):
    return subject_pronoun(other_than(draw, who))


def _country(draw):
    en, fr, _, article, gender = draw.pick(lexicon.COUNTRIES.strip().split("\n")).split()
    name = pair(f"{en}/a", f"^{article}/A {fr}/a")
    return NounPhrase(name.en, name.fr, 2, 1, gender)


@construction("to like this or that, with plaire")
def pleasing(draw):
    who = subject_pronoun(draw.pick(PEOPLE)) if draw.chance(0.6) else person(draw)
    what, _ = known_thing(
        draw,
        ("garment", "building", "abstract", "vehicle", "text", "keepsake"),
        ("this", "that", "you", "she"),
    )
    return stop(crossed(who, ("like", "plaire"), what, draw.pick(("present", "future"))))


# English verb, French verb, and their objects.
SET_PHRASES = (
    ("pay", "faire", "attention/a", "attention/a"),
    ("take", "faire", "a/A walk/a", "une/A promenade/a"),
    ("do", "faire", "the/b dishes/a", "la/b vaisselle/a"),
    ("do", "faire", "the/b shopping/a", "les/b courses/a"),
    ("take", "faire", "a/A nap/a", "une/A sieste/a"),
    ("have", "prendre", "breakfast/a", "le/A petit/A déjeuner/a"),
    ("take", "prendre", "a/b photo/a", "une/b photo/a"),
    ("take", "prendre", "the/b train/a", "le/b train/a"),
    ("ask", "poser", "a/b question/a", "une/b question/a"),
    ("tell", "dire", "the/b truth/a", "la/b vérité/a"),
    ("waste", "perdre", "time/a", "du/A temps/a"),
    ("keep", "garder", "a/b secret/a", "un/b secret/a"),
    ("make", "faire", "the/b bed/a", "le/b lit/a"),
)


@construction("set phrase with faire, prendre and others")
def set_phrase(draw):
    en, fr, tail, tail_fr = draw.pick(SET_PHRASES)
    who = subject(draw)
    phrase = verb_phrase(lexicon.verb(f"{en}={fr}"), pair(tail, tail_fr))
    if draw.chance(0.2):
        return asks(
            question(
                subject_pronoun(draw.pick(OTHERS + ("you",))),
                phrase,
                draw.pick(("past", "near", "future")),
            )
        )
    tense = draw.pick(("present", "past", "near", "future", "must"))
    said = clause(who, phrase, tense)
    when = time_for(draw, tense) if tense != "must" and draw.chance(0.6) else Pair()
    return stop(said + when)


COLOURFUL = (
    ("sleep", "dormir", "like/l a/a log/b", "comme/l un/a loir/b"),
    ("eat", "manger", "like/l a/B horse/b", "comme/l quatre/b"),
    ("sing", "chanter", "like/l a/a bird/b", "comme/l un/a rossignol/b"),
    ("smoke", "fumer", "like/l a/a chimney/b", "comme/l un/a pompier/b"),
    ("work", "travailler", "like/l a/a dog/b", "comme/l une/a bête/b"),
    ("spill", "vendre", "the/t beans/b", "la/t mèche/b"),
    ("feel", "avoir", "blue/b", "le/B cafard/b"),
)


@construction("colourful idiom")
def colourful(draw):
    en, fr, tail, tail_fr = draw.pick(COLOURFUL)
    who = subject(draw)
    tense = draw.pick(("present", "past", "future", "near", "used"))
    if en == "feel":
        tense = draw.pick(("present", "imperfect", "future"))
    if en == "spill":
        tense = draw.pick(("past", "future", "near"))
    phrase = verb_phrase(lexicon.verb(f"{en}={fr}"), pair(tail, tail_fr))
    said = clause(who, phrase, tense)
    timing = {"imperfect": past_time}.get(tense, lambda d: time_for(d, tense))
    return stop(said + timing(draw) if draw.chance(0.5) else said)


# --- Places, manner, politeness -------------------------------------------


@construction("places: à, en, au and chez")
def places(draw):
    who = subject(draw)
    verb = draw.pick(("live habiter", "work travailler", "be être", "stay rester")).split()
    where = draw.pick((town, country, at_home_of, town, country))(draw)
    phrase = verb_phrase(lexicon.verb("=".join(verb)), where)
    tense = (
        draw.pick(("present", "future", "imperfect"))
        if verb[0] == "be"
        else draw.pick(("present", "future", "used"))
    )
    return stop(clause(who, phrase, tense, "not" if draw.chance(0.2) and tense != "used" else None))


FREQUENCY = (
    "often/a|souvent/a",
    "always/a|toujours/a",
    "sometimes/a|parfois/a",
    "rarely/a|rarement/a",
    "still/a|encore/a",
    "already/a|déjà/a",
    "also/a|aussi/a",
)


@construction("adverb after the verb")
def frequency(draw):
    who = subject(draw)
    entry = draw.pick(FREQUENCY)
    adverb = read(entry)
    if entry.startswith("already"):
        return stop(clause(who, action(draw, who), "perfect", adverb=adverb))
    if entry.startswith("also"):
        return stop(
            clause(who, action(draw, who), draw.pick(("perfect", "future", "near")), adverb=adverb)
        )
    while True:
        phrase = activity(draw, who, "present")
        if allowed(phrase.verb, "present") and phrase.verb.en != "read":
            break
    return stop(clause(who, phrase, "present", adverb=adverb))


MANNER = (
    "slowly/a|lentement/a",
    "quickly/a|vite/a",
    "carefully/a|avec/A soin/a",
    "together/a|ensemble/a",
    "well/a|bien/a",
    "badly/a|mal/a",
    "quietly/a|doucement/a",
    "hard/a|dur/a",
)


@construction("manner")
def manner(draw):
    who = subject(draw)
    verb, fr, ways = draw.pick(
        (
            ("walk", "marcher", "slowly quickly quietly"),
            ("speak", "parler", "slowly quickly quietly well badly"),
            ("drive", "conduire", "slowly quickly carefully well badly"),
            ("work", "travailler", "well hard slowly quickly carefully"),
            ("sing", "chanter", "well badly quietly"),
            ("eat", "manger", "slowly quickly well"),
            ("sleep", "dormir", "well badly"),
            ("dance", "danser", "well badly slowly"),
        )
    )
    way = draw.pick(ways.split())
    entry = next(x for x in MANNER if x.startswith(way + "/"))
    tense = draw.pick(("present", "future", "near", "can"))
    negation = "not" if draw.chance(0.25) else None
    degree = (
        pair("very/a", "très/a")
        if way in ("slowly", "quickly", "well", "badly", "quietly") and draw.chance(0.3)
        else Pair()
    )
    phrase = verb_phrase(lexicon.verb(f"{verb}={fr}"), degree + read(entry))
    if tense in ("present", "future") and draw.chance(0.5):
        where = place(draw, usual_places(verb)) if usual_places(verb) else Pair()
        phrase = phrase.plus(where)
    return stop(clause(who, phrase, tense, negation))


@construction("too and enough with pour")
def too_enough(draw):
    who = subject(draw)
    item = draw.pick(
        [
            x
            for x in lexicon.ADJECTIVES
            if x.en
            in (
                "young",
                "tired",
                "sick",
                "intelligent",
                "strong",
                "shy",
                "lazy",
                "rich",
                "old",
                "nervous",
            )
        ]
    )
    described = adjective(item, who.gender, who.number)
    while True:
        inner = definite(draw, who)
        if inner.verb.en not in ("lose", "break", "forget"):
            break
    to = pair("to/V {i}", "pour/V {i}", {"v": inner.meaning}, i=infinitive(inner, who.person))
    if item.en in ("young", "tired", "sick", "shy", "lazy", "old", "nervous"):
        predicate = pair("too/t {a} {i}", "trop/t {a} {i}", a=described, i=to)
    else:
        predicate = pair("{a} enough/t {i}", "assez/t {a} {i}", a=described, i=to)
    return stop(is_(who, predicate, draw.pick(("present", "imperfect"))))


@construction("tag question")
def tag(draw):
    who = subject_pronoun(draw.pick(("he", "she", "they", "we", "you")))
    kind = draw.below(3)
    if kind == 0:
        said, tense = is_(who, state(draw, who), "present"), "be"
    elif kind == 1:
        phrase, tense = activity(draw, who), "past"
        said = clause(who, phrase, "past")
        if phrase.verb.en == "read":
            said = said + past_time(draw)
    else:
        said, tense = clause(who, activity(draw, who, "future"), "future"), "future"
    pronoun = who.en[0].text
    be = "isn't" if who.person == 2 else "aren't"
    auxiliary = {"be": be, "past": "didn't", "future": "won't"}[tense]
    return asks(pair(f"{{s}} , {auxiliary}/t {pronoun}/T", "{s} , n'est-ce/t pas/t", s=said))


POLITE = (
    ("would/W you/y like/w", "voulez/w -vous/y"),
    ("can/w I/i have/h", "est-ce/W que/W je/i peux/w avoir/h"),
    ("I/i would/W like/w", "je/i voudrais/w"),
    ("do/A you/y have/a", "avez/a -vous/y"),
)


@construction("polite formula")
def polite(draw):
    index = draw.below(len(POLITE))
    en, fr = POLITE[index]
    noun = draw.pick(lexicon.object_nouns(("food", "drink", "fruit")))
    kind = "some" if noun.kind == "mass" else "a"
    what = noun_phrase(noun, kind, 1 if noun.kind == "mass" or draw.chance(0.5) else 2)
    if noun.kind == "mass" and draw.chance(0.4):
        group = "drink" if noun in lexicon.NOUNS["drink"] else "food"
        what = counted(read(draw.pick(CONTAINERS[group])), noun, 1)
    said = pair(f"{en} {{x}}", f"{fr} {{x}}", x=what)
    please = pair(", please/a", ", s'il/A vous/A plaît/a") if draw.chance(0.5) and index else Pair()
    call = (
        pair(*draw.pick((("sir/a ,", "monsieur/a ,"), ("madam/a ,", "madame/a ,"))))
        if draw.chance(0.25)
        else Pair()
    )
    return (stop if index == 2 else asks)(call + said + please)
