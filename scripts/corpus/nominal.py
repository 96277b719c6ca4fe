"""Constructions of the noun phrase: articles, adjectives, possession, quantity, comparison."""

import lexicon
from clauses import clause, question, verb_phrase
from events import (
    asks,
    construction,
    exclaims,
    intensity,
    is_,
    known_thing,
    quality,
    state,
    statement,
    stop,
)
from french import agree
from phrases import (
    NUMBERS,
    OTHERS,
    PEOPLE,
    TENS,
    counted,
    described_noun,
    fitting,
    named,
    noun_phrase,
    person,
    possessed,
    relative_of,
    somewhere,
    stressed_pronoun,
    subject,
    subject_pronoun,
    third_party,
)
from words import pair

ARTICLES = ("the", "a", "this", "that")
HANDLED = ("thing", "garment", "vehicle", "text", "furniture")
HANDLING = [
    x
    for x in lexicon.TRANSITIVE
    if x[0].en
    in (
        "buy",
        "sell",
        "lose",
        "find",
        "look",
        "choose",
        "see",
        "forget",
        "read",
        "wear",
        "open",
        "repair",
        "wash",
        "visit",
        "photograph",
        "keep",
        "hide",
    )
]


def _handled(draw, who, kinds, adjectives):
    """A verb whose object carries the adjectives that `adjectives` draws for its noun."""
    while True:
        verb, classes = draw.pick(HANDLING)
        noun = draw.pick(lexicon.object_nouns(classes))
        if noun in lexicon.NOUNS["person"] and not set(kinds) <= set(ARTICLES):
            continue
        chosen = adjectives(noun)
        if all(chosen):
            number = 2 if noun.kind != "mass" and draw.chance(0.35) else 1
            kind = "the" if noun.kind == "mass" else draw.pick(kinds)
            return statement(draw, who, verb_phrase(verb, noun_phrase(noun, kind, number, chosen)))


@construction("adjective after the noun")
def adjective_after(draw):
    return _handled(draw, subject(draw), ("the", "a", "this"), lambda n: (fitting(draw, n, False),))


@construction("adjective before the noun")
def adjective_before(draw):
    return _handled(draw, subject(draw), ("the", "a", "this"), lambda n: (fitting(draw, n, True),))


@construction("adjectives on both sides")
def adjectives_around(draw):
    return _handled(
        draw,
        subject(draw),
        ("the", "a", "that"),
        lambda n: (fitting(draw, n, True), fitting(draw, n, False)),
    )


@construction("predicate adjective with agreement")
def predicate_adjective(draw):
    tense = draw.pick(("present", "present", "imperfect", "future"))
    if draw.chance(0.5):
        who = subject(draw)
        return stop(is_(who, intensity(draw) + state(draw, who), tense))
    what, noun = known_thing(draw, (*HANDLED, "building", "animal"))
    return stop(is_(what, intensity(draw) + quality(draw, what, noun), tense))


@construction("partitive article")
def partitive(draw):
    who = subject(draw)
    verb, classes = draw.pick(
        (
            ("eat=manger", ["food"]),
            ("buy=acheter", ["food", "drink"]),
            ("drink=boire", ["drink"]),
            ("order=commander", ["food", "drink"]),
            ("want=vouloir", ["food", "drink"]),
        )
    )
    noun = draw.pick(lexicon.object_nouns(classes))
    chosen = noun_phrase(noun, "some" if draw.chance(0.5) else "partitive")
    phrase = verb_phrase(lexicon.verb(verb), chosen)
    if phrase.verb.en == "want":
        return stop(clause(who, phrase, "present"))
    return statement(draw, who, phrase)


@construction("generic article")
def generic(draw):
    who = subject(draw)
    classes = draw.pick((["food"], ["drink"], ["fruit"], ["animal"], ["fruit", "food"]))
    noun = draw.pick(lexicon.object_nouns(classes))
    number = 1 if noun.kind == "mass" else 2
    verb = draw.pick(("like=aimer", "love=adorer", "hate=détester", "prefer=préférer"))
    negation = "not" if verb == "like=aimer" and draw.chance(0.4) else None
    phrase = verb_phrase(lexicon.verb(verb), noun_phrase(noun, "general", number))
    return stop(clause(who, phrase, "present", negation))


