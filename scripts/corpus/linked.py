"""Constructions that join clauses or verbs: relatives, subordinates, infinitives, passive."""

from dataclasses import replace

import english
import lexicon
from adverbials import destination, place, spot
from clauses import clause, gerund, infinitive, ing, question, read_phrase, verb_phrase
from constructions import AND, BECAUSE, BUT, asks, construction, declare, timed
from draw import listed
from events import (
    STATES_OF_MIND, action, activity, allowed, definite, is_, known_thing, named_item, person_verb, quality, state,
    visible,
)
from french import agree, participle
from phrases import (
    NOTHING, PEOPLE, PRONOUNS, as_noun, direct, drawn_noun, drawn_pronoun, named, named_or_relative, noun_phrase,
    perhaps, person, pronoun_again, role, subject, subject_pronoun, third_party,
)
from words import Pair, pair

# --- Infinitives ----------------------------------------------------------


def followed(verb, inner, person_index):
    """A verb that takes `to` and an infinitive, in French with the preposition it asks for or with none."""
    template = "to/pV {i} | {preposition}/p {i}" if verb.preposition else "to/V {i} | {i}"
    to = pair(template, v=inner.meaning, preposition=verb.preposition, i=infinitive(inner, person_index))
    return verb_phrase(verb._replace(preposition=""), to)


def taking(verbs):
    """What draws one of the verbs with an infinitive."""

    def draws(draw, who):
        verb = draw.pick(verbs)
        inner = activity(draw, who) if draw.chance(0.75) else verb_phrase(draw.pick(lexicon.REFLEXIVE))
        return followed(verb, inner, who.person)

    return draws


declare("infinitive with à", do=taking(lexicon.WITH_A), tense="past past near future", negation=0.15)
declare("infinitive with de", do=taking(lexicon.WITH_DE), tense="past past near future", negation=0.15)


@construction("want, like and hope with an infinitive")
def wishing(draw):
    who = subject(draw)
    inner = activity(draw, who)
    if draw.chance(0.3):
        return clause(who, followed(lexicon.verb("like=vouloir"), inner, who.person), "conditional")
    verb = lexicon.verb(draw.pick("want like hope prefer"))
    tense = "present" if verb.en == "hope" else draw.pick("present present imperfect")
    negation = "not" if verb.en in ("want", "like") and draw.chance(0.3) else ""
    if negation:
        inner = definite(draw, who)
    return clause(who, followed(verb, inner, who.person), tense, negation)


@construction("want somebody to, with the subjunctive")
def want_somebody(draw):
    who, name = subject(draw), draw.pick(PEOPLE)
    if draw.chance(0.5):
        other = person(draw)
    else:
        same = {0: ("I", "we"), 3: ("I", "we"), 4: ("you",)}.get(who.person, ())
        while who.pronoun and name in same:
            name = draw.pick(PEOPLE)
        other = subject_pronoun(name)
        other = replace(other, en=(replace(other.en[0], text=PRONOUNS[name].object),))
    inner = activity(draw, other)
    phrase = verb_phrase("want", pair("{c} | que/V {c}", v=inner.meaning, c=clause(other, inner, "subjunctive")))
    return clause(who, phrase, draw.pick("present present imperfect"), draw.negation(0.25))


@construction("before and without doing")
def before_without(draw):
    who = subject(draw)
    first, second = action(draw, who), definite(draw, who)
    link = draw.pick("before/b | avant/b de/B; without/b | sans/b; instead/b of/B | au/B lieu/b de/B")
    tense = draw.pick("past near future")
    said = clause(who, first, "near" if first.verb.en == "read" else tense)
    return said + pair(link) + ing(second)


ERRANDS = ("buy", "see", "help", "meet", "invite", "look", "wait")


@construction("purpose with pour")
def purpose(draw):
    who = subject(draw)
    go = verb_phrase("go", destination(draw))
    while True:
        aim = action(draw, who)
        if aim.verb.en in ERRANDS:
            break
    to = pair("to/V {aim} | pour/V {aim}", v=aim.meaning, aim=infinitive(aim))
    return clause(who, go, draw.pick("past near future")) + to


@construction("while doing, with the gerund")
def while_doing(draw):
    who = subject(draw)
    doing = action(draw, who, "background", "the own")
    main = draw.pick((*(verb_phrase(x) for x in ("sing", "smile", "laugh", "cry", "dance")), doing))
    second = activity(draw, who, "background")
    tense = draw.pick("present past background future")
    if main.verb.en == "read" or not allowed(main.verb, "present"):
        tense = "background"
    return clause(who, main, tense) + gerund(second, who.person)


# --- To have it done ------------------------------------------------------


