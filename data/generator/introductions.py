"""Who somebody is: names, origin, age, family, languages, professions."""

from dataclasses import replace

import french
import lexicon
from adverbials import NUMBERS, TENS
from clauses import REFLEXIVES, clause, question, verb_phrase
from constructions import everyday, finished
from draw import below, chance, either, one_of, pick, pick_not, rows, weighted
from events import is_
from greetings import a_city, a_country, a_name, asked, framed, in_person, in_place, somebody, subject_last
from phrases import PRONOUNS, agreeing, counted, name_of, noun_of, noun_phrase, pronoun, relative_of
from words import Pair, pair

POSSESSIONS = weighted({"child": 4, "brother": 2, "sister": 2},
    "son daughter cousin uncle aunt friend dog cat horse rabbit bird car bike house")
PARENT = lexicon.noun("parent", "parent", "m")
MEETING = {
    "nice/a to/A meet/a you/A | enchanté/a": 2, "pleased/a to/A meet/a you/A | enchanté/a": 1,
}
FIRST_OPENINGS = weighted({"|": 3},
    "hello/a , | bonjour/a ,; hi/a , | salut/a ,; good/a evening/b , | bonsoir/ab ,")
POLITE_OPENINGS = weighted({"|": 3},
    "hello/a , | bonjour/a ,; excuse/e me/m , | excusez/e -moi/m ,; good/a morning/b , | bonjour/ab ,")
PARTICULARS = """what/w is/v your/y job/n | quel/w est/v votre/y métier/n;
    what/w do/D you/y do/d | que/w faites/d -vous/y;
    what/w is/v your/y address/n | quelle/w est/v votre/y adresse/n;
    what/w is/v your/y phone/p number/n | quel/w est/v votre/y numéro/n de/P téléphone/p"""
TEENS = rows("""thirteen treize, fourteen quatorze, fifteen quinze, sixteen seize, seventeen dix-sept,
    eighteen dix-huit, nineteen dix-neuf""")


