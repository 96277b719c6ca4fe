"""Constructions that join clauses or verbs: relatives, subordinates, infinitives, passive."""

from constructions import *


def followed(verb, inner, person_index):
    """A verb that takes `to` and an infinitive, in French with the preposition it asks for or with none."""
    template = "to/pV {i} | {preposition}/p {i}" if verb.preposition else "to/V {i} | {i}"
    to = pair(template, v=inner.meaning, preposition=verb.preposition, i=infinitive(inner, person_index))
    return verb_phrase(verb._replace(preposition=""), to)


def taking(verbs):
    """What draws one of the verbs with an infinitive."""

    def draws(who):
        verb = pick(verbs)
        inner = activity(who) if chance(0.75) else verb_phrase(pick(lexicon.REFLEXIVE))
        return followed(verb, inner, who.person)

    return draws


declare("infinitive with à", do=taking(lexicon.WITH_A), tense="past past near future", negation=0.15)
declare("infinitive with de", do=taking(lexicon.WITH_DE), tense="past past near future", negation=0.15)


@construction("want, like and hope with an infinitive")
def wishing():
    who = subject()
    inner = activity(who)
    if chance(0.3):
        return clause(who, followed(lexicon.verb("like=vouloir"), inner, who.person), "conditional")
    verb = lexicon.verb(pick("want like hope prefer"))
    tense = "present" if verb.en == "hope" else pick("present present imperfect")
    negation = "not" if verb.en in ("want", "like") and chance(0.3) else ""
    if negation:
        inner = definite(who)
    return clause(who, followed(verb, inner, who.person), tense, negation)


@construction("want somebody to, with the subjunctive")
def want_somebody():
    who, name = subject(), pick(PEOPLE)
    if chance(0.5):
        other = person()
    else:
        same = {0: ("I", "we"), 3: ("I", "we"), 4: ("you",)}.get(who.person, ())
        while who.pronoun and name in same:
            name = pick(PEOPLE)
        other = subject_pronoun(name)
        other = replace(other, en=(replace(other.en[0], text=PRONOUNS[name].object),))
    inner = activity(other)
    phrase = verb_phrase("want", pair("{c} | que/V {c}", v=inner.meaning, c=clause(other, inner, "subjunctive")))
    return clause(who, phrase, pick("present present imperfect"), pick_not(0.25))


@construction("before and without doing")
def before_without():
    who = subject()
    first, second = action(who), definite(who)
    link = pick("before/b | avant/b de/B; without/b | sans/b; instead/b of/B | au/B lieu/b de/B")
    tense = pick("past near future")
    said = clause(who, first, "near" if first.verb.en == "read" else tense)
    return said + pair(link) + ing(second)


ERRANDS = ("buy", "see", "help", "meet", "invite", "look", "wait")


@construction("purpose with pour")
def purpose():
    who = subject()
    go = verb_phrase("go", destination())
    while True:
        aim = action(who)
        if aim.verb.en in ERRANDS:
            break
    to = pair("to/V {aim} | pour/V {aim}", v=aim.meaning, aim=infinitive(aim))
    return clause(who, go, pick("past near future")) + to


@construction("while doing, with the gerund")
def while_doing():
    who = subject()
    doing = action(who, "background", "the own")
    main = pick((*(verb_phrase(x) for x in ("sing", "smile", "laugh", "cry", "dance")), doing))
    second = activity(who, "background")
    tense = pick("present past background future")
    if main.verb.en == "read" or not allowed(main.verb, "present"):
        tense = "background"
    return clause(who, main, tense) + gerund(second, who.person)


@construction("make somebody do, with faire")
def causative():
    who, name = third_party(), pick(PEOPLE)
    verb = lexicon.verb(pick("laugh cry wait work smile dance sing sleep"))
    tense = pick("present past future can")
    said = pair("{verb}/a", verb=(verb.en, verb.fr))
    if chance(0.5):
        phrase = verb_phrase("make=faire", replace(direct(name), agreement=None), said)
    else:
        phrase = verb_phrase("make=faire", pair("{other} {said} | {said} {other}", said=said, other=person()))
    said = clause(who, phrase, tense, pick_not(0.2))
    return timed(said, tense, 0.4) if tense in ("past", "future") else said


DONE = lexicon.verbs_with("""
    repair: vehicle furniture, wash: vehicle garment, clean: furniture garment, paint: opening furniture,
    build: building, translate: text
""")


def having_done(who):
    """To have somebody do something."""
    verb, classes = pick(DONE)
    noun = drawn_noun(classes)
    kind = pick("the this I" if who.person == 0 else "the this the")
    what, done = noun_phrase(noun, kind, pick_number(0.3)), (english.participle(verb.en), verb.fr)
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
def passive():
    verb, classes, doers = pick(PASSIVES).split(":")
    verb, noun = lexicon.verb(verb), drawn_noun(classes)
    what = noun_phrase(noun, pick("the this"), pick_number(0.35))
    form = agree(french.participle(verb.fr), noun.gender, what.number)
    done = pair("{x}/a", x=(english.participle(verb.en), form))
    if chance(0.3):
        doer = named()
    else:
        doer = noun_phrase(lexicon.SINGLE_NOUNS[pick(doers)], "the", pick_number(0.3))
    if chance(0.75):
        done = done + pair("by/b {doer} | par/b {doer}", doer=doer)
    tense = pick("perfect future past")
    return timed(is_(what, done, tense, pick_not(0.15)), tense, 0.5)


