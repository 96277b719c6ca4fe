"""Constructions of tense and negation."""

import lexicon
from clauses import clause, verb_phrase
from events import (
    NOBODY_VERBS,
    NOTHING_VERBS,
    action,
    activity,
    allowed,
    construction,
    day_time,
    definite,
    is_,
    other_than,
    person_verb,
    pronoun_again,
    state,
    statement,
    stop,
    time_for,
)
from phrases import (
    NUMBERS,
    at_clock,
    counted,
    destination,
    direct,
    fitting,
    future_time,
    habit,
    noun_phrase,
    past_time,
    somewhere,
    subject,
    subject_pronoun,
    third_party,
)
from words import Pair, pair

# --- Tenses ---------------------------------------------------------------


@construction("compound past with avoir")
def past_avoir(draw):
    who = subject(draw)
    tense = draw.pick(("past", "past", "perfect"))
    phrase = action(draw, who, "past")
    said = clause(who, phrase, tense)
    if tense == "past" and (phrase.verb.en == "read" or draw.chance(0.5)):
        said = said + past_time(draw)
    return stop(said)


@construction("compound past with être")
def past_etre(draw):
    who = subject(draw)
    verb = draw.pick(lexicon.MOTION + lexicon.ARRIVAL)
    phrase = verb_phrase(verb)
    if verb.en == "go" and not verb.particle or verb.particle == "back":
        phrase = phrase.plus(destination(draw))
    elif verb.en == "stay":
        phrase = phrase.plus(somewhere(draw))
    when = at_clock(draw) if draw.chance(0.4) else past_time(draw)
    return stop(clause(who, phrase, "past", "not" if draw.chance(0.2) else None) + when)


@construction("reflexive verb")
def reflexive(draw):
    who = subject(draw)
    phrase = verb_phrase(draw.pick(lexicon.REFLEXIVE))
    tense = draw.pick(("past", "past", "near", "present", "future"))
    if draw.chance(0.4) and phrase.verb.fr not in ("reposer", "amuser", "dépêcher"):
        return stop(clause(who, phrase, tense) + at_clock(draw))
    said = clause(who, phrase, tense, "not" if draw.chance(0.25) else None)
    return stop(said + day_time(draw, tense))


@construction("imparfait for habits")
def used_to(draw):
    who = subject(draw)
    phrase = activity(draw, who, "used")
    said = clause(who, phrase, "used")
    return stop(said + habit(draw) if draw.chance(0.5) else said)


@construction("imparfait as background")
def background(draw):
    who, other = subject(draw), third_party(draw)
    said = clause(who, activity(draw, who, "background"), "background")
    event = draw.pick(
        (
            ("arrive", "arriver"),
            ("leave", "partir"),
            ("phone", "téléphoner"),
            ("come", "venir"),
            ("go home", "rentrer"),
            ("go out", "sortir"),
        )
    )
    head, _, particle = event[0].partition(" ")
    verb = lexicon.Verb(head, event[1], particle, auxiliary=_auxiliary(event[1]))
    interrupting = clause(other, verb_phrase(verb), "past")
    return stop(pair("{a} when/w {b}", "{a} quand/w {b}", a=said, b=interrupting))


def _auxiliary(infinitive):
    return "être" if infinitive in lexicon.ETRE else "avoir"


@construction("pluperfect")
def pluperfect(draw):
    who = subject(draw)
    phrase = action(draw, who) if draw.chance(0.6) else verb_phrase(_leaving(draw))
    already = pair("already/a", "déjà/a") if draw.chance(0.5) else Pair()
    said = clause(who, phrase, "pluperfect", adverb=already)
    if draw.chance(0.6):
        other = third_party(draw)
        return stop(
            pair(
                "{a} when/w {b}",
                "{a} quand/w {b}",
                a=said,
                b=clause(other, verb_phrase(_leaving(draw, "arrive")), "past"),
            )
        )
    return stop(said + pair("before/a dinner/b", "avant/a le/B dîner/b"))


def _leaving(draw, wanted=None):
    verbs = [x for x in lexicon.ARRIVAL if x.en in ((wanted,) if wanted else ("leave", "arrive"))]
    return draw.pick(verbs)


