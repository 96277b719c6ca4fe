"""Constructions of the noun phrase: articles, adjectives, possession, quantity, comparison."""

from dataclasses import replace

import english
import lexicon
from adverbials import NUMBERS, TENS, somewhere, spot
from clauses import clause, having_object, question, verb_phrase
from constructions import construction, declare, sentence_of, told
from draw import chance, either, listed, one_of, pick, pick_not, pick_number, rows, sometimes_not, weighted
from events import HANDLED, intense, is_, known, quality, state
from french import agree
from phrases import (
    agreeing, article, counted, described_noun, fitting, named, named_or_relative, noun_of, noun_phrase,
    person, pronoun, relative_of, stressed_pronoun, subject, subject_pronoun, third_party,
)
from words import pair

HANDLING = [(verb, classes) for verb, classes in lexicon.TRANSITIVE if verb.en in listed("""
    buy sell lose find look choose see forget read wear open repair wash visit photograph keep hide""")]
TASTED = lexicon.verbs_with("eat: food, buy: food drink, drink: drink, order: food drink, want: food drink")
MUCH = """a/A lot/a of/d | beaucoup/a de/d; too/a much/A | trop/a de/A; a/A little/a | un/A peu/a de/A;
    enough/a | assez/a de/A;"""
MANY = """a/A lot/a of/d | beaucoup/a de/d; too/a many/A | trop/a de/A; several/a | plusieurs/a;
    a/A few/a | quelques/a; enough/a | assez/a de/A; many/a | beaucoup/a de/A;
    a/a dozen/b | une/a douzaine/b de/B;"""
CONTAINERS = {
    "drink": "a/a bottle/b of/c | une/a bouteille/b de/c; a/a glass/b of/c | un/a verre/b de/c",
    "food": "a/a piece/b of/c | un/a morceau/b de/c; a/a plate/b of/c | une/a assiette/b de/c",
    "fruit": "a/a kilo/b of/c | un/a kilo/b de/c; a/a basket/b of/c | un/a panier/b de/c",
}
COMPARABLE = listed("""big small old beautiful pretty good young long expensive heavy light clean dirty
    interesting boring difficult easy useful funny rich kind intelligent lazy famous strong polite patient
    dangerous comfortable modern fast slow quiet strange ugly noisy important""")
COMPARISONS = """{more} than/t {x} | {plus} que/t {x}; less/m {a}/a than/t {x} | moins/m {a}/a que/t {x};
    as/m {a}/a as/t {x} | aussi/m {a}/a que/t {x}"""
TOWN = "in/i the/t town/w | de/i ^la/t ville/w;"
SCOPES = {
    "person": "in/i the/t class/w | de/i ^la/t classe/w; in/i the/t family/w | de/i ^la/t famille/w;" + TOWN,
    "building": TOWN + "in/i the/t street/w | de/i ^la/t rue/w;",
}
WIDE_SCOPES = """in/i the/t world/w | de/i ^le/t monde/w; in/i the/t country/w | de/i ^le/t pays/w;
    of/i the/t year/w | de/i ^la/t année/w"""
COMPOUND_VERBS = {
    "crockery": "buy wash find break", "clothing": "buy choose lose find", "paper": "find lose keep show",
    "dish": "buy prepare eat order",
}
WELL = """very/a well/b | très/a bien/b; well/a | bien/a; a/A little/a | un/A peu/a;
    every/a day/b | tous/a les/A jours/b"""

def handled(kinds, *sides):
    """A verb whose object has a drawn determiner and an adjective on each of the given sides in French."""
    owned = not set(listed(kinds)) <= {"the", "a", "this", "that"}
    while True:
        verb, classes = pick(HANDLING)
        noun = noun_of(classes)
        if noun in lexicon.NOUNS["person"] and owned:
            continue
        adjectives = [fitting(noun, side == "before") for side in sides]
        if all(adjectives):
            mass = noun.kind == "mass"
            number = 1 if mass else pick_number(0.35)
            return verb_phrase(verb, noun_phrase(noun, "the" if mass else pick(kinds), number, adjectives))

declare("adjective after the noun", do=lambda: handled("the a this", "after"))
declare("adjective before the noun", do=lambda: handled("the a this", "before"))
declare("adjectives on both sides", do=lambda: handled("the a that", "before", "after"))
declare("predicate adjective with agreement",
        tense=weighted({"present": 2}, "imperfect future"), of_person=lambda: chance(0.5),
        who=lambda of_person: subject() if of_person else known(HANDLED + " building animal"),
        what=lambda who, of_person: intense(state if of_person else quality, who))
declare("partitive article",
        row=TASTED, verb=lambda row: row[0],
        what=lambda row: noun_phrase(noun_of(row[1]), pick("some partitive")),
        plain=lambda verb: "present" if verb.en == "want" else "")
declare("generic article",
        noun=lambda: noun_of(pick("food; drink; fruit; animal; fruit food")), verb="like love hate prefer",
        negation=lambda verb: pick_not(0.4) if verb == "like" else "", tense="present",
        what=lambda noun: noun_phrase(noun, "general", 1 if noun.kind == "mass" else 2))
