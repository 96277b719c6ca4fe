"""Constructions that join clauses or verbs: relatives, subordinates, infinitives, passive."""

import english
import lexicon
from clauses import clause, gerund, infinitive, ing, question, verb_phrase
from nominal import spot
from events import (
    action,
    activity,
    allowed,
    asks,
    construction,
    definite,
    is_,
    known_thing,
    named_item,
    person_verb,
    pronoun_again,
    quality,
    state,
    stop,
    time_for,
)
from french import agree, participle
from phrases import (
    NounPhrase,
    destination,
    direct,
    named,
    noun_phrase,
    person,
    place,
    relative_of,
    role,
    subject,
    subject_pronoun,
    third_party,
)
from words import Pair, pair

# --- Infinitives ----------------------------------------------------------


def followed(verb, inner, person_index, preposition="", negated=False):
    """A verb that takes `to` and an infinitive."""
    link = f"{preposition}/p" if preposition else ""
    to = pair(
        "to/pV {i}" if preposition else "to/V {i}",
        f"{link} {{i}}",
        {"v": inner.meaning},
        i=infinitive(inner, person_index, negated),
    )
    return verb_phrase(verb, to)


def _plain(verb):
    return lexicon.Verb(verb.en, verb.fr, auxiliary=verb.auxiliary)


def taking(draw, verbs, tenses):
    """A sentence with one of the verbs and an infinitive."""
    who = subject(draw)
    verb = draw.pick(verbs)
    inner = (
        activity(draw, who, "future")
        if draw.chance(0.75)
        else verb_phrase(draw.pick(lexicon.REFLEXIVE))
    )
    phrase = followed(_plain(verb), inner, who.person, verb.preposition)
    tense = draw.pick(tenses)
    negation = "not" if draw.chance(0.15) else None
    return stop(clause(who, phrase, tense, negation))


@construction("infinitive with à")
def infinitive_a(draw):
    return taking(draw, lexicon.WITH_A, ("past", "past", "near", "future"))


@construction("infinitive with de")
def infinitive_de(draw):
    return taking(draw, lexicon.WITH_DE, ("past", "past", "near", "future"))


WISHES = (
    lexicon.Verb("want", "vouloir"),
    lexicon.Verb("like", "aimer"),
    lexicon.Verb("hope", "espérer"),
    lexicon.Verb("prefer", "préférer"),
)


@construction("want, like and hope with an infinitive")
def wishing(draw):
    who = subject(draw)
    inner = activity(draw, who, "future")
    if draw.chance(0.3):
        phrase = followed(lexicon.Verb("like", "vouloir"), inner, who.person)
        return stop(clause(who, phrase, "conditional"))
    verb = draw.pick(WISHES)
    tense = "present" if verb.en == "hope" else draw.pick(("present", "present", "imperfect"))
    negation = "not" if verb.en in ("want", "like") and draw.chance(0.3) else None
    if negation:
        inner = definite(draw, who)
    return stop(clause(who, followed(verb, inner, who.person), tense, negation))


@construction("want somebody to, with the subjunctive")
def want_somebody(draw):
    who, other_name = subject(draw), draw.pick(("I", "he", "she", "we", "you", "they"))
    want = lexicon.Verb("want", "vouloir")
    if draw.chance(0.5):
        other = person(draw)
        object_words = other.en
    else:
        while who.pronoun and other_name in _same(who):
            other_name = draw.pick(("I", "he", "she", "we", "you", "they"))
        other = subject_pronoun(other_name)
        object_words = direct(other_name).en
        object_words = tuple(type(x)(x.text, other.fr[0].strong) for x in object_words)
    inner = activity(draw, other, "future")
    wanted = clause(other, inner, "subjunctive")
    english = infinitive(inner)
    tail = pair(
        "{o} to/V {e}",
        "que/V {f}",
        {"v": inner.meaning},
        o=Pair(en=object_words),
        e=Pair(en=english.en),
        f=Pair(fr=wanted.fr),
    )
    tense = draw.pick(("present", "present", "imperfect"))
    return stop(clause(who, verb_phrase(want, tail), tense, "not" if draw.chance(0.25) else None))


def _same(who):
    return {0: ("I", "we"), 3: ("I", "we"), 4: ("you",)}.get(who.person, ())