@construction("future")
def future(draw):
    who = subject(draw)
    phrase = activity(draw, who, "future")
    negation = draw.pick((None, None, "not", "never"))
    if negation == "never":
        return stop(clause(who, definite(draw, who), "future", "never"))
    said = clause(who, phrase if not negation else definite(draw, who), "future", negation)
    return stop(said + future_time(draw))


@construction("near future")
def near_future(draw):
    who = subject(draw)
    said = clause(who, activity(draw, who, "near"), "near")
    return stop(said + future_time(draw) if draw.chance(0.6) else said)


@construction("recent past with venir de")
def recent_past(draw):
    who = subject(draw)
    phrase = action(draw, who) if draw.chance(0.7) else verb_phrase(_leaving(draw))
    return stop(clause(who, phrase, "recent"))


@construction("condition with si and conditional")
def conditional(draw):
    who = subject(draw)
    condition = draw.pick(
        (
            lambda: clause(who, verb_phrase(lexicon.HAVE, _wished(draw)), "imperfect"),
            lambda: clause(
                who, verb_phrase(lexicon.HAVE, pair("time/t", "le/T temps/t")), "imperfect"
            ),
            lambda: clause(
                who,
                verb_phrase(lexicon.HAVE, pair("more/m money/n", "plus/m de/M argent/n")),
                "imperfect",
            ),
            lambda: is_(who, state(draw, who), "imperfect", draw.pick((None, "not"))),
        )
    )()
    again = pronoun_again(who)
    if draw.chance(0.5):
        phrase = verb_phrase(person_verb(draw, lasting=False), direct(other_than(draw, again)))
        result = clause(again, phrase, "conditional", draw.pick((None, "not", "never")))
    else:
        result = clause(again, activity(draw, again, "conditional"), "conditional")
    return stop(pair("if/i {c} , {r}", "si/i {c} , {r}", c=condition, r=result))


def _wished(draw):
    noun = lexicon.SINGLE_NOUNS[
        draw.pick(("house", "flat", "garden", "farm", "car", "boat", "bike"))
    ]
    chosen = (fitting(draw, noun),) if draw.chance(0.6) else ()
    return noun_phrase(noun, "a", 1, chosen)


@construction("condition with si and future")
def real_condition(draw):
    who = subject(draw)
    weather = pair(
        *draw.pick(
            (
                ("it/i rains/a", "il/i pleut/a"),
                ("it/i snows/a", "il/i neige/a"),
                ("it/i is/f hot/a", "il/i fait/f chaud/a"),
                ("it/i is/f cold/a", "il/i fait/f froid/a"),
                ("the/t weather/i is/f fine/a", "il/TI fait/f beau/a"),
            )
        )
    )
    if draw.chance(0.4):
        weather = is_(who, state(draw, who), "present", draw.pick((None, "not")))
        who = pronoun_again(who)
    result = clause(who, activity(draw, who, "future"), "future")
    when = future_time(draw) if draw.chance(0.3) else Pair()
    return stop(pair("if/i {c} {t} , {r}", "si/i {c} {t} , {r}", c=weather, r=result, t=when))


MODAL_TENSES = ("can", "must", "should", "could")


@construction("modal verb")
def modal(draw):
    who = subject(draw)
    tense = draw.pick(MODAL_TENSES)
    negation = "not" if draw.chance(0.3) else None
    phrase = definite(draw, who) if negation else activity(draw, who, "future")
    said = clause(who, phrase, tense, negation)
    return stop(said + future_time(draw) if not negation and draw.chance(0.4) else said)


# --- Negation -------------------------------------------------------------


def _denied(draw, negation, tenses=("present", "past", "near", "future")):
    who = subject(draw)
    return statement(draw, who, definite(draw, who), negation, tenses, 0.35)


@construction("negation with pas")
def negation_pas(draw):
    return _denied(draw, "not")


@construction("negation with jamais")
def negation_jamais(draw):
    who = subject(draw)
    phrase = definite(draw, who, "present")
    if allowed(phrase.verb, "present") and draw.chance(0.6) and phrase.verb.en != "read":
        return stop(clause(who, phrase, "present", "never"))
    return stop(clause(who, phrase, draw.pick(("perfect", "future", "pluperfect")), "never"))


