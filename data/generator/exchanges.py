"""Questions, orders and ways to address somebody."""

from dataclasses import replace
from functools import partial

import lexicon
from adverbials import at_clock, somewhere, time_for
from clauses import order, question, verb_phrase
from constructions import asks, declare, drawn_tense, exclaims, timed, told
from draw import chance, either, listed, pick, weighted
from events import (
    STATES_OF_MIND, action, activity, definite, is_, item, item_verb, person_verb, quality, suitable,
)
from phrases import agreeing, as_noun, direct, indirect, person, pronoun, subject_pronoun
from pronouns import given, taking_up
from words import NOTHING, pair, perhaps

# A subject that takes inversion, and anybody.
questioner = partial(pronoun, weighted({"you": 2}, "he she they we"))
questioned = either(0.6, questioner, person)
NOTHING_VERBS = "eat buy see hear understand find choose forget drink order say"
INVOLUNTARY = listed("see hear lose meet understand find break forget")
AVOIDABLE = listed("""lose break forget open close drink eat read sell watch hide drive feed invite help
    wear buy wash repair""")
ASKED = {"where": "where/w | où/w", "when": "when/w | quand/w", "why": "why/w | pourquoi/w"}
PLEASE = ", please/a | , s'il/A vous/A plaît/a"

def tellable(verb, negated):
    """True if a verb can be told to somebody, or forbidden."""
    return verb.en in AVOIDABLE if negated else verb.en not in INVOLUNTARY

def wanted(who, negated=False):
    """Something one can be told to do, or not to do."""
    return suitable(lambda verb: tellable(verb, negated), definite if negated else activity, who)

def ordered(who, person, probability):
    """Some order, which forbids with the given probability."""
    negated = chance(probability)
    return order(wanted(who, negated), person, negated)

declare("question by inversion", asked="inverted", who=questioner, do=activity,
        tenses="past near future can progressive present", time=0.4)
declare("question with est-ce que", mark="?",
        who=either(0.15, lambda: subject_pronoun("I"), person), do=activity,
        tense=lambda who, do: "can" if who.pronoun else drawn_tense(
            do, "past near future progressive present"),
        said=lambda who, do, tense: timed(question(who, do, tense), tense, 0.3))
declare("question with où, quand, pourquoi", mark="?",
        who=questioned, asked_for="where when why", at=lambda asked_for: asked_for == "where" and chance(0.5),
        do=lambda who, at: verb_phrase(pick("live work study go")) if at else action(who),
        tense=lambda do, at: pick("past near future") if not at else (
            "past" if do.verb.en == "go" else "present"),
        said=lambda who, asked_for, do, tense: pair(ASKED[asked_for]) + question(who, do, tense))
declare("question about the object", mark="?",
        who=questioned, thing=lambda: chance(0.5),
        verb=lambda thing: lexicon.verb(pick(NOTHING_VERBS)) if thing else person_verb(),
        tense=lambda verb: "present" if verb.en in STATES_OF_MIND else pick("past near future"),
        where=lambda tense: somewhere() if chance(0.4) and tense != "present" else NOTHING,
        said=lambda who, thing, verb, tense, where: pair("what/w | que/w" if thing else "who/w | qui/w")
        + question(who, verb_phrase(verb), tense) + where)
declare("question about the subject", mark="?", who=lambda: as_noun(pair("who/n | qui/n")), do=activity,
        tenses="past future near can progressive", time=0.4)
declare("order", mark="!", o=lambda: ordered(subject_pronoun("you"), 4, 0.35),
        said=lambda o: "please/a {o} | s'il/A vous/A plaît/a , {o}" if chance(0.35) else o)
declare("order with a pronoun", mark="!",
        negated=lambda: chance(0.4), about_item=lambda: chance(0.5),
        said=lambda negated, about_item: (_order_about_item if about_item else _order_with_person)(negated))

def _order_with_person(negated):
    name = pick("I he she we they")
    if chance(0.4):
        verb = pick("help invite wait_for look_at=regarder listen_to look_for follow=suivre")
        phrase = verb_phrase(verb, direct(name))
    else:
        phrase = given(subject_pronoun("you"), indirect(name))
    return order(phrase, 4, negated) + perhaps(0.3, lambda: pair(PLEASE))

def _order_about_item(negated):
    while True:
        what = item("this the you")
        verb = item_verb(what)
        if tellable(verb, negated):
            break
    said = order(taking_up(what, verb), 4, negated)
    dirty = [x for x in lexicon.ADJECTIVES if x.en == "dirty" and what.noun.adjectives in x.suits]
    look = agreeing(dirty[0], what) if verb.en == "wash" and dirty else quality(what)
    return pair("{known} , {said}", known=is_(what, look), said=said)

declare("order with a reflexive verb", mark="!", verb=lexicon.REFLEXIVE, negated=lambda: chance(0.3),
        time_=lambda: pick((NOTHING, at_clock(), time_for("future"))),
        call="|; madam/a , | madame/a ,; sir/a , | monsieur/a ,; doctor/a , | docteur/a ,",
        said=lambda verb, negated, time_, call: call + order(verb_phrase(verb), 4, negated) + time_)
declare("suggestion with let's", mark="!",
        do=either(0.3, lambda: verb_phrase(pick(lexicon.REFLEXIVE)), lambda: wanted(subject_pronoun("we"))),
        said=lambda do: timed(order(do, 3), "future", 0.4))
declare("familiar address with tu",
        call="Mum/a | maman/a; Dad/a | papa/a; my/a friend/b | mon/a ami/b; my/a dear/b | mon/a cher/b",
        who=lambda call: replace(subject_pronoun("thou"), gender="f" if call.en[0].text == "Mum" else "m"),
        way=(lambda who: exclaims(ordered(who, 1, 0.3)),
             lambda who: asks(question(who, activity(who), pick("past near future can"))),
             lambda who: told(who, activity(who), "", "past near future", 0.3)),
        inner=lambda who, way: way(who), said="{call} , {inner} | {call} , {inner}")