@construction("before and without doing")
def before_without(draw):
    who = subject(draw)
    first = action(draw, who)
    second = definite(draw, who)
    link, link_fr = draw.pick(
        (
            ("before/b", "avant/b de/B"),
            ("without/b", "sans/b"),
            ("instead/b of/B", "au/B lieu/b de/B"),
        )
    )
    tense = draw.pick(("past", "near", "future"))
    if first.verb.en == "read":
        tense = "near"
    said = clause(who, first, tense)
    return stop(pair(f"{{a}} {link} {{b}}", f"{{a}} {link_fr} {{b}}", a=said, b=ing(second)))


@construction("purpose with pour")
def purpose(draw):
    who = subject(draw)
    go = verb_phrase(lexicon.verb("go=aller"), destination(draw))
    aim = _errand(draw, who)
    said = clause(who, go, draw.pick(("past", "near", "future")))
    return stop(
        pair("{a} to/V {b}", "{a} pour/V {b}", {"v": aim.meaning}, a=said, b=infinitive(aim))
    )


ERRANDS = ("buy", "see", "help", "meet", "invite", "look", "wait")


def _errand(draw, who):
    while True:
        phrase = action(draw, who, "future")
        if phrase.verb.en in ERRANDS:
            return phrase


@construction("while doing, with the gerund")
def while_doing(draw):
    who = subject(draw)
    main = draw.pick(
        (
            verb_phrase(lexicon.Verb("sing", "chanter")),
            verb_phrase(lexicon.Verb("smile", "sourire")),
            verb_phrase(lexicon.Verb("laugh", "rire")),
            verb_phrase(lexicon.Verb("cry", "pleurer")),
            verb_phrase(lexicon.Verb("dance", "danser")),
            action(draw, who, "background", ("the", "own")),
        )
    )
    while True:
        second = activity(draw, who, "background")
        if allowed(second.verb, "background"):
            break
    tense = draw.pick(("present", "past", "background", "future"))
    if main.verb.en == "read" or not allowed(main.verb, "present"):
        tense = "background"
    return stop(clause(who, main, tense) + gerund(second, who.person))


@construction("make somebody do, with faire")
def causative(draw):
    who = third_party(draw)
    name = draw.pick(("I", "he", "she", "we", "you", "they"))
    verb, verb_fr = draw.pick(
        (
            "laugh rire",
            "cry pleurer",
            "wait attendre",
            "work travailler",
            "smile sourire",
            "dance danser",
            "sing chanter",
            "sleep dormir",
        )
    ).split()
    make = lexicon.Verb("make", "faire")
    tense = draw.pick(("present", "past", "future", "can"))
    said = pair(f"{verb}/a", f"{verb_fr}/a")
    if draw.chance(0.5):
        pronoun = direct(name)
        pronoun = type(pronoun)(pronoun.en, pronoun.fr, pronoun.rank)
        phrase = verb_phrase(make, pronoun, said)
    else:
        other = person(draw)
        phrase = verb_phrase(make, pair(f"{{o}} {verb}/a", f"{verb_fr}/a {{o}}", o=other))
    return stop(
        clause(who, phrase, tense, "not" if draw.chance(0.2) else None)
        + (time_for(draw, tense) if tense in ("past", "future") and draw.chance(0.4) else Pair())
    )


@construction("have something done, with faire")
def have_done(draw):
    who = subject(draw)
    verb, verb_pp, verb_fr, classes = draw.pick(
        (
            ("repair", "repaired", "réparer", ("vehicle", "furniture")),
            ("wash", "washed", "laver", ("vehicle", "garment")),
            ("clean", "cleaned", "nettoyer", ("furniture", "garment")),
            ("paint", "painted", "peindre", ("opening", "furniture")),
            ("build", "built", "construire", ("building",)),
            ("translate", "translated", "traduire", ("text",)),
        )
    )
    noun = draw.pick(lexicon.object_nouns(classes))
    what = noun_phrase(
        noun,
        draw.pick(("the", "this", "I" if who.person == 0 else "the")),
        2 if draw.chance(0.3) else 1,
    )
    tense = draw.pick(("past", "near", "future", "must"))
    phrase = verb_phrase(
        lexicon.Verb("have", "faire"), pair(f"{{w}} {verb_pp}/a", f"{verb_fr}/a {{w}}", w=what)
    )
    said = clause(who, phrase, tense)
    return stop(said + time_for(draw, tense) if tense != "must" and draw.chance(0.5) else said)