@construction("make somebody do, with faire")
def causative(draw):
    who, name = third_party(draw), draw.pick(PEOPLE)
    verb = lexicon.verb(draw.pick("laugh cry wait work smile dance sing sleep"))
    tense = draw.pick("present past future can")
    said = pair("{verb}/a", verb=(verb.en, verb.fr))
    if draw.chance(0.5):
        phrase = verb_phrase("make=faire", replace(direct(name), agreement=None), said)
    else:
        phrase = verb_phrase("make=faire", pair("{other} {said} | {said} {other}", said=said, other=person(draw)))
    said = clause(who, phrase, tense, draw.negation(0.2))
    return timed(draw, said, tense, 0.4) if tense in ("past", "future") else said


DONE = lexicon.verbs_with("""
    repair: vehicle furniture, wash: vehicle garment, clean: furniture garment, paint: opening furniture,
    build: building, translate: text
""")


def having_done(draw, who):
    """To have somebody do something."""
    verb, classes = draw.pick(DONE)
    noun = drawn_noun(draw, classes)
    kind = draw.pick("the this I" if who.person == 0 else "the this the")
    what, done = noun_phrase(noun, kind, draw.number(0.3)), (english.participle(verb.en), verb.fr)
    return verb_phrase("have=faire", pair("{what} {done}/a | {done}/a {what}", what=what, done=done))


declare("have something done, with faire", do=having_done, tense="past near future must", time=0.5)

# What is done, to what, and by whom.
PASSIVES = listed("""
    write: text: writer student teacher girl; build: building: engineer farmer;
    repair: vehicle furniture: engineer neighbour farmer; sell: vehicle building furniture: farmer neighbour lawyer;
    find: thing garment: policeman child tourist waiter; read: text: teacher student lawyer;
    invite: person: singer writer doctor; eat: fruit: child guest boy;
    close: opening: waiter policeman teacher; visit: building: tourist student
""")


@construction("passive")
def passive(draw):
    verb, classes, doers = draw.pick(PASSIVES).split(":")
    verb, noun = lexicon.verb(verb), drawn_noun(draw, classes)
    what = noun_phrase(noun, draw.pick("the this"), draw.number(0.35))
    form = agree(participle(verb.fr), noun.gender, what.number)
    done = pair("{x}/a", x=(english.participle(verb.en), form))
    if draw.chance(0.3):
        doer = named(draw)
    else:
        doer = noun_phrase(lexicon.SINGLE_NOUNS[draw.pick(doers)], "the", draw.number(0.3))
    if draw.chance(0.75):
        done = done + pair("by/b {doer} | par/b {doer}", doer=doer)
    tense = draw.pick("perfect future past")
    return timed(draw, is_(what, done, tense, draw.negation(0.15)), tense, 0.5)


# --- Relative clauses -----------------------------------------------------


def relative_subject(head, word="who"):
    """The relative pronoun « qui », which agrees like its head."""
    link = pair("{word}/r | qui/r", word=word)
    return replace(head, en=link.en, fr=link.fr)


def _person_described(draw):
    """`the teacher who waited`."""
    head = role(draw)
    who = relative_subject(head)
    phrase, tense = activity(draw, who), draw.pick("past future can progressive")
    return head.followed(clause(who, phrase, tense if allowed(phrase.verb, tense) else "past"))


@construction("relative with qui")
def relative_qui(draw):
    if draw.chance(0.6):
        described = _person_described(draw)
        if draw.chance(0.5):
            return is_(described, state(draw, described), draw.pick("present imperfect"))
        tense, verb = draw.pick("past near present"), person_verb(draw)
        if verb.en in STATES_OF_MIND:
            tense = "present"
        return clause(subject(draw), verb_phrase(verb, described), tense)
    head, noun = known_thing(draw, "thing garment text", "the")
    described = head.followed(is_(relative_subject(head, "that"), spot(draw)))
    return is_(described, quality(draw, described, noun))


@construction("relative with que")
def relative_que(draw):
    who = subject(draw)
    head, noun, verb = named_item(draw, "the")
    tense = draw.pick("past past near progressive")
    if verb.en == "read":
        tense = "perfect"
    elif not allowed(verb, tense):
        tense = "past"
    phrase = verb_phrase(verb, agreement=(noun.gender, head.number))
    described = head.followed(pair("that/r {c} | que/r {c}", c=clause(who, phrase, tense)))
    if draw.chance(0.6):
        return is_(described, quality(draw, described, noun), draw.pick("present imperfect"))
    return clause(subject(draw), verb_phrase("find", described), "past")


WITH_DONT = """
    need=avoir: | besoin/V; talk about=parler; dream of=rêver; be=avoir: afraid/n of/N | peur/n"""


@construction("relative with dont")
def relative_dont(draw):
    who, phrase = subject(draw), read_phrase(draw.pick(WITH_DONT))
    tense = draw.pick("present imperfect" if phrase.verb.fr == "avoir" else "past progressive")
    link = pair("that/r {c} | dont/r {c}", c=clause(who, phrase, tense))
    if phrase.verb.en == "be":
        head = noun_phrase(draw.pick(lexicon.NOUNS["animal"]), "the", draw.number(0.3))
        where = place(draw, "garden park street forest kitchen")
        return is_(head.followed(link), where, draw.pick("present imperfect"))
    head, noun = known_thing(draw, "thing text garment vehicle", "the")
    return is_(head.followed(link), quality(draw, head, noun))


