"""Constructions of the noun phrase: articles, adjectives, possession, quantity, comparison."""

import english
import lexicon
from adverbials import NUMBERS, TENS, somewhere, spot
from clauses import clause, question, verb_phrase
from constructions import asks, construction, declare, exclaims, told
from draw import listed, rows
from events import HANDLED, intensity, is_, known_thing, quality, state
from french import agree
from phrases import (
    agreeing, article, as_noun, counted, described_noun, drawn_noun, drawn_pronoun, fitting, named,
    named_or_relative, noun_phrase, person, possessed, relative_of, stressed_pronoun, subject, subject_pronoun,
    third_party,
)
from words import pair

# --- Determiners and adjectives -------------------------------------------

HANDLING = [(verb, classes) for verb, classes in lexicon.TRANSITIVE if verb.en in listed("""
    buy sell lose find look choose see forget read wear open repair wash visit photograph keep hide""")]


def handled(draw, kinds, sides=()):
    """A verb whose object has a drawn determiner and an adjective on each of the given sides in French."""
    owned = not set(listed(kinds)) <= {"the", "a", "this", "that"}
    while True:
        verb, classes = draw.pick(HANDLING)
        noun = drawn_noun(draw, classes)
        if noun in lexicon.NOUNS["person"] and owned:
            continue
        adjectives = [fitting(draw, noun, side == "before") for side in sides]
        if all(adjectives):
            number = 2 if noun.kind != "mass" and draw.chance(0.35) else 1
            kind = "the" if noun.kind == "mass" else draw.pick(kinds)
            return verb_phrase(verb, noun_phrase(noun, kind, number, adjectives))


def handling(kinds, *sides):
    """What draws such a verb phrase."""
    return lambda draw, who: handled(draw, kinds, sides)


declare("adjective after the noun", do=handling("the a this", "after"))
declare("adjective before the noun", do=handling("the a this", "before"))
declare("adjectives on both sides", do=handling("the a that", "before", "after"))


@construction("predicate adjective with agreement")
def predicate_adjective(draw):
    tense = draw.pick("present present imperfect future")
    if draw.chance(0.5):
        who = subject(draw)
        return is_(who, intensity(draw) + state(draw, who), tense)
    what, noun = known_thing(draw, HANDLED + " building animal")
    return is_(what, intensity(draw) + quality(draw, what, noun), tense)


TASTED = lexicon.verbs_with("eat: food, buy: food drink, drink: drink, order: food drink, want: food drink")


@construction("partitive article")
def partitive(draw):
    who, (verb, classes) = subject(draw), draw.pick(TASTED)
    noun = drawn_noun(draw, classes)
    phrase = verb_phrase(verb, noun_phrase(noun, "some" if draw.chance(0.5) else "partitive"))
    return clause(who, phrase) if verb.en == "want" else told(draw, who, phrase)


@construction("generic article")
def generic(draw):
    who = subject(draw)
    noun = drawn_noun(draw, draw.pick("food; drink; fruit; animal; fruit food"))
    verb = draw.pick("like love hate prefer")
    negation = "not" if verb == "like" and draw.chance(0.4) else ""
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
def quantity(draw):
    who, verb = subject(draw), draw.pick("buy have eat bring")
    kind = draw.pick("food fruit" if verb == "eat" else "food fruit drink")
    noun = draw.pick(lexicon.NOUNS[kind])
    amount = pair(draw.pick((MANY if kind == "fruit" else MUCH) + CONTAINERS[kind]))
    phrase = verb_phrase(verb, counted(amount, noun, 2 if kind == "fruit" else 1))
    if verb == "have":
        return clause(who, phrase, draw.pick("present imperfect"))
    return told(draw, who, phrase)


@construction("demonstrative")
def demonstrative(draw):
    if draw.chance(0.5):
        who = subject(draw)
        return told(draw, who, handled(draw, "this that"))
    what, noun = known_thing(draw, HANDLED + " building abstract", "this that")
    return is_(what, intensity(draw) + quality(draw, what, noun))


# --- Possession -----------------------------------------------------------

declare("possessive that agrees with the thing owned",
        do=lambda draw, who: handled(draw, draw.pick("he she I you they")))


@construction("possessor with 's")
def possessor(draw):
    noun, owner = drawn_noun(draw, HANDLED), draw.pick((named, relative_of, named))(draw)
    what = possessed(noun, owner, draw.number(0.2))
    if draw.chance(0.4):
        predicate = intensity(draw) + quality(draw, what, noun)
        return is_(what, predicate, draw.pick("present imperfect"))
    verb = draw.pick("find see lose keep forget")
    return told(draw, drawn_pronoun(draw), verb_phrase(verb, what), "", "past future")