@construction("negation with plus")
def negation_plus(draw):
    who = subject(draw)
    while True:
        phrase = definite(draw, who, "used")
        if allowed(phrase.verb, "used"):
            break
    tense = draw.pick(("present", "present", "future"))
    return stop(clause(who, phrase, tense, draw.pick(("no longer", "not anymore"))))


@construction("negation with pas encore")
def negation_not_yet(draw):
    who = subject(draw)
    return stop(clause(who, definite(draw, who), "perfect", "not yet"))


@construction("nothing and nobody as objects")
def nothing_object(draw):
    who = subject(draw)
    negation = draw.pick(("nothing", "nobody"))
    verb = lexicon.verb(draw.pick(NOTHING_VERBS if negation == "nothing" else NOBODY_VERBS))
    tense = (
        "present" if verb.en == "know" else draw.pick(("past", "past", "future", "present", "near"))
    )
    said = clause(who, verb_phrase(verb), tense, negation)
    where = somewhere(draw) if draw.chance(0.6) else Pair()
    return stop(said + where)


@construction("nothing and nobody as subjects")
def nobody_subject(draw):
    if draw.chance(0.3):
        what, negated = draw.pick(
            (
                ("is easy", "est facile"),
                ("is ready", "est prêt"),
                ("is new", "est nouveau"),
                ("is expensive", "est cher"),
                ("is clean", "est propre"),
                ("is free", "est gratuit"),
            )
        )
        en, fr = what.split(), negated.split()
        return stop(
            pair(
                f"nothing/n {en[0]}/v {en[1]}/a {{p}}",
                f"rien/n ne/N {fr[0]}/v {fr[1]}/a {{p}}",
                p=somewhere(draw),
            )
        )
    nobody = subject_pronoun("he")
    nobody = type(nobody)(*_subject_words("nobody/n", "personne/n ne/N"), 2, 1, "m")
    phrase = definite(draw, nobody) if draw.chance(0.7) else activity(draw, nobody)
    tense = draw.pick(("past", "future", "near"))
    said = clause(nobody, phrase, tense)
    return stop(said + time_for(draw, tense) if draw.chance(0.3) else said)


def _subject_words(en, fr):
    said = pair(en, fr)
    return said.en, said.fr


@construction("no article under negation")
def negated_article(draw):
    who = subject(draw)
    verb, classes = draw.pick(
        (
            ("have=avoir", ("vehicle", "animal", "thing", "garment", "food", "drink")),
            ("buy=acheter", ("food", "drink", "fruit", "garment")),
            ("eat=manger", ("food", "fruit")),
            ("drink=boire", ("drink",)),
            ("want=vouloir", ("food", "drink", "fruit")),
        )
    )
    noun = draw.pick(lexicon.object_nouns(classes))
    number = 1 if noun.kind == "mass" or draw.chance(0.4) else 2
    kind = "any" if noun.kind == "mass" or number == 2 else "not a"
    phrase = verb_phrase(lexicon.verb(verb), noun_phrase(noun, kind, number))
    tense = draw.pick(
        ("present", "imperfect") if verb[:4] in ("have", "want") else ("present", "past", "future")
    )
    return stop(clause(who, phrase, tense, "not"))


@construction("restriction with ne que")
def only(draw):
    who = subject(draw)
    verb, classes = draw.pick(
        (
            ("eat=manger", ("food", "fruit")),
            ("drink=boire", ("drink",)),
            ("have=avoir", ("number",)),
            ("buy=acheter", ("food", "fruit")),
        )
    )
    if classes == ("number",):
        count = pair(*(f"{x}/a" for x in draw.pick(NUMBERS).split()))
        what = counted(
            count, draw.pick(lexicon.object_nouns(("thing", "garment", "fruit", "animal")))
        )
    else:
        noun = draw.pick(lexicon.object_nouns(classes))
        what = noun_phrase(noun, "partitive", 1 if noun.kind == "mass" else 2)
    tense = draw.pick(
        ("present", "present", "imperfect")
        if verb == "have=avoir"
        else ("present", "past", "future")
    )
    return stop(clause(who, verb_phrase(lexicon.verb(verb), what), tense, "only"))