QUANTITIES = {
    2: (
        "a/A lot/a of/d|beaucoup/a de/d",
        "too/a many/A|trop/a de/A",
        "several/a|plusieurs/a",
        "a/A few/a|quelques/a",
        "enough/a|assez/a de/A",
        "many/a|beaucoup/a de/A",
        "a/a dozen/b|une/a douzaine/b de/B",
    ),
    1: (
        "a/A lot/a of/d|beaucoup/a de/d",
        "too/a much/A|trop/a de/A",
        "a/A little/a|un/A peu/a de/A",
        "enough/a|assez/a de/A",
    ),
}
CONTAINERS = {
    "drink": ("a/a bottle/b of/c|une/a bouteille/b de/c", "a/a glass/b of/c|un/a verre/b de/c"),
    "food": ("a/a piece/b of/c|un/a morceau/b de/c", "a/a plate/b of/c|une/a assiette/b de/c"),
    "fruit": ("a/a kilo/b of/c|un/a kilo/b de/c", "a/a basket/b of/c|un/a panier/b de/c"),
}


@construction("quantity with de")
def quantity(draw):
    who = subject(draw)
    verb = draw.pick(("buy=acheter", "have=avoir", "eat=manger", "bring=apporter"))
    kind = draw.pick(("food", "fruit", "drink") if verb != "eat=manger" else ("food", "fruit"))
    noun = draw.pick(lexicon.NOUNS[kind])
    number = 2 if kind == "fruit" else 1
    choices = QUANTITIES[number] + CONTAINERS[kind]
    amount = pair(*draw.pick(choices).split("|"))
    phrase = verb_phrase(lexicon.verb(verb), counted(amount, noun, number))
    if verb == "have=avoir":
        return stop(clause(who, phrase, draw.pick(("present", "imperfect"))))
    return statement(draw, who, phrase)


@construction("demonstrative")
def demonstrative(draw):
    if draw.chance(0.5):
        return _handled(draw, subject(draw), ("this", "that"), lambda n: ())
    what, noun = known_thing(draw, (*HANDLED, "building", "abstract"), ("this", "that"))
    return stop(is_(what, intensity(draw) + quality(draw, what, noun)))


@construction("possessive that agrees with the thing owned")
def possessive(draw):
    who = subject(draw)
    owner = draw.pick(("he", "she", "I", "you", "they"))
    return _handled(draw, who, (owner,), lambda n: ())


@construction("possessor with 's")
def possessor(draw):
    noun = draw.pick(lexicon.object_nouns(HANDLED))
    owner = draw.pick((named, relative_of, named))(draw)
    what = possessed(noun, owner, 2 if draw.chance(0.2) else 1)
    if draw.chance(0.4):
        return stop(
            is_(
                what,
                intensity(draw) + quality(draw, what, noun),
                draw.pick(("present", "imperfect")),
            )
        )
    verb = draw.pick(("find=trouver", "see=voir", "lose=perdre", "keep=garder", "forget=oublier"))
    who = subject_pronoun(draw.pick(PEOPLE))
    return statement(draw, who, verb_phrase(lexicon.verb(verb), what), tenses=("past", "future"))


@construction("noun compound")
def compound(draw):
    who = subject(draw)
    kind = draw.pick(("crockery", "clothing", "paper", "dish"))
    noun = draw.pick(lexicon.COMPOUNDS[kind])
    what = described_noun(draw, noun, ("the", "a", "this", "I", "she"), 0.2)
    verb = draw.pick(
        {
            "crockery": ("buy=acheter", "wash=laver", "find=trouver", "break=casser"),
            "clothing": ("buy=acheter", "choose=choisir", "lose=perdre", "find=trouver"),
            "paper": ("find=trouver", "lose=perdre", "keep=garder", "show=montrer"),
            "dish": ("buy=acheter", "prepare=préparer", "eat=manger", "order=commander"),
        }[kind]
    )
    return statement(draw, who, verb_phrase(lexicon.verb(verb), what))


@construction("numbers and prices")
def price(draw):
    en, fr = draw.pick(NUMBERS + TENS).split()
    en_object, fr_object = draw.pick(("euros euros", "dollars dollars")).split()
    amount = pair(f"{en}/a {en_object}/b", f"{fr}/a {fr_object}/b")
    if draw.chance(0.5):
        # `cost` is also a past form, so only `costs` is used in the present.
        what, _ = known_thing(draw, ("thing", "garment", "text"))
        tense = draw.pick(("present", "imperfect")) if what.number == 1 else "future"
        return stop(clause(what, verb_phrase(lexicon.verb("cost=coûter"), amount), tense))
    noun = draw.pick(lexicon.object_nouns(("thing", "garment", "fruit", "text", "animal")))
    many = pair(*(f"{x}/a" for x in draw.pick(NUMBERS[1:] + TENS[:3]).split()))
    return stop(
        clause(
            subject(draw),
            verb_phrase(lexicon.verb("have=avoir"), counted(many, noun)),
            draw.pick(("present", "imperfect")),
        )
    )