# --- Passive --------------------------------------------------------------


@construction("passive")
def passive(draw):
    verb, classes, doers = draw.pick(
        (
            ("write=écrire", ("text",), ("writer", "student", "teacher", "girl")),
            ("build=construire", ("building",), ("engineer", "farmer")),
            ("repair=réparer", ("vehicle", "furniture"), ("engineer", "neighbour", "farmer")),
            (
                "sell=vendre",
                ("vehicle", "building", "furniture"),
                ("farmer", "neighbour", "lawyer"),
            ),
            ("find=trouver", ("thing", "garment"), ("policeman", "child", "tourist", "waiter")),
            ("read=lire", ("text",), ("teacher", "student", "lawyer")),
            ("invite=inviter", ("person",), ("singer", "writer", "doctor")),
            ("eat=manger", ("fruit",), ("child", "guest", "boy")),
            ("close=fermer", ("opening",), ("waiter", "policeman", "teacher")),
            ("visit=visiter", ("building",), ("tourist", "student")),
        )
    )
    en, fr = verb.split("=")
    noun = draw.pick(lexicon.object_nouns(classes))
    what = noun_phrase(noun, draw.pick(("the", "this")), 2 if draw.chance(0.35) else 1)
    form = agree(participle(fr), noun.gender, what.number)
    done = pair(f"{english.participle(en)}/a", f"{form}/a")
    doer = (
        named(draw)
        if draw.chance(0.3)
        else noun_phrase(
            lexicon.SINGLE_NOUNS[draw.pick(doers)], "the", 2 if draw.chance(0.3) else 1
        )
    )
    agent = pair("by/b {d}", "par/b {d}", d=doer) if draw.chance(0.75) else Pair()
    tense = draw.pick(("perfect", "future", "past"))
    negation = "not" if draw.chance(0.15) else None
    said = is_(what, done + agent, tense, negation)
    when = time_for(draw, tense) if tense != "perfect" and draw.chance(0.5) else Pair()
    return stop(said + when)


# --- Relative clauses -----------------------------------------------------


def who_subject_relative(draw, head, human):
    """A head with a relative whose subject it is: « qui »."""
    link = pair("who/r" if human else "that/r", "qui/r")
    who = NounPhrase(link.en, link.fr, head.person, head.number, head.gender)
    if human:
        phrase, tense = activity(draw, who), draw.pick(("past", "future", "can", "progressive"))
        if not allowed(phrase.verb, tense):
            tense = "past"
        return _headed(head, clause(who, phrase, tense))
    return _headed(head, is_(who, spot(draw), "present"))


def _headed(head, relative):
    joined = head + relative
    return NounPhrase(joined.en, joined.fr, head.person, head.number, head.gender)


@construction("relative with qui")
def relative_qui(draw):
    if draw.chance(0.6):
        head = role(draw)
        described = who_subject_relative(draw, head, True)
        if draw.chance(0.5):
            return stop(is_(described, state(draw, described), draw.pick(("present", "imperfect"))))
        tense = draw.pick(("past", "near", "present"))
        verb = person_verb(draw)
        if verb.en in ("know", "admire"):
            tense = "present"
        return stop(clause(subject(draw), verb_phrase(verb, described), tense))
    head, noun = known_thing(draw, ("thing", "garment", "text"), ("the",))
    described = who_subject_relative(draw, head, False)
    return stop(is_(described, quality(draw, described, noun)))


@construction("relative with que")
def relative_que(draw):
    who = subject(draw)
    described, noun = object_relative(draw, who)
    if draw.chance(0.6):
        return stop(
            is_(described, quality(draw, described, noun), draw.pick(("present", "imperfect")))
        )
    phrase = verb_phrase(lexicon.Verb("find", "trouver"), described)
    return stop(clause(subject(draw), phrase, "past"))


def object_relative(draw, who, negation=None):
    """`the book that he reads`: « que » and agreement of the participle."""
    head, noun, verb = named_item(draw, ("the",))
    link = pair("that/r", "que/r")
    tense = draw.pick(("past", "past", "near", "progressive"))
    if verb.en == "read" or not allowed(verb, tense):
        tense = "perfect" if verb.en == "read" else "past"
    phrase = verb_phrase(verb, agreement=(noun.gender, head.number))
    return _headed(head, link + clause(who, phrase, tense, negation)), noun


