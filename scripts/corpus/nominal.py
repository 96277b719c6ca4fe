"""Constructions of the noun phrase: articles, adjectives, possession, quantity, comparison."""

from constructions import *

HANDLING = [(verb, classes) for verb, classes in lexicon.TRANSITIVE if verb.en in listed("""
    buy sell lose find look choose see forget read wear open repair wash visit photograph keep hide""")]


def handled(kinds, sides=()):
    """A verb whose object has a drawn determiner and an adjective on each of the given sides in French."""
    owned = not set(listed(kinds)) <= {"the", "a", "this", "that"}
    while True:
        verb, classes = pick(HANDLING)
        noun = drawn_noun(classes)
        if noun in lexicon.NOUNS["person"] and owned:
            continue
        adjectives = [fitting(noun, side == "before") for side in sides]
        if all(adjectives):
            number = 2 if noun.kind != "mass" and chance(0.35) else 1
            kind = "the" if noun.kind == "mass" else pick(kinds)
            return verb_phrase(verb, noun_phrase(noun, kind, number, adjectives))


def handling(kinds, *sides):
    """What draws such a verb phrase."""
    return lambda who: handled(kinds, sides)


declare("adjective after the noun", do=handling("the a this", "after"))
declare("adjective before the noun", do=handling("the a this", "before"))
declare("adjectives on both sides", do=handling("the a that", "before", "after"))


@construction("predicate adjective with agreement")
def predicate_adjective():
    tense = pick("present present imperfect future")
    if chance(0.5):
        who = subject()
        return is_(who, intensity() + state(who), tense)
    what, noun = known_thing(HANDLED + " building animal")
    return is_(what, intensity() + quality(what, noun), tense)


TASTED = lexicon.verbs_with("eat: food, buy: food drink, drink: drink, order: food drink, want: food drink")


@construction("partitive article")
def partitive():
    who, (verb, classes) = subject(), pick(TASTED)
    noun = drawn_noun(classes)
    phrase = verb_phrase(verb, noun_phrase(noun, "some" if chance(0.5) else "partitive"))
    return clause(who, phrase) if verb.en == "want" else told(who, phrase)


@construction("generic article")
def generic():
    who = subject()
    noun = drawn_noun(pick("food; drink; fruit; animal; fruit food"))
    verb = pick("like love hate prefer")
    negation = "not" if verb == "like" and chance(0.4) else ""
    what = noun_phrase(noun, "general", 1 if noun.kind == "mass" else 2)
    return clause(who, verb_phrase(verb, what), "present", negation)


MUCH = """
    a/A lot/a of/d | beaucoup/a de/d; too/a much/A | trop/a de/A; a/A little/a | un/A peu/a de/A;
    enough/a | assez/a de/A;"""
MANY = """
    a/A lot/a of/d | beaucoup/a de/d; too/a many/A | trop/a de/A; several/a | plusieurs/a;
    a/A few/a | quelques/a; enough/a | assez/a de/A; many/a | beaucoup/a de/A;
    a/a dozen/b | une/a douzaine/b de/B;"""
CONTAINERS = {
    "drink": "a/a bottle/b of/c | une/a bouteille/b de/c; a/a glass/b of/c | un/a verre/b de/c",
    "food": "a/a piece/b of/c | un/a morceau/b de/c; a/a plate/b of/c | une/a assiette/b de/c",
    "fruit": "a/a kilo/b of/c | un/a kilo/b de/c; a/a basket/b of/c | un/a panier/b de/c",
}


@construction("quantity with de")
def quantity():
    who, verb = subject(), pick("buy have eat bring")
    kind = pick("food fruit" if verb == "eat" else "food fruit drink")
    noun = pick(lexicon.NOUNS[kind])
    amount = pair(pick((MANY if kind == "fruit" else MUCH) + CONTAINERS[kind]))
    phrase = verb_phrase(verb, counted(amount, noun, 2 if kind == "fruit" else 1))
    if verb == "have":
        return clause(who, phrase, pick("present imperfect"))
    return told(who, phrase)


@construction("demonstrative")
def demonstrative():
    if chance(0.5):
        who = subject()
        return told(who, handled("this that"))
    what, noun = known_thing(HANDLED + " building abstract", "this that")
    return is_(what, intensity() + quality(what, noun))


declare("possessive that agrees with the thing owned",
        do=lambda who: handled(pick("he she I you they")))


@construction("possessor with 's")
def possessor():
    noun, owner = drawn_noun(HANDLED), pick((named, relative_of, named))()
    what = possessed(noun, owner, pick_number(0.2))
    if chance(0.4):
        predicate = intensity() + quality(what, noun)
        return is_(what, predicate, pick("present imperfect"))
    verb = pick("find see lose keep forget")
    return told(drawn_pronoun(), verb_phrase(verb, what), "", "past future")