declare("quantity with de",
        verb="buy have eat bring",
        kind=lambda verb: pick("food fruit" if verb == "eat" else "food fruit drink"),
        noun=lambda kind: pick(lexicon.NOUNS[kind]),
        amount=lambda kind: pick((MANY if kind == "fruit" else MUCH) + CONTAINERS[kind]),
        what=lambda kind, noun, amount: counted(amount, noun, 2 if kind == "fruit" else 1),
        plain=lambda verb: pick("present imperfect") if verb == "have" else "")
construction("demonstrative")(either(
    0.5, lambda: told(subject(), handled("this that")),
    sentence_of(who=lambda: known(HANDLED + " building abstract", "this that"), tense="present",
                what=lambda who: intense(quality, who))))
declare("possessive that agrees with the thing owned", do=lambda: handled(pick("he she I you they")))

@construction("possessor with 's")
def possessor():
    noun, owner, number = noun_of(HANDLED), one_of(named, relative_of, named)(), pick_number(0.2)
    owned, le = noun_phrase(noun, "bare", number), article("le", noun.gender, number)
    said = pair("{owner} 's/dP {owned} | ^{le}/p {owned} de/d {owner}", owner=owner, owned=owned, le=le)
    what = replace(owned, en=said.en, fr=said.fr)
    if chance(0.4):
        return is_(what, intense(quality, what), pick("present imperfect"))
    verb = pick("find see lose keep forget")
    return told(pronoun(), verb_phrase(verb, what), "", "past future")

declare("noun compound", kind=" ".join(COMPOUND_VERBS),
        what=lambda kind: described_noun(pick(lexicon.NOUNS[kind]), "the a this I she", described=0.2),
        do=lambda kind, what: verb_phrase(pick(COMPOUND_VERBS[kind]), what))

@construction("numbers and prices")
def price():
    amount = pair("{n}/a {c}/b", n=pick(NUMBERS + TENS), c=pick(rows("euros euros, dollars dollars")))
    if chance(0.5):
        what = known("thing garment text")
        # `cost` is also a past form, so only `costs` is used in the present.
        tense = pick("present imperfect") if what.number == 1 else "future"
        return clause(what, verb_phrase("cost", amount), tense)
    noun = noun_of("thing garment fruit text animal")
    what = counted(pair("{n}/a", n=pick(NUMBERS[1:] + TENS[:3])), noun)
    return clause(subject(), verb_phrase("have", what), pick("present imperfect"))

declare("age with avoir", who=lambda: third_party() if chance(0.7) else subject(),
        years=lambda who: pick(NUMBERS[2:] + TENS if who.pronoun or len(who.en) == 1 else TENS),
        verb="be=avoir", what="{years}/n years/y old/Y | {years}/n ans/y", tense="present imperfect future")

def comparable(noun):
    """An adjective that can be compared."""
    while True:
        adjective = fitting(noun)
        if adjective.en in COMPARABLE:
            return adjective

def degree(adjective, ending, word):
    """Notation for the comparative or superlative of an English adjective."""
    short = english.degree(adjective, ending)
    return f"{short}/am" if short else f"{word}/m {adjective}/a"

def comparison(adjective, what, than):
    """More, less or as, with the adjective and the term of comparison."""
    fr, better = (agree(x, what.gender, what.number) for x in (adjective.fr, "meilleur"))
    plus = f"{better}/am" if adjective.en == "good" else f"plus/m {fr}/a"
    more = degree(adjective.en, "er", "more")
    return pair(pick(COMPARISONS), a=(adjective.en, fr), more=more, plus=plus, x=than)

construction("comparative")(either(
    0.5,
    sentence_of(who=subject, other=named_or_relative, tense="present",
                again=lambda who: not who.pronoun and chance(0.5),
                than=lambda other, again: stressed_pronoun(pick("he she they")) if again else other,
                what=lambda who, than: comparison(comparable(lexicon.NOUNS["person"][0]), who, than)),
    sentence_of(kind=HANDLED + " building animal", tense="present",
                who=lambda kind: known(kind, "the my this"), than=lambda kind: known(kind, "the my that"),
                what=lambda who, than: comparison(comparable(who.noun), who, than))))

@construction("superlative")
def superlative():
    kind = pick("person building text vehicle animal abstract")
    noun = pick(lexicon.NOUNS[kind])
    adjective, number = comparable(noun), pick_number(0.3)
    top = _superlative(adjective, noun, number) + pair(pick(SCOPES.get(kind, "") + WIDE_SCOPES))
    if chance(0.5):
        it = "it" if kind != "person" else "he" if noun.gender == "m" else "she"
        be = (f"{it}/s is/a", "ce/s est/a") if number == 1 else ("they/s are/a", "ce/s sont/a")
        return pair("{be} {top}", be=be, top=top)
    verb = pick("know see") if kind in ("person", "building") else "choose"
    tense = "present" if verb == "know" else pick("past future")
    return clause(subject(), verb_phrase(verb, top), tense)

