"""Constructions that join clauses or verbs: relatives, subordinates, infinitives, passive."""

from dataclasses import replace

import english
import french
import lexicon
from adverbials import destination, place, spot
from clauses import ING, WHILE, clause, having_object, nonfinite, question, read_phrase, verb_phrase
from constructions import AND, BECAUSE, BUT, asks, construction, declare, timed
from draw import below, chance, pick, pick_not, pick_number, sometimes_not, weighted
from events import (
    STATES_OF_MIND, action, activity, allowed, definite, is_, item, item_verb, known, person_verb, quality,
    state, suitable, visible,
)
from french import agree
from phrases import (
    OWN, PEOPLE, PRONOUNS, direct, named, named_or_relative, noun_of, noun_phrase, person, pronoun,
    pronoun_again, role, subject, subject_pronoun, third_party,
)
from words import NOTHING, Pair, pair

ERRANDS = ("buy", "see", "help", "meet", "invite", "look", "wait")
DONE = lexicon.verbs_with("""repair: vehicle furniture, wash: vehicle garment, clean: furniture garment,
    paint: opening furniture, build: building, translate: text""")
# Actions, their objects, and those who act.
PASSIVES = """
    write: text: writer student teacher girl; build: building: engineer farmer;
    repair: vehicle furniture: engineer neighbour farmer;
    sell: vehicle building furniture: farmer neighbour lawyer;
    find: thing garment: policeman child tourist waiter; read: text: teacher student lawyer;
    invite: person: singer writer doctor; eat: fruit: child guest boy;
    close: opening: waiter policeman teacher; visit: building: tourist student"""
WITH_DONT = """
    need=avoir: | besoin/V; talk about=parler; dream of=rêver; be=avoir: afraid/n of/N | peur/n"""

def followed(verb, inner, person_index):
    """A verb that takes `to` and an infinitive, in French with the preposition it asks for or with none."""
    template = "to/pV {i} | {preposition}/p {i}" if verb.preposition else "to/V {i} | {i}"
    to = pair(template, v=inner.meaning, preposition=verb.preposition, i=nonfinite(inner, person_index))
    return verb_phrase(verb._replace(preposition=""), to)

for name, verbs in (("infinitive with à", lexicon.WITH_A), ("infinitive with de", lexicon.WITH_DE)):
    declare(name, verb=verbs,
            inner=lambda who: activity(who) if chance(0.75) else verb_phrase(pick(lexicon.REFLEXIVE)),
            do=lambda who, verb, inner: followed(verb, inner, who.person),
            tense=weighted({"past": 2}, "near future"), negation=sometimes_not(0.15))

@construction("want, like and hope with an infinitive")
def wishing():
    who = subject()
    inner = activity(who)
    if chance(0.3):
        return clause(who, followed(lexicon.verb("like=vouloir"), inner, who.person), "conditional")
    verb = lexicon.verb(pick("want like hope prefer"))
    tense = "present" if verb.en == "hope" else pick({"present": 2, "imperfect": 1})
    negation = pick_not(0.3) if verb.en in ("want", "like") else ""
    return clause(who, followed(verb, definite(who) if negation else inner, who.person), tense, negation)

@construction("want somebody to, with the subjunctive")
def want_somebody():
    who, name = subject(), pick(PEOPLE)
    if chance(0.5):
        other = person()
    else:
        while name in OWN.get(who.pronoun, ()):
            name = pick(PEOPLE)
        other = subject_pronoun(name)
        other = replace(other, en=(replace(other.en[0], text=PRONOUNS[name].object),))
    inner = activity(other)
    what = pair("{c} | que/V {c}", v=inner.meaning, c=clause(other, inner, "subjunctive"))
    return clause(who, verb_phrase("want", what), pick({"present": 2, "imperfect": 1}), pick_not(0.25))

declare("before and without doing",
        who=subject, do=action, second=definite,
        link="before/b | avant/b de/B; without/b | sans/b; instead/b of/B | au/B lieu/b de/B",
        tense="past near future",
        a=lambda who, do, tense: clause(who, do, "near" if do.verb.en == "read" else tense),
        said=lambda a, link, second: a + link + nonfinite(second, template=ING))
