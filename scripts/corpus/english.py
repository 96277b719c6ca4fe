"""English morphology: verb forms and plurals."""

_IRREGULAR_TABLE = """
be was been
have had had
do did done
go went gone
come came come
become became become
see saw seen
eat ate eaten
drink drank drunk
buy bought bought
sell sold sold
feed fed fed
read read read
write wrote written
say said said
tell told told
give gave given
send sent sent
show showed shown
lend lent lent
bring brought brought
take took taken
make made made
find found found
lose lost lost
know knew known
understand understood understood
think thought thought
forget forgot forgotten
sleep slept slept
sing sang sung
swim swam swum
run ran run
drive drove driven
leave left left
meet met met
hear heard heard
break broke broken
choose chose chosen
get got got
wake woke woken
build built built
put put put
learn learned learned
pay paid paid
keep kept kept
begin began begun
fall fell fallen
wear wore worn
catch caught caught
hurt hurt hurt
feel felt felt
spend spent spent
cost cost cost
let let let
draw drew drawn
hide hid hidden
steal stole stolen
win won won
speak spoke spoken
teach taught taught
cut cut cut
"""
IRREGULAR = {line.split()[0]: line.split()[1:] for line in _IRREGULAR_TABLE.split("\n") if line}
DOUBLING = (
    "stop",
    "swim",
    "run",
    "plan",
    "forget",
    "begin",
    "get",
    "put",
    "chat",
    "let",
    "win",
    "cut",
    "travel",
    "hug",
    "shop",
)
PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "knife": "knives",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "wife": "wives",
    "policeman": "policemen",
    "scarf": "scarves",
    "shelf": "shelves",
}


def _with_s(form):
    if form.endswith(("s", "x", "z", "ch", "sh")):
        return form + "es"
    if form.endswith("y") and form[-2] not in "aeiou":
        return form[:-1] + "ies"
    return form + "s"


def plural(noun):
    """The plural of a noun."""
    return PLURALS.get(noun) or _with_s(noun)


def third_person(verb):
    """The present form after he, she or it."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    return special.get(verb) or _with_s(verb)


def _regular_past(verb):
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    if verb in DOUBLING:
        return verb + verb[-1] + "ed"
    return verb + "ed"


def past(verb):
    """The simple past (first person for be)."""
    return IRREGULAR[verb][0] if verb in IRREGULAR else _regular_past(verb)


def participle(verb):
    """The past participle."""
    return IRREGULAR[verb][1] if verb in IRREGULAR else _regular_past(verb)


def gerund(verb):
    """The form in -ing."""
    if verb == "be":
        return "being"
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if verb in DOUBLING:
        return verb + verb[-1] + "ing"
    return verb + "ing"