COMPOUND_VERBS = {
    "crockery": "buy wash find break", "clothing": "buy choose lose find", "paper": "find lose keep show",
    "dish": "buy prepare eat order",
}


def doing_with_compound(draw, who):
    """Something done with what a compound names."""
    kind = draw.pick(tuple(COMPOUND_VERBS))
    what = described_noun(draw, draw.pick(lexicon.NOUNS[kind]), "the a this I she", 0.2)
    return verb_phrase(draw.pick(COMPOUND_VERBS[kind]), what)


declare("noun compound", do=doing_with_compound)

# --- Numbers --------------------------------------------------------------


@construction("numbers and prices")
def price(draw):
    number, currency = draw.pick(NUMBERS + TENS), draw.pick(rows("euros euros, dollars dollars"))
    if draw.chance(0.5):
        # `cost` is also a past form, so only `costs` is used in the present.
        what, _ = known_thing(draw, "thing garment text")
        tense = draw.pick("present imperfect") if what.number == 1 else "future"
        return clause(what, verb_phrase("cost", pair("{n}/a {c}/b", n=number, c=currency)), tense)
    noun = drawn_noun(draw, "thing garment fruit text animal")
    many = pair("{n}/a", n=draw.pick(NUMBERS[1:] + TENS[:3]))
    return clause(subject(draw), verb_phrase("have", counted(many, noun)), draw.pick("present imperfect"))


@construction("age with avoir")
def age(draw):
    who = third_party(draw) if draw.chance(0.7) else subject(draw)
    young = who.pronoun or len(who.en) == 1
    years = pair("{n}/n years/y old/Y | {n}/n ans/y", n=draw.pick(NUMBERS[2:] + TENS if young else TENS))
    return clause(who, verb_phrase("be=avoir", years), draw.pick("present imperfect future"))


# --- Comparison -----------------------------------------------------------

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


def comparable(draw, noun):
    """An adjective that can be compared."""
    while True:
        item = fitting(draw, noun)
        if item.en in COMPARABLE:
            return item


def comparison(draw, item, what, than):
    """More, less or as, with the adjective and the term of comparison."""
    short, fr = english.degree(item.en, "er"), agree(item.fr, what.gender, what.number)
    more = f"{short}/am" if short else f"more/m {item.en}/a"
    plus = agree("meilleur", what.gender, what.number) + "/am" if item.en == "good" else f"plus/m {fr}/a"
    return pair(COMPARISONS[draw.pick("more less as")], a=(item.en, fr), more=more, plus=plus, x=than)


@construction("comparative")
def comparative(draw):
    if draw.chance(0.5):
        who, other = subject(draw), named_or_relative(draw)
        if not who.pronoun and draw.chance(0.5):
            other = stressed_pronoun(draw.pick("he she they"))
        item = comparable(draw, lexicon.NOUNS["person"][0])
        return is_(who, comparison(draw, item, who, other))
    kind = draw.pick(HANDLED + " building animal")
    what, noun = known_thing(draw, kind, "the my this")
    other, _ = known_thing(draw, kind, "the my that")
    return is_(what, comparison(draw, comparable(draw, noun), what, other))


TOWN = "in/i the/t town/w | de/i ^la/t ville/w;"
SCOPES = {
    "person": "in/i the/t class/w | de/i ^la/t classe/w; in/i the/t family/w | de/i ^la/t famille/w;" + TOWN,
    "building": TOWN + "in/i the/t street/w | de/i ^la/t rue/w;",
}
WIDE_SCOPES = """
    in/i the/t world/w | de/i ^le/t monde/w; in/i the/t country/w | de/i ^le/t pays/w;
    of/i the/t year/w | de/i ^la/t année/w"""


@construction("superlative")
def superlative(draw):
    kind = draw.pick("person building text vehicle animal abstract")
    noun = draw.pick(lexicon.NOUNS[kind])
    item, number = comparable(draw, noun), draw.number(0.3)
    top = _superlative(item, noun, number) + pair(draw.pick(SCOPES.get(kind, "") + WIDE_SCOPES))
    if draw.chance(0.5):
        it = "it" if kind != "person" else "he" if noun.gender == "m" else "she"
        return pair(("{it}/s is/a {top} | ce/s est/a {top}", "they/s are/a {top} | ce/s sont/a {top}")[number - 1],
                    it=it, top=top)
    verb = draw.pick("know see") if kind in ("person", "building") else "choose"
    tense = "present" if verb == "know" else draw.pick("past future")
    return clause(subject(draw), verb_phrase(verb, top), tense)


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


# --- Predicates and questions ---------------------------------------------