def _superlative(adjective, noun, number):
    """« Le meilleur » alone, « le plus » before the noun, or with its article once more after the noun."""
    if adjective.en == "good":
        template = "the/t best/a {noun} | ^{le}/t {best}/a {noun}"
    elif adjective.before:
        template = "the/t {most} {noun} | ^{le}/t plus/m {fr}/a {noun}"
    else:
        template = "the/t {most} {noun} | ^{le}/t {noun} {le}/T plus/m {fr}/a"
    fr, best = (agree(x, noun.gender, number) for x in (adjective.fr, "meilleur"))
    return pair(template, most=degree(adjective.en, "est", "most"), noun=noun_phrase(noun, "bare", number),
                le=article("le", noun.gender, number), fr=fr, best=best)

declare("profession without article",
        row=lexicon.PROFESSIONS, pronoun="I he she he she",
        who=lambda pronoun: named_or_relative() if chance(0.6) else subject_pronoun(pronoun),
        name=lambda row, who: (row[0], row[1 + "mf".index(who.gender)]), what="a/P {name}/p | {name}/p",
        wants=lambda who: chance(0.25) and who.person == 2,
        said=lambda who, what, wants: is_(who, what, pick("present imperfect future")) if not wants else (
            "{who} wants/w to/B become/b {what} | {who} veut/w devenir/b {what}"))
declare("exclamation with quel", mark="!",
        noun=lambda: noun_of("garment building text abstract animal vehicle fruit"),
        owned=lambda noun: noun.adjectives in ("C", "V", "A", "B") and chance(0.7),
        adjective=lambda noun, owned: fitting(noun, True if owned else None),
        a=lambda noun, adjective: noun_phrase(noun, "what a", pick_number(0.3), [adjective]),
        said=lambda a, owned: a if not owned else (
            a + clause(subject(), verb_phrase("have"), pick("present imperfect"))))

@construction("tout and its agreement")
def all_of():
    noun = noun_of(HANDLED + " fruit animal")
    what = noun_phrase(noun, pick("the this I he you"), 2)
    tous = pair("all/a | {tous}/a", tous="tous" if noun.gender == "m" else "toutes")
    what = replace(what, en=tous.en + what.en, fr=tous.fr + what.fr)
    if chance(0.4):
        return is_(what, quality(what), pick("present imperfect"))
    return told(subject(), verb_phrase(pick("see buy choose find"), what), "", "past future near")

declare("there is",
        noun=lambda: noun_of("thing person animal furniture fruit food"),
        number=lambda noun: 1 if noun.kind == "mass" or chance(0.4) else 2,
        many=lambda number: number == 2 and chance(0.6) and pair("{n}/a", n=pick(NUMBERS)),
        thing=lambda noun, number, many: counted(many, noun) if many else noun_phrase(
            noun, "some" if noun.kind == "mass" else "a", number),
        tense=(("present", "a"), ("past", "avait"), ("present", "a")), where=either(0.6, somewhere, spot),
        be=lambda tense, thing: (english.finite("be", tense[0], thing.person), tense[1]),
        said="there/t {be}/a {thing} {where} | il/T y/t {be}/a {thing} {where}")
declare("where things are", who=lambda: known("thing garment text", {"the": 1, "my": 2}),
        do=lambda: verb_phrase("be", spot()), negation=sometimes_not(0.25), tense="present imperfect")

@construction("nationality and language")
def nationality():
    who = subject()
    if chance(0.5):
        name = agreeing(lexicon.Adjective(*pick(lexicon.NATIONALITIES), ""), who)
        return is_(who, name, "present", pick_not(0.3))
    language, well = pick(lexicon.LANGUAGES), pick(WELL)
    # A time comes last in both languages, an adverb before the language in French.
    template = "{x}/a {well}" if "day" in well else "{x}/a {well} | {well} {x}/a"
    return clause(who, verb_phrase("speak", pair(template, x=language, well=pair(well))))

def handling():
    """A verb and a countable noun for its object."""
    while True:
        verb, classes = pick(HANDLING)
        noun = noun_of(classes)
        if noun.kind == "count" and verb.en != "look":
            return verb, noun

declare("question with quel", mark="?",
        row=handling, thing=lambda row: noun_phrase(row[1], "which", pick_number(0.4)),
        who=either(0.6, lambda: pronoun("he she they you we"), person), tense="past future near",
        said=lambda row, thing, who, tense: thing + question(who, having_object(row[0], thing), tense))
declare("how much and how many", mark="?",
        noun=lambda: noun_of("fruit drink food text thing garment"),
        number=lambda noun: 1 if noun.kind == "mass" else 2, much=lambda number: ("much", "many")[number - 1],
        thing=lambda noun, number, much: counted(pair("how/A {m}/a | combien/a de/A", m=much), noun, number),
        who=lambda: pronoun("he she they you we"), verb="buy have want sell",
        tense=lambda verb: "present" if verb in ("have", "want") else pick("past future near"),
        said=lambda thing, who, verb, tense: thing + question(who, having_object(verb, thing), tense))
