"""Questions, orders and ways to address somebody."""

from constructions import *
from pronouns import given, taking_up

# A subject that takes inversion, and anybody.
questioner = partial(pronoun, "you you he she they we")
questioned = either(0.6, questioner, person)
NOTHING_VERBS = "eat buy see hear understand find choose forget drink order say"
INVOLUNTARY = listed("see hear lose meet understand find break forget")
AVOIDABLE = listed("""
    lose break forget open close drink eat read sell watch hide drive feed invite help wear buy wash repair
""")
PLEASE = ", please/a | , s'il/A vous/A plaît/a"


def tellable(verb, negated):
    """Whether one can tell somebody to do, or not to do, what a verb says."""
    return verb.en in AVOIDABLE if negated else verb.en not in INVOLUNTARY


def wanted(who, negated=False):
    """Something one can be told to do, or not to do."""
    return suitable(lambda verb: tellable(verb, negated), definite if negated else activity, who)


declare("question by inversion", asked=True, who=questioner, do=activity,
        tenses="past near future can progressive present", time=0.4)


@construction("question with est-ce que")
def est_ce_que():
    who = subject_pronoun("I") if chance(0.15) else person()
    phrase = activity(who)
    tense = "can" if who.pronoun else drawn_tense(phrase, "past near future progressive present")
    return asks(timed(question(who, phrase, tense), tense, 0.3))


@construction("question with où, quand, pourquoi")
def where_when_why():
    who, asked = questioned(), pick("where/w | où/w; when/w | quand/w; why/w | pourquoi/w")
    if asked.startswith("where") and chance(0.5):
        phrase = verb_phrase(pick("live work study go"))
        tense = "past" if phrase.verb.en == "go" else "present"
    else:
        phrase, tense = action(who), pick("past near future")
    return asks(pair(asked) + question(who, phrase, tense))


@construction("question about the object")
def who_what():
    who = questioned()
    if chance(0.5):
        verb, asked = lexicon.verb(pick(NOTHING_VERBS)), pair("what/w | que/w")
    else:
        verb, asked = person_verb(), pair("who/w | qui/w")
    tense = "present" if verb.en in STATES_OF_MIND else pick("past near future")
    where = somewhere() if chance(0.4) and tense != "present" else NOTHING
    return asks(asked + question(who, verb_phrase(verb), tense) + where)


declare("question about the subject", mark="?", who=lambda: as_noun(pair("who/n | qui/n")), do=activity,
        tenses="past future near can progressive", time=0.4)
declare("order", mark="!", negated=lambda: chance(0.35),
        o=lambda negated: order(wanted(subject_pronoun("you"), negated), 4, negated),
        said=lambda o: pair("please/a {o} | s'il/A vous/A plaît/a , {o}", o=o) if chance(0.35) else o)


@construction("order with a pronoun")
def order_pronoun():
    negated = chance(0.4)
    if chance(0.5):
        return exclaims(_order_about_item(negated))
    name = pick("I he she we they")
    if chance(0.4):
        verb = pick("help invite wait_for look_at=regarder listen_to look_for follow=suivre")
        phrase = verb_phrase(verb, direct(name))
    else:
        phrase = given(subject_pronoun("you"), indirect(name))
    return exclaims(order(phrase, 4, negated) + perhaps(0.3, lambda: pair(PLEASE)))


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


@construction("familiar address with tu")
def familiar():
    call = pick("Mum/a | maman/a; Dad/a | papa/a; my/a friend/b | mon/a ami/b; my/a dear/b | mon/a cher/b")
    who = replace(subject_pronoun("thou"), gender="f" if "maman" in call else "m")
    kind = below(3)
    if kind == 0:
        negated = chance(0.3)
        said = exclaims(order(wanted(who, negated), 1, negated))
    elif kind == 1:
        said = asks(question(who, activity(who), pick("past near future can")))
    else:
        said = told(who, activity(who), "", "past near future", 0.3)
    return pair("{call} , {said}", call=pair(call), said=said)