@construction("age with avoir")
def age(draw):
    who = third_party(draw) if draw.chance(0.7) else subject(draw)
    young = who.pronoun or len(who.en) == 1
    years, years_fr = draw.pick(NUMBERS[2:] + TENS if young else TENS).split()
    tense = draw.pick(("present", "imperfect", "future"))
    predicate = pair(f"{years}/n years/y old/Y", f"{years_fr}/n ans/y")
    return stop(clause(who, verb_phrase(lexicon.Verb("be", "avoir"), predicate), tense))


def _comparison(draw, item, gender, number, than):
    """More, less or as, with the adjective and the term of comparison."""
    fr = agree(item.fr, gender, number)
    degree = draw.pick(("more", "less", "as"))
    if degree == "more":
        if item.en == "good":
            french = agree("meilleur", gender, number) + "/am"
        else:
            french = f"plus/m {fr}/a"
        return pair(f"{_more(item.en)} than/t {{x}}", f"{french} que/t {{x}}", x=than)
    if degree == "less":
        return pair(f"less/m {item.en}/a than/t {{x}}", f"moins/m {fr}/a que/t {{x}}", x=than)
    return pair(f"as/m {item.en}/a as/t {{x}}", f"aussi/m {fr}/a que/t {{x}}", x=than)


LONG_ADJECTIVES = (
    "tired",
    "jealous",
    "modern",
    "famous",
    "useful",
    "patient",
    "nervous",
    "shy",
    "proud",
    "polite",
    "alone",
)


def _english_degree(text, ending, word_before):
    """`-er` for short adjectives, `more` for long ones."""
    special = {"good": "better best", "bad": "worse worst"}
    if text in special:
        return special[text].split()[ending == "est"] + "/am"
    if text in LONG_ADJECTIVES or len(text) > 6 or text.endswith(("ing", "ful", "ous")):
        return f"{word_before}/m {text}/a"
    if text.endswith("y"):
        return text[:-1] + "i" + ending + "/am"
    if text.endswith("e"):
        return text + ending[1:] + "/am"
    if text in ("big", "sad", "hot", "red"):
        return text + text[-1] + ending + "/am"
    return text + ending + "/am"


def _more(text):
    return _english_degree(text, "er", "more")


def _most(text):
    return _english_degree(text, "est", "most")


COMPARABLE = (
    "big",
    "small",
    "old",
    "beautiful",
    "pretty",
    "good",
    "young",
    "long",
    "expensive",
    "heavy",
    "light",
    "clean",
    "dirty",
    "interesting",
    "boring",
    "difficult",
    "easy",
    "useful",
    "funny",
    "rich",
    "kind",
    "intelligent",
    "lazy",
    "famous",
    "strong",
    "polite",
    "patient",
    "dangerous",
    "comfortable",
    "modern",
    "fast",
    "slow",
    "quiet",
    "strange",
    "ugly",
    "noisy",
    "important",
)


def comparable(draw, noun):
    """An adjective that can be compared."""
    while True:
        item = fitting(draw, noun)
        if item.en in COMPARABLE:
            return item


@construction("comparative")
def comparative(draw):
    if draw.chance(0.5):
        who, other = subject(draw), draw.pick((named, relative_of))(draw)
        if not who.pronoun and draw.chance(0.5):
            other = stressed_pronoun(draw.pick(("he", "she", "they")))
        item = comparable(draw, lexicon.NOUNS["person"][0])
        return stop(is_(who, _comparison(draw, item, who.gender, who.number, other)))
    kind = draw.pick(HANDLED + ("building", "animal"))
    left, noun = known_thing(draw, (kind,), ("the", "my", "this"))
    right, _ = known_thing(draw, (kind,), ("the", "my", "that"))
    item = comparable(draw, noun)
    return stop(is_(left, _comparison(draw, item, left.gender, left.number, right)))


@construction("superlative")
def superlative(draw):
    kind = draw.pick(("person", "building", "text", "vehicle", "animal", "abstract"))
    noun = draw.pick(lexicon.NOUNS[kind])
    item = comparable(draw, noun)
    number = 2 if draw.chance(0.3) else 1
    top = _superlative(item, noun, number)
    scope = _scope(draw, kind)
    if draw.chance(0.5):
        it = {"m": "he", "f": "she"}[noun.gender] if kind == "person" else "it"
        en, fr = (f"{it}/s is/a", "ce/s est/a") if number == 1 else ("they/s are/a", "ce/s sont/a")
        return stop(pair(en + " {x} {s}", fr + " {x} {s}", x=top, s=scope))
    seen = kind in ("person", "building")
    verb = draw.pick(("know=connaître", "see=voir")) if seen else "choose=choisir"
    phrase = verb_phrase(lexicon.verb(verb), pair("{x} {s}", "{x} {s}", x=top, s=scope))
    tense = "present" if verb == "know=connaître" else draw.pick(("past", "future"))
    return stop(clause(subject(draw), phrase, tense))