@construction("profession without article")
def profession(draw):
    en, masculine, feminine = draw.pick(lexicon.PROFESSIONS)
    who = drawn_pronoun(draw, "I he she he she")
    if draw.chance(0.6):
        who = named_or_relative(draw)
    name = (en, masculine if who.gender == "m" else feminine)
    if draw.chance(0.25) and who.person == 2:
        return pair("{who} wants/w to/B become/b a/P {x}/p | {who} veut/w devenir/b {x}/p", who=who, x=name)
    return is_(who, pair("a/P {x}/p | {x}/p", x=name), draw.pick("present imperfect future"))


@construction("exclamation with quel")
def exclamation(draw):
    noun = drawn_noun(draw, "garment building text abstract animal vehicle fruit")
    owned = noun.adjectives in ("C", "V", "A", "B") and draw.chance(0.7)
    item = fitting(draw, noun, True if owned else None)
    said = noun_phrase(noun, "what a", draw.number(0.3), (item,))
    if owned:
        said = said + clause(subject(draw), verb_phrase("have"), draw.pick("present imperfect"))
    return exclaims(said)


@construction("tout and its agreement")
def all_of(draw):
    noun = drawn_noun(draw, HANDLED + " fruit animal")
    what = noun_phrase(noun, draw.pick("the this I he you"), 2)
    every = pair("all/a {what} | {tous}/a {what}", what=what, tous="tous" if noun.gender == "m" else "toutes")
    if draw.chance(0.4):
        predicate = quality(draw, what, noun)
        return is_(as_noun(every, 2, noun.gender), predicate, draw.pick("present imperfect"))
    who = subject(draw)
    return told(draw, who, verb_phrase(draw.pick("see buy choose find"), every), "", "past future near")


@construction("there is")
def there_is(draw):
    noun = drawn_noun(draw, "thing person animal furniture fruit food")
    mass = noun.kind == "mass"
    number = 1 if mass or draw.chance(0.4) else 2
    if number == 2 and draw.chance(0.6):
        what = counted(pair("{n}/a", n=draw.pick(NUMBERS)), noun)
    else:
        what = noun_phrase(noun, "some" if mass else "a", number)
    tense, fr = draw.pick((("present", "a"), ("past", "avait"), ("present", "a")))
    where = (somewhere if draw.chance(0.6) else spot)(draw)
    be = (english.finite("be", tense, what.person), fr)
    return pair("there/t {be}/a {what} {where} | il/T y/t {be}/a {what} {where}", be=be, what=what, where=where)


@construction("where things are")
def location(draw):
    what, _ = known_thing(draw, "thing garment text", "the my my")
    where, negation = spot(draw), draw.negation(0.25)
    return is_(what, where, draw.pick("present imperfect"), negation)


@construction("nationality and language")
def nationality(draw):
    who = subject(draw)
    if draw.chance(0.5):
        name = agreeing(lexicon.Adjective(*draw.pick(lexicon.NATIONALITIES), ""), who)
        return is_(who, name, "present", draw.negation(0.3))
    language = draw.pick(lexicon.LANGUAGES)
    well = pair(draw.pick("""
        very/a well/b | très/a bien/b; well/a | bien/a; a/A little/a | un/A peu/a;
        every/a day/b | tous/a les/A jours/b"""))
    # A time comes last in both languages, an adverb before the language in French.
    often = well.en[-1].text == "day"
    template = "{language}/a {well}" if often else "{language}/a {well} | {well} {language}/a"
    return clause(who, verb_phrase("speak", pair(template, language=language, well=well)))


@construction("question with quel")
def which(draw):
    while True:
        verb, classes = draw.pick(HANDLING)
        noun = drawn_noun(draw, classes)
        if noun.kind == "count" and verb.en != "look":
            break
    what = noun_phrase(noun, "which", draw.number(0.4))
    who = drawn_pronoun(draw, "he she they you we") if draw.chance(0.6) else person(draw)
    phrase = verb_phrase(verb, agreement=(what.gender, what.number))
    return asks(what + question(who, phrase, draw.pick("past future near")))


@construction("how much and how many")
def how_many(draw):
    noun = drawn_noun(draw, "fruit drink food text thing garment")
    number, much = (1, "much") if noun.kind == "mass" else (2, "many")
    what = counted(pair("how/A {much}/a | combien/a de/A", much=much), noun, number)
    who, verb = drawn_pronoun(draw, "he she they you we"), draw.pick("buy have want sell")
    tense = "present" if verb in ("have", "want") else draw.pick("past future near")
    return asks(what + question(who, verb_phrase(verb, agreement=(noun.gender, number)), tense))