def number(bound=69):
    """A number from two to a bound, often a small one, in words or in figures."""
    value = 2 + below((bound if chance(0.75) else 12) - 1)
    if chance(0.25):
        return pair(f"{value}/n")
    if value <= 12:
        return pair("{x}/n", x=NUMBERS[value - 2])
    if value <= 19:
        return pair("{x}/n", x=TEENS[value - 13])
    (en, fr), unit = TENS[value // 10 - 2], value % 10
    if unit == 0:
        return pair(f"{en}/n | {fr}/n")
    if unit == 1:
        return pair(f"{en}-one/n | {fr}/n et/N un/n")
    return pair(f"{en}-{NUMBERS[unit - 2][0]}/n | {fr}-{NUMBERS[unit - 2][1]}/n")


def called_by(who, name):
    """`My brother's name is Leo`: « Mon frère s'appelle Leo »."""
    if not who.pronoun:
        return pair("{who} 's/N name/n is/N {name} | {who} se/N appelle/n {name}", who=who, name=name)
    return pair("{own}/s name/n is/N {name} | {je}/s {me}/N appelle/n {name}", own=PRONOUNS[name_of(who)].own,
                je=who.pronoun, me=REFLEXIVES[who.person], name=name)


def aged():
    """`ten years old`, or just `ten`."""
    many = number()
    ans = replace(many.fr[-1], text="ans", strong=frozenset(), weak=many.fr[-1].strong)
    return many + (Pair(fr=(ans,)) if chance(0.4) else pair("years/y old/Y | ans/y"))


@everyday("telling a name")
def telling_a_name():
    """`Hello, my name is Anna.`"""
    who = either(0.75, lambda: pronoun({"I": 4}, "he she"), lambda: relative_of(pick("I you")))()
    name = a_name(who.gender if not who.pronoun or who.person == 2 else "")
    if who.pronoun == "je" and chance(0.3):
        said = pair("I/i am/a {name} | je/i suis/a {name}", name=name)
    else:
        said = called_by(who, name)
    if who.pronoun == "je" and chance(0.3):
        years = verb_phrase("be=avoir", aged())
        more = clause(who, verb_phrase("live", in_place()) if chance(0.5) else years)
        said = pair("{said} and/n {more} | {said} et/n {more}", said=said, more=more)
    return framed(said, calling=0, openings=FIRST_OPENINGS, ends=".")


@everyday("asking for a name")
def asking_for_a_name():
    """`What is your name?`: « Comment vous appelez-vous? »."""
    who = either(0.65, lambda: pronoun({"you": 3}, "he she"),
                 lambda: relative_of(pick({"you": 2, "I": 1})))()
    if who.pronoun:
        said = pair("what/w is/N {own}/s name/n | comment/w {se}/N {appelle}/n -{il}/s",
                    own=PRONOUNS[name_of(who)].own, se=REFLEXIVES[who.person], il=who.pronoun,
                    appelle=french.finite("appeler", "present", who.person))
    else:
        said = pair("what/w is/N {who} 's/N name/n | comment/w se/N appelle/n {who}", who=who)
    please = pair(pick({"|": 2, ", please/a | , s'il/A vous/A plaît/a": 1}))
    return asked(said + please, calling=in_person(who), openings=[*POLITE_OPENINGS, "and/a | et/a"])


@everyday("meeting somebody")
def meeting():
    """`Nice to meet you.`, `This is my mother.`"""
    if chance(0.35):
        return framed(pair(pick(MEETING)), calling=0.95, openings=POLITE_OPENINGS)
    what = pick((a_name, lambda: relative_of("I"), lambda: relative_of("you"),
                 lambda: noun_phrase(noun_of("friend neighbour colleague doctor teacher"), "I"),
                 lambda: noun_phrase(noun_of("thing garment vehicle animal"), pick("I you a"))))()
    return finished(pair(pick({"this/A is/a {x} | ce/A est/a {x}": 2},
        "is/a this/A {x} ? | est/a -ce/A {x} ?; this/A is/a not/n {x} | ce/A ne/N est/a pas/n {x}"), x=what))


def origin():
    """`from Canada`: « du Canada »."""
    kind = below(10)
    if kind == 0:
        return pair("from/f the/t United/u States/s | de/f ^les/t États-Unis/us")
    if kind < 4:
        return pair("from/f {city} | de/f {city}", city=a_city())
    name, _, le, gender = a_country()
    return pair("from/f {x}/a | de/f {le} {x}/a", x=name, le="" if gender == "f" else f"^{le}/A")


@everyday("origin")
def coming_from():
    """`Where are you from?`, `I come from England.`"""
    verb = pick({"be=venir": 2, "come=venir": 1})
    if chance(0.5):
        who = either(0.5, lambda: pronoun({"you": 3}, "he she they"), somebody)()
        q = subject_last(who, verb_phrase(verb))
        said = pair("where/w {q} from/f | de/f où/w {q}", q=q)
        return asked(said, calling=in_person(who), openings={"|": 2, "and/a | et/a": 1})
    who = either(0.65, lambda: pronoun({"I": 4}, "he she we they"), somebody)()
    if chance(0.2):
        return clause(who, verb_phrase("live", in_place()))
    said = clause(who, verb_phrase(verb, origin()), "present", pick({"": 3, "not": 1}))
    openings = weighted({"|": 3}, "hello/a , | bonjour/a ,; yes/a , | oui/a ,")
    return framed(said, calling=0, openings=openings, ends=".")


@everyday("having brothers and sisters")
def having_relatives():
    """`I have two brothers and a sister.`"""
    def some():
        noun = noun_of(POSSESSIONS)
        if chance(0.3):
            return noun_phrase(noun, "partitive", 2)
        return noun_phrase(noun, "a") if chance(0.4) else counted(number(12), noun)
    kind = below(5)
    if kind <= 1:
        who = pronoun({"you": 3}, "he she they")
        if chance(0.35):
            many = counted(pair("how/A many/a | combien/a de/A"), noun_of(POSSESSIONS))
            return asked(many + question(who, verb_phrase("have")), calling=in_person(who))
        kinds = {"a": 1, "partitive": 3}
        what = noun_phrase(noun_of(POSSESSIONS), pick(kinds), 2) if chance(0.75) else some()
        return asked(question(who, verb_phrase("have", what)), calling=in_person(who))
    who = either(0.75, lambda: pronoun({"I": 3}, "he she we they"), somebody)()
    if kind == 2:
        noun = noun_of(POSSESSIONS)
        nothing = noun_phrase(noun, "any", 2) if chance(0.6) else noun_phrase(noun, "not a")
        return clause(who, verb_phrase("have", nothing), "present", "not")
    what = some()
    if chance(0.5):
        what = pair("{a} and/n {b} | {a} et/n {b}", a=what, b=some())
    return clause(who, verb_phrase("have", what))


parents = one_of(lambda: noun_phrase(PARENT, pick({"I": 2}, "you he she"), 2),
                 lambda: noun_phrase(lexicon.SINGLE_NOUNS["child"], pick("I you he she"), 2))


@everyday("years")
def years():
    """`How old are you?`, `I'm twenty-five.`"""
    if chance(0.45):
        others = one_of(*weighted({somebody: 2, parents: 1}))
        who = either(0.45, lambda: pronoun({"you": 3}, "he she they"), others)()
        q = subject_last(who, verb_phrase("be=avoir"))
        said = pair("how/h old/o {q} | quel/h âge/o {q}", q=q)
        return asked(said, calling=in_person(who), openings={"|": 2, "and/a | et/a": 1})
    who = either(0.65, lambda: pronoun({"I": 4}, "he she they"), somebody)()
    return clause(who, verb_phrase("be=avoir", aged()), "present", pick_not(0.1))


@everyday("languages")
def languages():
    """`Do you speak English?`, `Are you French?`"""
    who = either(0.8, lambda: pronoun({"I": 2, "you": 3}, "he she we they"), somebody)()
    well = pair(pick({"|": 4},
        "very/v well/w | très/v bien/w; well/w | bien/w; a/A little/a | un/A peu/a"))
    phrase = verb_phrase("speak", pair("{x}/l {w} | {w} {x}/l", x=pick(lexicon.LANGUAGES), w=well))
    kind = below(6)
    if kind == 0:
        language = pair("{x}/l | ^le/L {x}/l", x=pick(lexicon.LANGUAGES))
        phrase = verb_phrase(pick("learn=apprendre understand"), language)
    elif kind == 1:
        phrase = verb_phrase("be", agreeing(lexicon.Adjective(*pick(lexicon.NATIONALITIES), ""), who))
    if who.pronoun != "je" and chance(0.7):
        openings = POLITE_OPENINGS if who.pronoun == "vous" else "|"
        return asked(question(who, phrase), calling=in_person(who), openings=openings)
    sorry = weighted({"|": 3}, "sorry/a , | pardon/a ,; I/i am/v sorry/s , | je/i suis/v désolé/s ,")
    negation = "" if kind > 1 and well.en and well.en[0].text == "a" else pick_not(0.4)
    return framed(clause(who, phrase, "present", negation), calling=0, openings=sorry, ends=".")


@everyday("being somebody")
def being_somebody():
    """`I am a student.`, `She is a woman.`, `What is your job?`"""
    if chance(0.2):
        return asked(pair(pick(PARTICULARS)), calling=0.4, openings=POLITE_OPENINGS)
    who = either(0.7, lambda: pronoun({"I": 3}, "he she you"), somebody)()
    if chance(0.5):
        en, m, f = pick(lexicon.PROFESSIONS)
        what = pair("a/A {en}/a | {fr}/a", en=en, fr=f if who.gender == "f" else m)
    else:
        noun = noun_of("woman girl" if who.gender == "f" else "man boy child man tourist")
        if who.pronoun in ("je", "vous") and chance(0.4):
            noun = noun_of("woman girl")
        what = noun_phrase(noun, "a")
    if who.pronoun == "vous" and chance(0.6):
        return asked(question(who, verb_phrase("be", what)), calling=0.3)
    return is_(who, what, "present", pick_not(0.15))