def _superlative(item, noun, number):
    article = {"m": "le", "f": "la"}[noun.gender] if number == 1 else "les"
    head = noun_phrase(noun, "bare", number)
    fr = agree(item.fr, noun.gender, number)
    english = _most(item.en)
    if item.en == "good":
        best = agree("meilleur", noun.gender, number)
        return pair("the/t best/a {n}", f"^{article}/t {best}/a {{n}}", n=head)
    if item.before:
        return pair(f"the/t {english} {{n}}", f"^{article}/t plus/m {fr}/a {{n}}", n=head)
    return pair(f"the/t {english} {{n}}", f"^{article}/t {{n}} {article}/T plus/m {fr}/a", n=head)


SCOPES = {
    "person": (
        "in/i the/t class/w|de/i ^la/t classe/w",
        "in/i the/t family/w|de/i ^la/t famille/w",
        "in/i the/t town/w|de/i ^la/t ville/w",
    ),
    "building": ("in/i the/t town/w|de/i ^la/t ville/w", "in/i the/t street/w|de/i ^la/t rue/w"),
}
WIDE_SCOPES = (
    "in/i the/t world/w|de/i ^le/t monde/w",
    "in/i the/t country/w|de/i ^le/t pays/w",
    "of/i the/t year/w|de/i ^la/t année/w",
)


def _scope(draw, kind):
    """Among what something is the best."""
    return pair(*draw.pick(SCOPES.get(kind, ()) + WIDE_SCOPES).split("|"))


@construction("profession without article")
def profession(draw):
    en, masculine, feminine = draw.pick(lexicon.PROFESSIONS.strip().split("\n")).split()
    who = subject_pronoun(draw.pick(("I", "he", "she", "he", "she")))
    if draw.chance(0.6):
        who = draw.pick((named, relative_of))(draw)
    form = masculine if who.gender == "m" else feminine
    if draw.chance(0.25):
        wanted = pair(
            "wants/w to/B become/b a/P {x}/p".replace("{x}", en), f"veut/w devenir/b {form}/p"
        )
        if who.person == 2:
            return stop(pair("{s} {v}", "{s} {v}", s=who, v=wanted))
    tense = draw.pick(("present", "imperfect", "future"))
    return stop(is_(who, pair(f"a/P {en}/p", f"{form}/p"), tense))


@construction("exclamation with quel")
def exclamation(draw):
    noun = draw.pick(
        lexicon.object_nouns(
            ("garment", "building", "text", "abstract", "animal", "vehicle", "fruit")
        )
    )
    owned = noun.adjectives in ("C", "V", "A", "B") and draw.chance(0.7)
    item = fitting(draw, noun, True if owned else None)
    number = 2 if draw.chance(0.3) else 1
    said = noun_phrase(noun, "what a", number, (item,))
    if owned:
        who = subject(draw)
        have = clause(who, verb_phrase(lexicon.HAVE), draw.pick(("present", "imperfect")))
        return exclaims(pair("{a} {b}", "{a} {b}", a=said, b=have))
    return exclaims(said)


@construction("tout and its agreement")
def all_of(draw):
    noun = draw.pick(lexicon.object_nouns(HANDLED + ("fruit", "animal")))
    kind = draw.pick(("the", "this", "I", "he", "you"))
    what = noun_phrase(noun, kind, 2)
    fr = "tous" if noun.gender == "m" else "toutes"
    all_things = pair("all/a {x}", f"{fr}/a {{x}}", x=what)
    if draw.chance(0.4):
        return stop(
            clause(
                _plural_like(what, all_things),
                verb_phrase(lexicon.BE, quality(draw, what, noun)),
                draw.pick(("present", "imperfect")),
            )
        )
    verbs = (
        ("see=voir", "photograph=photographier")
        if noun.kind == "animal"
        else ("see=voir", "buy=acheter", "choose=choisir", "find=trouver")
    )
    return statement(
        draw,
        subject(draw),
        verb_phrase(lexicon.verb(draw.pick(verbs)), all_things),
        tenses=("past", "future", "near"),
    )