def relative_subject(head, word="who"):
    """The relative pronoun « qui », which agrees like its head."""
    link = pair("{word}/r | qui/r", word=word)
    return replace(head, en=link.en, fr=link.fr)


def _person_described():
    """`the teacher who waited`."""
    head = role()
    who = relative_subject(head)
    phrase, tense = activity(who), pick("past future can progressive")
    return head.followed(clause(who, phrase, tense if allowed(phrase.verb, tense) else "past"))


@construction("relative with qui")
def relative_qui():
    if chance(0.6):
        described = _person_described()
        if chance(0.5):
            return is_(described, state(described), pick("present imperfect"))
        tense, verb = pick("past near present"), person_verb()
        if verb.en in STATES_OF_MIND:
            tense = "present"
        return clause(subject(), verb_phrase(verb, described), tense)
    head, noun = known_thing("thing garment text", "the")
    described = head.followed(is_(relative_subject(head, "that"), spot()))
    return is_(described, quality(described, noun))


@construction("relative with que")
def relative_que():
    who = subject()
    head, noun, verb = named_item("the")
    tense = pick("past past near progressive")
    if verb.en == "read":
        tense = "perfect"
    elif not allowed(verb, tense):
        tense = "past"
    phrase = verb_phrase(verb, agreement=(noun.gender, head.number))
    described = head.followed(pair("that/r {c} | que/r {c}", c=clause(who, phrase, tense)))
    if chance(0.6):
        return is_(described, quality(described, noun), pick("present imperfect"))
    return clause(subject(), verb_phrase("find", described), "past")


WITH_DONT = """
    need=avoir: | besoin/V; talk about=parler; dream of=rêver; be=avoir: afraid/n of/N | peur/n"""


@construction("relative with dont")
def relative_dont():
    who, phrase = subject(), read_phrase(pick(WITH_DONT))
    tense = pick("present imperfect" if phrase.verb.fr == "avoir" else "past progressive")
    link = pair("that/r {c} | dont/r {c}", c=clause(who, phrase, tense))
    if phrase.verb.en == "be":
        head = noun_phrase(pick(lexicon.NOUNS["animal"]), "the", pick_number(0.3))
        where = place("garden park street forest kitchen")
        return is_(head.followed(link), where, pick("present imperfect"))
    head, noun = known_thing("thing text garment vehicle", "the")
    return is_(head.followed(link), quality(head, noun))


@construction("relative with où")
def relative_where():
    who = subject()
    noun = drawn_noun("house flat school shop hotel restaurant village town farm hospital")
    head = noun_phrase(noun, pick("the this"))
    if chance(0.6):
        inner = clause(who, verb_phrase(pick("live work eat")), pick("present used"))
    else:
        inner = clause(who, action(who, "past", "the own"), "perfect")
    described = head.followed(pair("where/w {c} | où/w {c}", c=inner))
    if chance(0.5):
        return is_(described, quality(described, noun))
    verb = pick("know see visit")
    tense = "present" if verb == "know" else pick("past future")
    return clause(subject(), verb_phrase(verb, described), tense)


@construction("cleft with c'est … qui")
def cleft():
    who = named_or_relative()
    again = relative_subject(who)
    phrase, tense = activity(again), pick("past future")
    said = timed(clause(again, phrase, tense), tense, 0.3)
    return pair("it/A is/a {who} {said} | ce/a est/a {who} {said}", who=who, said=said)


def when_future(who, arrival, main):
    """`When he arrives, …`: the present in English, the future in French."""
    first = Pair(clause(who, arrival, "present").en, clause(who, arrival, "future").fr)
    return pair("when/w {first} , {main} | quand/w {first} , {main}", first=first, main=main)


@construction("when with the future in both clauses")
def when_future_both():
    first = third_party()
    second = another(first)
    verb = pick(lexicon.REFLEXIVE[:2]) if chance(0.3) else pick("leave arrive go_home go_out")
    return when_future(first, verb_phrase(verb), clause(second, activity(second), "future"))


def another(first):
    """A subject that is not said in the same words as the first."""
    while True:
        second = subject()
        if [x.text for x in second.en] != [x.text for x in first.en]:
            return second


@construction("because")
def because():
    who = subject()
    again, kind = pronoun_again(who), below(3)
    if kind == 0:
        said = clause(who, definite(who), "past", "not")
        reason = is_(again, state(again), "imperfect")
    elif kind == 1:
        said = is_(who, state(who))
        reason = clause(again, action(again), "perfect", pick_not(0.3))
    else:
        said = clause(who, activity(who), "near")
        reason = is_(again, state(again), "present", pick_not(0.3))
    return pair(BECAUSE, a=said, b=reason)


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
        inner = is_(drawn_pronoun("he she they"), NOTHING)
    elif kind == 2:
        inner = clause(other, action(other), "past")
    else:
        phrase = activity(other)
        inner = clause(other, phrase, pick("future near" if phrase.verb.en == "read" else "past future near"))
    know = verb_phrase("know=savoir", pair(asked) + inner)
    if chance(0.4):
        return asks(question(drawn_pronoun("you he she they"), know))
    return clause(who, know, "present", pick_not(0.7))


@construction("coordination")
def coordination():
    first = third_party()
    second = another(first)
    tense = pick("past future near")
    a, b = clause(first, visible(first), tense), clause(second, visible(second), tense)
    return pair(pick((AND, BUT)), a=a, b=b)