@construction("relative with où")
def relative_where(draw):
    who = subject(draw)
    noun = drawn_noun(draw, "house flat school shop hotel restaurant village town farm hospital")
    head = noun_phrase(noun, draw.pick("the this"))
    if draw.chance(0.6):
        inner = clause(who, verb_phrase(draw.pick("live work eat")), draw.pick("present used"))
    else:
        inner = clause(who, action(draw, who, "past", "the own"), "perfect")
    described = head.followed(pair("where/w {c} | où/w {c}", c=inner))
    if draw.chance(0.5):
        return is_(described, quality(draw, described, noun))
    verb = draw.pick("know see visit")
    tense = "present" if verb == "know" else draw.pick("past future")
    return clause(subject(draw), verb_phrase(verb, described), tense)


@construction("cleft with c'est … qui")
def cleft(draw):
    who = named_or_relative(draw)
    again = relative_subject(who)
    phrase, tense = activity(draw, again), draw.pick("past future")
    said = timed(draw, clause(again, phrase, tense), tense, 0.3)
    return pair("it/A is/a {who} {said} | ce/a est/a {who} {said}", who=who, said=said)


# --- Subordinate clauses --------------------------------------------------


def when_future(who, arrival, main):
    """`When he arrives, …`: the present in English, the future in French."""
    first = Pair(clause(who, arrival, "present").en, clause(who, arrival, "future").fr)
    return pair("when/w {first} , {main} | quand/w {first} , {main}", first=first, main=main)


@construction("when with the future in both clauses")
def when_future_both(draw):
    first = third_party(draw)
    second = another(draw, first)
    verb = draw.pick(lexicon.REFLEXIVE[:2]) if draw.chance(0.3) else draw.pick("leave arrive go_home go_out")
    return when_future(first, verb_phrase(verb), clause(second, activity(draw, second), "future"))


def another(draw, first):
    """A subject that is not said in the same words as the first."""
    while True:
        second = subject(draw)
        if [x.text for x in second.en] != [x.text for x in first.en]:
            return second


@construction("because")
def because(draw):
    who = subject(draw)
    again, kind = pronoun_again(who), draw.below(3)
    if kind == 0:
        said = clause(who, definite(draw, who), "past", "not")
        reason = is_(again, state(draw, again), "imperfect")
    elif kind == 1:
        said = is_(who, state(draw, who))
        reason = clause(again, action(draw, again), "perfect", draw.negation(0.3))
    else:
        said = clause(who, activity(draw, who), "near")
        reason = is_(again, state(draw, again), "present", draw.negation(0.3))
    return pair(BECAUSE, a=said, b=reason)


@construction("that, which French never leaves out")
def that_clause(draw):
    who, other = subject(draw), subject(draw)
    phrase = verb_phrase(draw.pick("think know=savoir say believe hope"))
    if draw.chance(0.4):
        inner = is_(other, state(draw, other), draw.pick("present imperfect future"))
    else:
        opined, tense = activity(draw, other), draw.pick("past future near can")
        inner = clause(other, opined, "future" if opined.verb.en == "read" and tense == "past" else tense)
    template = "that/t {inner} | que/t {inner}" if draw.chance(0.6) else "{inner} | que/V {inner}"
    return clause(who, phrase.about(template, inner=inner))


@construction("indirect question")
def indirect_question(draw):
    who, other = subject(draw), subject(draw)
    asked = draw.pick("where/w | où/w; why/w | pourquoi/w; when/w | quand/w; if/w | si/w")
    kind = draw.below(3) if asked.startswith("where") else None
    if kind == 0:
        inner = clause(other, verb_phrase(draw.pick("live work")))
    elif kind == 1:
        inner = is_(drawn_pronoun(draw, "he she they"), NOTHING)
    elif kind == 2:
        inner = clause(other, action(draw, other), "past")
    else:
        phrase = activity(draw, other)
        inner = clause(other, phrase, draw.pick("future near" if phrase.verb.en == "read" else "past future near"))
    know = verb_phrase("know=savoir", pair(asked) + inner)
    if draw.chance(0.4):
        return asks(question(drawn_pronoun(draw, "you he she they"), know))
    return clause(who, know, "present", draw.negation(0.7))


@construction("coordination")
def coordination(draw):
    first = third_party(draw)
    second = another(draw, first)
    tense = draw.pick("past future near")
    a, b = clause(first, visible(draw, first), tense), clause(second, visible(draw, second), tense)
    return pair(draw.pick((AND, BUT)), a=a, b=b)