COMPOUND_VERBS = {
    "crockery": "buy wash find break", "clothing": "buy choose lose find", "paper": "find lose keep show",
    "dish": "buy prepare eat order",
}


def doing_with_compound(who):
    """Something done with what a compound names."""
    kind = pick(tuple(COMPOUND_VERBS))
    what = described_noun(pick(lexicon.NOUNS[kind]), "the a this I she", 0.2)
    return verb_phrase(pick(COMPOUND_VERBS[kind]), what)


declare("noun compound", do=doing_with_compound)


@construction("numbers and prices")
def price():
    number, currency = pick(NUMBERS + TENS), pick(rows("euros euros, dollars dollars"))
    if chance(0.5):
        # `cost` is also a past form, so only `costs` is used in the present.
        what, _ = known_thing("thing garment text")
        tense = pick("present imperfect") if what.number == 1 else "future"
        return clause(what, verb_phrase("cost", pair("{n}/a {c}/b", n=number, c=currency)), tense)
    noun = drawn_noun("thing garment fruit text animal")
    many = pair("{n}/a", n=pick(NUMBERS[1:] + TENS[:3]))
    return clause(subject(), verb_phrase("have", counted(many, noun)), pick("present imperfect"))


@construction("age with avoir")
def age():
    who = third_party() if chance(0.7) else subject()
    young = who.pronoun or len(who.en) == 1
    years = pair("{n}/n years/y old/Y | {n}/n ans/y", n=pick(NUMBERS[2:] + TENS if young else TENS))
    return clause(who, verb_phrase("be=avoir", years), pick("present imperfect future"))


COMPARABLE = listed("""
    big small old beautiful pretty good young long expensive heavy light clean dirty interesting boring difficult
    easy useful funny rich kind intelligent lazy famous strong polite patient dangerous comfortable modern fast
    slow quiet strange ugly noisy important
""")
COMPARISONS = {
    "more": "{more} than/t {x} | {plus} que/t {x}",
    "less": "less/m {a}/a than/t {x} | moins/m {a}/a que/t {x}",
    "as": "as/m {a}/a as/t {x} | aussi/m {a}/a que/t {x}",
}


def comparable(noun):
    """An adjective that can be compared."""
    while True:
        item = fitting(noun)
        if item.en in COMPARABLE:
            return item


def comparison(item, what, than):
    """More, less or as, with the adjective and the term of comparison."""
    short, fr = english.degree(item.en, "er"), agree(item.fr, what.gender, what.number)
    more = f"{short}/am" if short else f"more/m {item.en}/a"
    plus = agree("meilleur", what.gender, what.number) + "/am" if item.en == "good" else f"plus/m {fr}/a"
    return pair(COMPARISONS[pick("more less as")], a=(item.en, fr), more=more, plus=plus, x=than)


@construction("comparative")
def comparative():
    if chance(0.5):
        who, other = subject(), named_or_relative()
        if not who.pronoun and chance(0.5):
            other = stressed_pronoun(pick("he she they"))
        item = comparable(lexicon.NOUNS["person"][0])
        return is_(who, comparison(item, who, other))
    kind = pick(HANDLED + " building animal")
    what, noun = known_thing(kind, "the my this")
    other, _ = known_thing(kind, "the my that")
    return is_(what, comparison(comparable(noun), what, other))


TOWN = "in/i the/t town/w | de/i ^la/t ville/w;"
SCOPES = {
    "person": "in/i the/t class/w | de/i ^la/t classe/w; in/i the/t family/w | de/i ^la/t famille/w;" + TOWN,
    "building": TOWN + "in/i the/t street/w | de/i ^la/t rue/w;",
}
WIDE_SCOPES = """
    in/i the/t world/w | de/i ^le/t monde/w; in/i the/t country/w | de/i ^le/t pays/w;
    of/i the/t year/w | de/i ^la/t année/w"""


@construction("superlative")
def superlative():
    kind = pick("person building text vehicle animal abstract")
    noun = pick(lexicon.NOUNS[kind])
    item, number = comparable(noun), pick_number(0.3)
    top = _superlative(item, noun, number) + pair(pick(SCOPES.get(kind, "") + WIDE_SCOPES))
    if chance(0.5):
        it = "it" if kind != "person" else "he" if noun.gender == "m" else "she"
        return pair(("{it}/s is/a {top} | ce/s est/a {top}", "they/s are/a {top} | ce/s sont/a {top}")[number - 1],
                    it=it, top=top)
    verb = pick("know see") if kind in ("person", "building") else "choose"
    tense = "present" if verb == "know" else pick("past future")
    return clause(subject(), verb_phrase(verb, top), tense)


