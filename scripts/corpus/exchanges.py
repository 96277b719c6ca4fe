"""Questions, orders and ways to address somebody."""

from dataclasses import replace

import lexicon
from adverbials import at_clock, future_time, somewhere
from clauses import order, question, verb_phrase
from constructions import asks, construction, declare, drawn_tense, exclaims, timed, told
from draw import listed
from events import STATES_OF_MIND, action, activity, definite, is_, named_item, person_verb, quality
from phrases import (
    NOTHING, agreeing, as_noun, direct, drawn_pronoun, indirect, perhaps, person, pronoun_for, subject_pronoun,
)
from pronouns import given
from words import pair

# --- Questions ------------------------------------------------------------


def questioner(draw):
    """A subject that takes inversion."""
    return drawn_pronoun(draw, "you you he she they we")


def questioned(draw):
    """Anybody whom a question is about."""
    return questioner(draw) if draw.chance(0.6) else person(draw)


declare("question by inversion", asked=True, who=questioner, do=activity,
        tenses="past near future can progressive present", time=0.4)


@construction("question with est-ce que")
def est_ce_que(draw):
    who = subject_pronoun("I") if draw.chance(0.15) else person(draw)
    phrase = activity(draw, who)
    me = who.person == 0
    tense = "can" if me else drawn_tense(draw, phrase, "past near future progressive present")
    return asks(timed(draw, question(who, phrase, tense), tense, 0.3))


@construction("question with où, quand, pourquoi")
def where_when_why(draw):
    who = questioned(draw)
    asked = draw.pick("where/w | où/w; when/w | quand/w; why/w | pourquoi/w")
    if asked.startswith("where") and draw.chance(0.5):
        phrase = verb_phrase(draw.pick("live work study go"))
        tense = "past" if phrase.verb.en == "go" else "present"
    else:
        phrase, tense = action(draw, who), draw.pick("past near future")
    return asks(pair(asked) + question(who, phrase, tense))


NOTHING_VERBS = "eat buy see hear understand find choose forget drink order say"


@construction("question about the object")
def who_what(draw):
    who = questioned(draw)
    if draw.chance(0.5):
        verb, asked = lexicon.verb(draw.pick(NOTHING_VERBS)), pair("what/w | que/w")
    else:
        verb, asked = person_verb(draw), pair("who/w | qui/w")
    tense = "present" if verb.en in STATES_OF_MIND else draw.pick("past near future")
    where = somewhere(draw) if draw.chance(0.4) and tense != "present" else NOTHING
    return asks(asked + question(who, verb_phrase(verb), tense) + where)


declare("question about the subject", mark="?", who=lambda draw: as_noun(pair("who/n | qui/n")), do=activity,
        tenses="past future near can progressive", time=0.4)

# --- Orders ---------------------------------------------------------------

INVOLUNTARY = listed("see hear lose meet understand find break forget")
AVOIDABLE = listed("""
    lose break forget open close drink eat read sell watch hide drive feed invite help wear buy wash repair
""")
PLEASE = ", please/a | , s'il/A vous/A plaît/a"


def tellable(verb, negated):
    """Whether one can tell somebody to do, or not to do, what a verb says."""
    return verb.en in AVOIDABLE if negated else verb.en not in INVOLUNTARY


def wanted(draw, who, negated=False):
    """Something one can be told to do, or not to do."""
    while True:
        phrase = definite(draw, who) if negated else activity(draw, who)
        if tellable(phrase.verb, negated):
            return phrase


@construction("order")
def plain_order(draw):
    negated = draw.chance(0.35)
    said = order(wanted(draw, subject_pronoun("you"), negated), 4, negated)
    if draw.chance(0.35):
        said = pair("please/a {o} | s'il/A vous/A plaît/a , {o}", o=said)
    return exclaims(said)


@construction("order with a pronoun")
def order_pronoun(draw):
    negated = draw.chance(0.4)
    if draw.chance(0.5):
        return exclaims(_order_about_item(draw, negated))
    name = draw.pick("I he she we they")
    if draw.chance(0.4):
        verb = draw.pick("help invite wait_for look_at=regarder listen_to look_for follow=suivre")
        phrase = verb_phrase(verb, direct(name))
    else:
        phrase = given(draw, subject_pronoun("you"), indirect(name))
    return exclaims(order(phrase, 4, negated) + perhaps(draw, 0.3, lambda _: pair(PLEASE)))


def _order_about_item(draw, negated):
    while True:
        what, noun, verb = named_item(draw, "this the you")
        if tellable(verb, negated):
            break
    said = order(verb_phrase(verb, direct(pronoun_for(what))), 4, negated)
    dirty = [x for x in lexicon.ADJECTIVES if x.en == "dirty" and noun.adjectives in x.suits]
    look = agreeing(dirty[0], what) if verb.en == "wash" and dirty else quality(draw, what, noun)
    return pair("{known} , {said}", known=is_(what, look), said=said)


@construction("order with a reflexive verb")
def order_reflexive(draw):
    phrase, negated = verb_phrase(draw.pick(lexicon.REFLEXIVE)), draw.chance(0.3)
    when = draw.pick((NOTHING, at_clock(draw), future_time(draw)))
    call = pair(draw.pick("-; madam/a , | madame/a ,; sir/a , | monsieur/a ,; doctor/a , | docteur/a ,"))
    return exclaims(call + order(phrase, 4, negated) + when)


@construction("suggestion with let's")
def lets(draw):
    reflexive = draw.chance(0.3)
    phrase = verb_phrase(draw.pick(lexicon.REFLEXIVE)) if reflexive else wanted(draw, subject_pronoun("we"))
    return exclaims(order(phrase, 3) + perhaps(draw, 0.4, future_time))


@construction("familiar address with tu")
def familiar(draw):
    call = draw.pick("Mum/a | maman/a; Dad/a | papa/a; my/a friend/b | mon/a ami/b; my/a dear/b | mon/a cher/b")
    who = replace(subject_pronoun("thou"), gender="f" if "maman" in call else "m")
    kind = draw.below(3)
    if kind == 0:
        negated = draw.chance(0.3)
        said = exclaims(order(wanted(draw, who, negated), 1, negated))
    elif kind == 1:
        said = asks(question(who, activity(draw, who), draw.pick("past near future can")))
    else:
        said = told(draw, who, activity(draw, who), "", "past near future", 0.3)
    return pair("{call} , {said}", call=pair(call), said=said)
