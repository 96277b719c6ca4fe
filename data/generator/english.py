"""English morphology: verb forms, plurals and degrees."""

from draw import rows

# Past and participle of the irregular verbs.
_IRREGULAR = """be was been, have had had, do did done, go went gone, come came come, see saw seen,
    eat ate eaten, drink drank drunk, buy bought bought, sell sold sold, feed fed fed, read read read,
    write wrote written, say said said, tell told told, give gave given, send sent sent, show showed shown,
    lend lent lent, bring brought brought, take took taken, make made made, find found found,
    lose lost lost, know knew known, understand understood understood, think thought thought,
    forget forgot forgotten, sleep slept slept, sing sang sung, swim swam swum, run ran run,
    drive drove driven, leave left left, meet met met, hear heard heard, break broke broken,
    choose chose chosen, get got got, wake woke woken, build built built, learn learned learned,
    pay paid paid, keep kept kept, begin began begun, wear wore worn, feel felt felt, cost cost cost,
    draw drew drawn, hide hid hidden, speak spoke spoken, cut cut cut"""
IRREGULAR = {verb: forms for verb, *forms in rows(_IRREGULAR)}
DOUBLING = ("swim", "run", "plan", "forget", "begin", "get", "cut")
PLURALS = dict(rows("""man men, woman women, policeman policemen, child children, wife wives, knife knives,
    scarf scarves, shelf shelves, tomato tomatoes"""))
BE = {"present": "am are is are are are".split(), "past": "was were was were were were".split()}
THIRD_PERSON = {"have": "has", "do": "does", "go": "goes"}
LONG_ADJECTIVES = ("tired", "jealous", "modern", "famous", "useful", "patient", "nervous", "shy", "polite")
DEGREES = {("good", "er"): "better", ("good", "est"): "best", ("bad", "er"): "worse", ("bad", "est"): "worst"}


def _with_s(form):
    if form.endswith(("s", "x", "z", "ch", "sh")):
        return form + "es"
    if form.endswith("y") and form[-2] not in "aeiou":
        return form[:-1] + "ies"
    return form + "s"


def plural(noun):
    """The plural of a noun."""
    return PLURALS.get(noun) or _with_s(noun)


def _past_and_participle(verb):
    stem = verb + verb[-1] if verb in DOUBLING else verb.removesuffix("e")
    if verb.endswith("y") and verb[-2] not in "aeiou":
        stem = verb[:-1] + "i"
    return IRREGULAR.get(verb) or [stem + "ed"] * 2


def finite(verb, tense, person):
    """A form of the present or the past; `person` counts as in French, from 0 for I to 5 for they."""
    if verb == "be":
        return BE[tense][person]
    if tense == "past":
        return _past_and_participle(verb)[0]
    return THIRD_PERSON.get(verb) or _with_s(verb) if person == 2 else verb


def participle(verb):
    """The past participle."""
    return _past_and_participle(verb)[1]


def gerund(verb):
    """The form in -ing."""
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return verb[:-1] + "ing"
    return verb + (verb[-1] if verb in DOUBLING else "") + "ing"


def degree(adjective, ending):
    """The form in -er or -est of a short adjective, or nothing: long ones take `more` and `most`."""
    if (adjective, ending) in DEGREES:
        return DEGREES[adjective, ending]
    if adjective in LONG_ADJECTIVES or len(adjective) > 6 or adjective.endswith(("ing", "ful", "ous")):
        return ""
    if adjective.endswith("y"):
        return adjective[:-1] + "i" + ending
    doubled = adjective[-1] if adjective in ("big", "sad", "hot") else ""
    return adjective.removesuffix("e") + doubled + ending