def _plural_like(phrase, words):
    return type(phrase)(words.en, words.fr, phrase.person, phrase.number, phrase.gender)


@construction("there is")
def there_is(draw):
    noun = draw.pick(
        lexicon.object_nouns(("thing", "person", "animal", "furniture", "fruit", "food"))
    )
    number = 1 if noun.kind == "mass" or draw.chance(0.4) else 2
    if number == 2 and draw.chance(0.6):
        what = counted(pair(*(f"{x}/a" for x in draw.pick(NUMBERS).split())), noun)
    else:
        what = noun_phrase(noun, "some" if noun.kind == "mass" else "a", number)
    en, fr = draw.pick((("is are", "a"), ("was were", "avait"), ("is are", "a")))
    where = _inside(draw)
    said = pair(
        f"there/t {en.split()[number - 1]}/a {{x}} {{w}}",
        f"il/T y/t {fr}/a {{x}} {{w}}",
        x=what,
        w=where,
    )
    return stop(said)


HOLDERS = ("table", "bed", "chair", "desk", "sofa", "armchair")


def _inside(draw):
    if draw.chance(0.6):
        return somewhere(draw)
    return spot(draw)


def spot(draw):
    """Next to, on or under a piece of furniture."""
    side = draw.pick(
        (
            "on/a|sur/a",
            "under/a|sous/a",
            "behind/a|derrière/a",
            "near/a|près/a de/A",
            "in/A front/a of/A|devant/a",
            "next/a to/b|à/A côté/a de/b",
        )
    )
    noun = lexicon.SINGLE_NOUNS[draw.pick(HOLDERS)]
    return pair(*side.split("|")) + noun_phrase(noun, draw.pick(("the", "the", "this", "I")))


@construction("where things are")
def location(draw):
    what, _ = known_thing(draw, ("thing", "garment", "text"), ("the", "my", "my"))
    where = spot(draw)
    negation = "not" if draw.chance(0.25) else None
    return stop(is_(what, where, draw.pick(("present", "imperfect")), negation))


@construction("nationality and language")
def nationality(draw):
    who = subject_pronoun(draw.pick(PEOPLE)) if draw.chance(0.5) else person(draw)
    if draw.chance(0.5):
        en, fr = draw.pick(lexicon.NATIONALITIES.split(",")).split()
        said = pair(f"{en}/a", f"{agree(fr, who.gender, who.number)}/a")
        return stop(is_(who, said, negation="not" if draw.chance(0.3) else None))
    en, fr = draw.pick(lexicon.LANGUAGES.split(",")).split()
    well = pair(
        *draw.pick(
            (
                ("very/a well/b", "très/a bien/b"),
                ("well/a", "bien/a"),
                ("a/A little/a", "un/A peu/a"),
                ("every/a day/b", "tous/a les/A jours/b"),
            )
        )
    )
    phrase = verb_phrase(lexicon.verb("speak=parler"))
    if well.en[-1].text == "day":
        return stop(clause(who, phrase.plus(pair(f"{en}/a", f"{fr}/a"), well)))
    language = pair(f"{en}/a {{w}}", f"{{w}} {fr}/a", w=well)
    return stop(clause(who, phrase.plus(language)))


@construction("question with quel")
def which(draw):
    while True:
        verb, classes = draw.pick(HANDLING)
        noun = draw.pick(lexicon.object_nouns(classes))
        if noun.kind == "count" and verb.en != "look":
            break
    number = 2 if draw.chance(0.4) else 1
    what = noun_phrase(noun, "which", number)
    who = subject_pronoun(draw.pick(OTHERS + ("you", "we"))) if draw.chance(0.6) else person(draw)
    tense = draw.pick(("past", "future", "near"))
    phrase = verb_phrase(verb, agreement=(noun.gender, number))
    return asks(what + question(who, phrase, tense))


@construction("how much and how many")
def how_many(draw):
    noun = draw.pick(lexicon.object_nouns(("fruit", "drink", "food", "text", "thing", "garment")))
    number = 1 if noun.kind == "mass" else 2
    amount = pair("how/A much/a" if number == 1 else "how/A many/a", "combien/a de/A")
    what = counted(amount, noun, number)
    who = subject_pronoun(draw.pick(OTHERS + ("you", "we")))
    verb = draw.pick(("buy=acheter", "have=avoir", "want=vouloir", "sell=vendre"))
    tense = (
        "present"
        if verb in ("have=avoir", "want=vouloir")
        else draw.pick(("past", "future", "near"))
    )
    phrase = verb_phrase(lexicon.verb(verb), agreement=(noun.gender, number))
    return asks(what + question(who, phrase, tense))