@construction("relative with dont")
def relative_dont(draw):
    who = subject(draw)
    phrase = draw.pick((_needed, _talked_about, _dreamt_of, _feared))()
    tense = draw.pick(
        ("present", "imperfect") if phrase.verb.fr == "avoir" else ("past", "progressive")
    )
    link = pair("that/r", "dont/r")
    if phrase.verb.en == "be":
        head = noun_phrase(draw.pick(lexicon.NOUNS["animal"]), "the", 2 if draw.chance(0.3) else 1)
        described = _headed(head, link + clause(who, phrase, tense))
        return stop(
            is_(
                described,
                place(draw, ("garden", "park", "street", "forest", "kitchen")),
                draw.pick(("present", "imperfect")),
            )
        )
    head, noun = known_thing(draw, ("thing", "text", "garment", "vehicle"), ("the",))
    described = _headed(head, link + clause(who, phrase, tense))
    return stop(is_(described, quality(draw, described, noun)))


def _needed():
    phrase = verb_phrase(lexicon.Verb("need", "avoir"))
    return phrase.plus(pair("", "besoin/V", {"v": phrase.meaning}))


def _talked_about():
    return verb_phrase(lexicon.Verb("talk", "parler", "about"))


def _dreamt_of():
    return verb_phrase(lexicon.Verb("dream", "rêver", "of"))


def _feared():
    return verb_phrase(lexicon.Verb("be", "avoir"), pair("afraid/n of/N", "peur/n"))


@construction("relative with où")
def relative_where(draw):
    who = subject(draw)
    noun = lexicon.SINGLE_NOUNS[
        draw.pick(
            (
                "house",
                "flat",
                "school",
                "shop",
                "hotel",
                "restaurant",
                "village",
                "town",
                "farm",
                "hospital",
            )
        )
    ]
    head = noun_phrase(noun, draw.pick(("the", "this")))
    if draw.chance(0.6):
        verb = draw.pick(
            (
                lexicon.Verb("live", "habiter"),
                lexicon.Verb("work", "travailler"),
                lexicon.Verb("eat", "manger"),
            )
        )
        tense = draw.pick(("present", "used"))
        inner = clause(who, verb_phrase(verb), tense)
    else:
        inner = clause(who, action(draw, who, "past", ("the", "own")), "perfect")
    described = _headed(head, pair("where/w {c}", "où/w {c}", c=inner))
    if draw.chance(0.5):
        return stop(is_(described, quality(draw, described, noun)))
    verb = lexicon.Verb(*draw.pick(("know connaître", "see voir", "visit visiter")).split())
    tense = "present" if verb.en == "know" else draw.pick(("past", "future"))
    return stop(clause(subject(draw), verb_phrase(verb, described), tense))


@construction("cleft with c'est … qui")
def cleft(draw):
    who = draw.pick((named, relative_of))(draw)
    link = pair("who/r", "qui/r")
    subject_ = NounPhrase(link.en, link.fr, 2, 1, who.gender)
    phrase = activity(draw, subject_)
    tense = draw.pick(("past", "future"))
    inner = clause(subject_, phrase, tense)
    when = time_for(draw, tense) if draw.chance(0.3) else Pair()
    return stop(pair("it/A is/a {x} {c} {t}", "ce/a est/a {x} {c} {t}", x=who, c=inner, t=when))


# --- Subordinate clauses --------------------------------------------------


@construction("when with the future in both clauses")
def when_future(draw):
    first = third_party(draw)
    second = another(draw, first)
    arrival = _arrival(draw)
    main = clause(second, activity(draw, second, "future"), "future")
    english = clause(first, arrival, "present")
    french = clause(first, arrival, "future")
    return stop(
        pair(
            "when/w {a} , {b}",
            "quand/w {f} , {b}",
            a=Pair(en=english.en),
            f=Pair(fr=french.fr),
            b=main,
        )
    )


def another(draw, first):
    """A subject that is not said in the same words as the first."""
    while True:
        second = subject(draw)
        if [x.text for x in second.en] != [x.text for x in first.en]:
            return second