def _superlative(item, noun, number):
    """« Le meilleur » alone, « le plus » before the noun, or with its article once more after the noun."""
    if item.en == "good":
        template = "the/t best/a {noun} | ^{le}/t {best}/a {noun}"
    elif item.before:
        template = "the/t {most} {noun} | ^{le}/t plus/m {fr}/a {noun}"
    else:
        template = "the/t {most} {noun} | ^{le}/t {noun} {le}/T plus/m {fr}/a"
    short = english.degree(item.en, "est")
    return pair(
        template, most=f"{short}/am" if short else f"most/m {item.en}/a", noun=noun_phrase(noun, "bare", number),
        le=article("le", noun.gender, number), fr=agree(item.fr, noun.gender, number),
        best=agree("meilleur", noun.gender, number),
    )


@construction("profession without article")
def profession():
    en, masculine, feminine = pick(lexicon.PROFESSIONS)
    who = drawn_pronoun("I he she he she")
    if chance(0.6):
        who = named_or_relative()
    name = (en, masculine if who.gender == "m" else feminine)
    if chance(0.25) and who.person == 2:
        return pair("{who} wants/w to/B become/b a/P {x}/p | {who} veut/w devenir/b {x}/p", who=who, x=name)
    return is_(who, pair("a/P {x}/p | {x}/p", x=name), pick("present imperfect future"))


@construction("exclamation with quel")
def exclamation():
    noun = drawn_noun("garment building text abstract animal vehicle fruit")
    owned = noun.adjectives in ("C", "V", "A", "B") and chance(0.7)
    item = fitting(noun, True if owned else None)
    said = noun_phrase(noun, "what a", pick_number(0.3), (item,))
    if owned:
        said = said + clause(subject(), verb_phrase("have"), pick("present imperfect"))
    return exclaims(said)


@construction("tout and its agreement")
def all_of():
    noun = drawn_noun(HANDLED + " fruit animal")
    what = noun_phrase(noun, pick("the this I he you"), 2)
    every = pair("all/a {what} | {tous}/a {what}", what=what, tous="tous" if noun.gender == "m" else "toutes")
    if chance(0.4):
        predicate = quality(what, noun)
        return is_(as_noun(every, 2, noun.gender), predicate, pick("present imperfect"))
    who = subject()
    return told(who, verb_phrase(pick("see buy choose find"), every), "", "past future near")


@construction("there is")
def there_is():
    noun = drawn_noun("thing person animal furniture fruit food")
    mass = noun.kind == "mass"
    number = 1 if mass or chance(0.4) else 2
    if number == 2 and chance(0.6):
        what = counted(pair("{n}/a", n=pick(NUMBERS)), noun)
    else:
        what = noun_phrase(noun, "some" if mass else "a", number)
    tense, fr = pick((("present", "a"), ("past", "avait"), ("present", "a")))
    where = (somewhere if chance(0.6) else spot)()
    be = (english.finite("be", tense, what.person), fr)
    return pair("there/t {be}/a {what} {where} | il/T y/t {be}/a {what} {where}", be=be, what=what, where=where)


@construction("where things are")
def location():
    what, _ = known_thing("thing garment text", "the my my")
    where, negation = spot(), pick_not(0.25)
    return is_(what, where, pick("present imperfect"), negation)


@construction("nationality and language")
def nationality():
    who = subject()
    if chance(0.5):
        name = agreeing(lexicon.Adjective(*pick(lexicon.NATIONALITIES), ""), who)
        return is_(who, name, "present", pick_not(0.3))
    language = pick(lexicon.LANGUAGES)
    well = pair(pick("""
        very/a well/b | très/a bien/b; well/a | bien/a; a/A little/a | un/A peu/a;
        every/a day/b | tous/a les/A jours/b"""))
    # A time comes last in both languages, an adverb before the language in French.
    often = well.en[-1].text == "day"
    template = "{language}/a {well}" if often else "{language}/a {well} | {well} {language}/a"
    return clause(who, verb_phrase("speak", pair(template, language=language, well=well)))


@construction("question with quel")
def which():
    while True:
        verb, classes = pick(HANDLING)
        noun = drawn_noun(classes)
        if noun.kind == "count" and verb.en != "look":
            break
    what = noun_phrase(noun, "which", pick_number(0.4))
    who = drawn_pronoun("he she they you we") if chance(0.6) else person()
    phrase = verb_phrase(verb, agreement=(what.gender, what.number))
    return asks(what + question(who, phrase, pick("past future near")))


@construction("how much and how many")
def how_many():
    noun = drawn_noun("fruit drink food text thing garment")
    number, much = (1, "much") if noun.kind == "mass" else (2, "many")
    what = counted(pair("how/A {much}/a | combien/a de/A", much=much), noun, number)
    who, verb = drawn_pronoun("he she they you we"), pick("buy have want sell")
    tense = "present" if verb in ("have", "want") else pick("past future near")
    return asks(what + question(who, verb_phrase(verb, agreement=(noun.gender, number)), tense))