declare("purpose with pour",
        who=subject, goal=destination, aim=lambda who: suitable(lambda verb: verb.en in ERRANDS, action, who),
        tense="past near future", a=lambda who, goal, tense: clause(who, verb_phrase("go", goal), tense),
        said=lambda a, aim: a + pair("to/V {i} | pour/V {i}", v=aim.meaning, i=nonfinite(aim)))
declare("while doing, with the gerund",
        who=subject, doing=lambda who: action(who, "background", "the own"),
        main=lambda doing: pick((*map(verb_phrase, ("sing", "smile", "laugh", "cry", "dance")), doing)),
        second=lambda who: activity(who, "background"), tense="present past background future",
        shows=lambda main: main.verb.en != "read" and allowed(main.verb, "present"),
        a=lambda who, main, tense, shows: clause(who, main, tense if shows else "background"),
        said=lambda a, second, who: a + nonfinite(second, who.person, WHILE))

@construction("make somebody do, with faire")
def causative():
    who, name, verb = third_party(), pick(PEOPLE), pick("laugh cry wait work smile dance sing sleep")
    tense, done = pick("present past future can"), nonfinite(verb_phrase(verb))
    if chance(0.5):
        phrase = verb_phrase("make=faire", direct(name)._replace(agreement=None), done)
    else:
        phrase = verb_phrase("make=faire", pair("{other} {done} | {done} {other}", done=done, other=person()))
    said = clause(who, phrase, tense, pick_not(0.2))
    return timed(said, tense, 0.4) if tense != "present" else said

declare("have something done, with faire",
        row=DONE, noun=lambda row: noun_of(row[1]),
        kind=lambda who: pick("the this I" if who.person == 0 else "the this the"),
        thing=lambda noun, kind: noun_phrase(noun, kind, pick_number(0.3)),
        done=lambda row: (english.participle(row[0].en), row[0].fr), verb="have=faire",
        what="{thing} {done}/a | {done}/a {thing}", tense="past near future must", time=0.5)

def done_to(verb, what):
    """The participles of what is done to a thing."""
    return english.participle(verb.en), agree(french.participle(verb.fr), what.gender, what.number)

declare("passive",
        row=lambda: pick(PASSIVES).split(":"),
        who=lambda row: noun_phrase(noun_of(row[1]), pick("the this"), pick_number(0.35)),
        doer=lambda row: named() if chance(0.3) else noun_phrase(
            lexicon.SINGLE_NOUNS[pick(row[2])], "the", pick_number(0.3)),
        done=lambda row, who: done_to(lexicon.verb(row[0]), who),
        agent=lambda: "by/b {doer} | par/b {doer}" if chance(0.75) else "|",
        what="{done}/a {agent} | {done}/a {agent}",
        tense="perfect future past", negation=sometimes_not(0.15), time=0.5)

def relative_subject(head, word="who"):
    """The relative pronoun « qui », which agrees like its head."""
    link = pair("{word}/r | qui/r", word=word)
    return replace(head, en=link.en, fr=link.fr)

@construction("relative with qui")
def relative_qui():
    if not chance(0.6):
        head = known("thing garment text", "the")
        head = head.followed(is_(relative_subject(head, "that"), spot()))
        return is_(head, quality(head))
    head = role()
    who = relative_subject(head)
    phrase, tense = activity(who), pick("past future can progressive")
    head = head.followed(clause(who, phrase, tense if allowed(phrase.verb, tense) else "past"))
    if chance(0.5):
        return is_(head, state(head), pick("present imperfect"))
    tense, verb = pick("past near present"), person_verb()
    return clause(subject(), verb_phrase(verb, head), "present" if verb.en in STATES_OF_MIND else tense)

declare("relative with que",
        who=subject, what=lambda: item("the"), verb=item_verb,
        usual=weighted({"past": 2}, "near progressive"),
        fits=lambda verb, usual: usual if allowed(verb, usual) else "past",
        tense=lambda verb, fits: "perfect" if verb.en == "read" else fits,
        c=lambda who, verb, what, tense: clause(who, having_object(verb, what), tense),
        full=lambda what, c: what.followed(pair("that/r {c} | que/r {c}", c=c)),
        said=lambda full: is_(full, quality(full), pick("present imperfect")) if chance(0.6) else clause(
            subject(), verb_phrase("find", full), "past"))