def _arrival(draw):
    verbs = [
        x for x in lexicon.ARRIVAL if x.en in ("arrive", "leave") or x.particle in ("home", "out")
    ]
    if draw.chance(0.3):
        return verb_phrase(draw.pick(lexicon.REFLEXIVE[:2]))
    return verb_phrase(draw.pick(verbs))


@construction("because")
def because(draw):
    who = subject(draw)
    reason_for = pronoun_again(who)
    kind = draw.below(3)
    if kind == 0:
        said = clause(who, definite(draw, who), "past", "not")
        reason = is_(reason_for, state(draw, reason_for), "imperfect")
    elif kind == 1:
        said = is_(who, state(draw, who), "present")
        phrase = action(draw, reason_for)
        reason = clause(reason_for, phrase, "perfect", "not" if draw.chance(0.3) else None)
    else:
        said = clause(who, activity(draw, who, "near"), "near")
        reason = is_(
            reason_for, state(draw, reason_for), "present", "not" if draw.chance(0.3) else None
        )
    return stop(pair("{a} because/b {c}", "{a} parce/b que/b {c}", a=said, c=reason))


OPINIONS = (
    lexicon.Verb("think", "penser"),
    lexicon.Verb("know", "savoir"),
    lexicon.Verb("say", "dire"),
    lexicon.Verb("believe", "croire"),
    lexicon.Verb("hope", "espérer"),
)


@construction("that, which French never leaves out")
def that_clause(draw):
    who, other = subject(draw), subject(draw)
    verb = draw.pick(OPINIONS)
    inner = _opinion(draw, other)
    phrase = verb_phrase(verb)
    if draw.chance(0.6):
        content = pair("that/t {c}", "que/t {c}", c=inner)
    else:
        content = pair("{c}", "que/V {c}", {"v": phrase.meaning}, c=inner)
    return stop(clause(who, phrase.plus(content), "present"))


def _opinion(draw, other):
    if draw.chance(0.4):
        return is_(other, state(draw, other), draw.pick(("present", "imperfect", "future")))
    phrase = activity(draw, other)
    tense = draw.pick(("past", "future", "near", "can"))
    if phrase.verb.en == "read" and tense == "past":
        tense = "future"
    return clause(other, phrase, tense)


@construction("indirect question")
def indirect_question(draw):
    who, other = subject(draw), subject(draw)
    word_, fr = draw.pick(
        (("where/w", "où/w"), ("why/w", "pourquoi/w"), ("when/w", "quand/w"), ("if/w", "si/w"))
    )
    if word_ == "where/w":
        inner = draw.pick(
            (
                lambda: clause(
                    other,
                    verb_phrase(
                        lexicon.Verb(*draw.pick(("live habiter", "work travailler")).split())
                    ),
                    "present",
                ),
                lambda: is_(subject_pronoun(draw.pick(("he", "she", "they"))), Pair(), "present"),
                lambda: clause(other, action(draw, other), "past"),
            )
        )()
    else:
        phrase = activity(draw, other)
        tense = (
            draw.pick(("future", "near"))
            if phrase.verb.en == "read"
            else draw.pick(("past", "future", "near"))
        )
        inner = clause(other, phrase, tense)
    know = lexicon.Verb("know", "savoir")
    content = pair(f"{word_} {{c}}", f"{fr} {{c}}", c=inner)
    if draw.chance(0.4):
        asking = subject_pronoun(draw.pick(("you", "he", "she", "they")))
        return asks(question(asking, verb_phrase(know, content), "present"))
    return stop(
        clause(who, verb_phrase(know, content), "present", "not" if draw.chance(0.7) else None)
    )


@construction("coordination")
def coordination(draw):
    first = third_party(draw)
    second = another(draw, first)
    tense = draw.pick(("past", "future", "near"))
    a = clause(first, _unread(draw, first), tense)
    b = clause(second, _unread(draw, second), tense)
    link = draw.pick((("and/n", "et/n"), ("but/n", "mais/n")))
    return stop(pair(f"{{a}} , {link[0]} {{b}}", f"{{a}} , {link[1]} {{b}}", a=a, b=b))


def _unread(draw, who):
    while True:
        phrase = activity(draw, who)
        if phrase.verb.en != "read":
            return phrase