@construction("relative with dont")
def relative_dont():
    who, phrase = subject(), read_phrase(pick(WITH_DONT))
    tense = pick("present imperfect" if phrase.verb.fr == "avoir" else "past progressive")
    link = pair("that/r {c} | dont/r {c}", c=clause(who, phrase, tense))
    if phrase.verb.en == "be":
        head = noun_phrase(pick(lexicon.NOUNS["animal"]), "the", pick_number(0.3))
        where = place("garden park street forest kitchen")
        return is_(head.followed(link), where, pick("present imperfect"))
    head = known("thing text garment vehicle", "the")
    return is_(head.followed(link), quality(head))

@construction("relative with où")
def relative_where():
    who, noun = subject(), noun_of("house flat school shop hotel restaurant village town farm hospital")
    head = noun_phrase(noun, pick("the this"))
    if chance(0.6):
        inner = clause(who, verb_phrase(pick("live work eat")), pick("present used"))
    else:
        inner = clause(who, action(who, "past", "the own"), "perfect")
    head = head.followed(pair("where/w {c} | où/w {c}", c=inner))
    if chance(0.5):
        return is_(head, quality(head))
    verb = pick("know see visit")
    tense = "present" if verb == "know" else pick("past future")
    return clause(subject(), verb_phrase(verb, head), tense)

declare("cleft with c'est … qui",
        head=named_or_relative, who=relative_subject, do=activity, tense="past future",
        c=lambda who, do, tense: timed(clause(who, do, tense), tense, 0.3),
        said="it/A is/a {head} {c} | ce/a est/a {head} {c}")

def when_future(who, arrival, main):
    """`When he arrives, …`: the present in English, the future in French."""
    first = Pair(clause(who, arrival, "present").en, clause(who, arrival, "future").fr)
    return pair("when/w {first} , {main} | quand/w {first} , {main}", first=first, main=main)

def another(first):
    """A subject that is not said in the same words as the first."""
    while True:
        second = subject()
        if [x.text for x in second.en] != [x.text for x in first.en]:
            return second

declare("when with the future in both clauses",
        first=third_party, second=another,
        arrival=lambda: pick(lexicon.REFLEXIVE[:2]) if chance(0.3) else pick("leave arrive go_home go_out"),
        main=lambda second: clause(second, activity(second), "future"),
        said=lambda first, arrival, main: when_future(first, verb_phrase(arrival), main))

declare("because",
        who=subject, again=pronoun_again,
        way=(lambda x, y: (clause(x, definite(x), "past", "not"), is_(y, state(y), "imperfect")),
             lambda x, y: (is_(x, state(x)), clause(y, action(y), "perfect", pick_not(0.3))),
             lambda x, y: (clause(x, activity(x), "near"), is_(y, state(y), "present", pick_not(0.3)))),
        both=lambda way, who, again: way(who, again), said=lambda both: pair(BECAUSE, a=both[0], b=both[1]))

@construction("that, which French never leaves out")
def that_clause():
    who, other = subject(), subject()
    phrase = verb_phrase(pick("think know=savoir say believe hope"))
    if chance(0.4):
        inner = is_(other, state(other), pick("present imperfect future"))
    else:
        opined, tense = activity(other), pick("past future near can")
        inner = clause(other, opined, "future" if opined.verb.en == "read" and tense == "past" else tense)
    template = "that/t {inner} | que/t {inner}" if chance(0.6) else "{inner} | que/V {inner}"
    return clause(who, phrase.about(template, inner=inner))

@construction("indirect question")
def indirect_question():
    who, other = subject(), subject()
    asked = pick("where/w | où/w; why/w | pourquoi/w; when/w | quand/w; if/w | si/w")
    kind = below(3) if asked.startswith("where") else None
    if kind == 0:
        inner = clause(other, verb_phrase(pick("live work")))
    elif kind == 1:
        inner = is_(pronoun("he she they"), NOTHING)
    elif kind == 2:
        inner = clause(other, action(other), "past")
    else:
        phrase = activity(other)
        inner = clause(other, phrase, pick("future near" if phrase.verb.en == "read" else "past future near"))
    know = verb_phrase("know=savoir", pair(asked) + inner)
    if chance(0.4):
        return asks(question(pronoun("you he she they"), know))
    return clause(who, know, "present", pick_not(0.7))

declare("coordination", first=third_party, second=another, tense="past future near",
        a=lambda first, tense: clause(first, visible(first), tense),
        b=lambda second, tense: clause(second, visible(second), tense),
        said=(AND, BUT))
