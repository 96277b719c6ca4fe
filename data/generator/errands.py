"""Sentences of travelers: asking the way, prices, orders in a café."""

from dataclasses import replace
from functools import partial

import english
import lexicon
from clauses import clause, question, verb_phrase
from constructions import everyday
from draw import below, chance, listed, pick, pick_not, rows, weighted
from events import is_
from exchanges import PLEASE
from greetings import a_city, asked, framed, in_place, somebody, subject_last
from introductions import number
from nominal import CONTAINERS
from phrases import article, as_noun, counted, described_noun, noun_of, noun_phrase, pronoun
from words import NOTHING, Pair, pair

OPENINGS = weighted({"|": 3}, """excuse/e me/m , | excusez/e -moi/m ,; sorry/e , | pardon/e ,;
    sir/a , | monsieur/a ,; madam/a , | madame/a ,; hello/a , | bonjour/a ,;
    good/a morning/b , | bonjour/ab ,""")
WAYS = weighted({"how/h do/V I/i get/v {goal} | comment/h est-ce/V que/V je/i vais/v {goal}": 2},
    """how/h do/V I/i go/v {goal} | comment/h est-ce/V que/V je/i vais/v {goal};
    how/h can/c I/i get/v {goal} | comment/h est-ce/C que/C je/i peux/c aller/v {goal};
    how/h do/V we/i get/v {goal} | comment/h allons/v -nous/i {goal};
    does/G this/t bus/b go/g {goal} | est-ce/G que/G ce/t bus/b va/g {goal};
    which/w bus/b goes/g {goal} | quel/w bus/b va/g {goal}""")
FINDING = """where/w can/c I/i find/f {place} | où/w est-ce/C que/C je/i peux/c trouver/f {place};
    is/a there/A {place} near/n here/h | y/A a/a -t-il/A {place} près/n d'ici/h;
    is/a there/A {place} here/h | y/A a/a -t-il/A {place} ici/h;
    where/w can/c I/i buy/f {goods} | où/w est-ce/C que/C je/i peux/c acheter/f {goods}"""
SIDE = "left/l | à/L gauche/l; right/l | à/L droite/l"
SITES = """on/o the/L left/l | à/o gauche/l; on/o the/R right/r | à/o droite/r;
    near/n here/h | près/n d'ici/h; straight/s ahead/a | tout/s droit/a; over/o there/O | là-bas/o;
    here/h | ici/h; there/t | là/t; {n} minutes/m from/f here/h | à/F {n} minutes/m d'ici/fh;
    next/a to/b {place} | à/A côté/a de/b {place}; behind/b {place} | derrière/b {place};
    near/n {place} | près/n de/N {place}; in/i the/t center/c | dans/i le/t centre/c;
    in/i front/f of/F {place} | devant/if {place}"""
DISTANCES = weighted({"far/f | loin/f": 2}, """very/v far/f | très/v loin/f; too/v far/f | trop/v loin/f;
    far/f from/o here/h | loin/f d'ici/oh; far/f from/o {place} | loin/f de/o {place}""")
DIRECTIONS = weighted({"turn/t {side} | tournez/t {side}": 1, "go/g {side} | allez/g {side}": 1,
    "turn/t {side} {at} | tournez/t {side} {at}": 2}, """go/g straight/s ahead/a | allez/g tout/s droit/a;
    go/g straight/s ahead/a {at} | allez/g tout/s droit/a {at};
    cross/c the/t street/s | traversez/c la/t rue/s; follow/f the/t street/s | suivez/f la/t rue/s;
    take/t the/u {en}/n street/s {side} | prenez/t la/u {fr}/n rue/s {side};
    take/t the/u bus/b to/t {place} | prenez/t le/u bus/b pour/t {place};
    go/g to/t {place} | allez/g à/t {place}""")
CORNERS = "at/a {place} | à/a {place}; after/a {place} | après/a {place}; before/a {place} | avant/a {place}"
VERDICTS = rows("""good bon, good bon, beautiful beau, expensive cher, expensive cher, easy facile,
    difficult difficile, true vrai, wrong faux, important important, interesting intéressant,
    possible possible, impossible impossible, perfect parfait, delicious délicieux, free gratuit,
    great super, funny drôle, strange étrange, boring ennuyeux, dangerous dangereux, terrible terrible,
    simple simple, useful utile, bad mauvais, big grand, small petit, new nouveau, pretty joli, sad triste,
    ready prêt, urgent urgent, open ouvert, closed fermé, normal normal""")
ABSOLUTE = listed("perfect impossible great terrible open closed free true wrong ready new")
MONEY = rows("euros euros, euros euros, dollars dollars")
COSTING = """how/h much/h does/C {it} cost/c | combien/h {it} coûte/c;
    how/h much/h is/c {it} | combien/h {it} coûte/c"""
THIS = weighted({"it/i | ça/i": 2}, "this/i | ça/i; that/i | ça/i; all/a this/i | tout/a ça/i")
ON_THE_TABLE = weighted({"the/t bill/b | l'/t addition/b": 5, "the/t check/b | l'/t addition/b": 1,
    "the/t menu/b | la/t carte/b": 2}, """the/t key/b | la/t clé/b; a/a table/b | une/a table/b;
    a/a room/b | une/a chambre/b; a/a taxi/b | un/a taxi/b; a/a fork/b | une/a fourchette/b;
    a/a knife/b | un/a couteau/b; a/a receipt/b | un/a reçu/b; a/a bag/b | un/a sac/b;
    the/t salt/b | le/t sel/b; a/a spoon/b | une/a cuillère/b; a/a glass/b | un/a verre/b;
    the/t wine/m list/b | la/t carte/b des/M vins/m""")
ASKING_FOR = weighted({"{x} | {x}": 4},
    """can/c you/y bring/b me/m {x} ? | pouvez/c -vous/y me/m apporter/b {x} ?;
    could/c you/y bring/b us/m {x} ? | pourriez/c -vous/y nous/m apporter/b {x} ?;
    I/i would/W like/w {x} | je/i voudrais/w {x}; we/i would/W like/w {x} | nous/i voudrions/w {x};
    can/c I/i have/h {x} ? | est-ce/C que/C je/i peux/c avoir/h {x} ?;
    can/c we/i have/h {x} ? | pouvons/c -nous/i avoir/h {x} ?; bring/b me/m {x} | apportez/b -moi/m {x}""")
RESERVED = """a/a table/b for/f {n} | une/a table/b pour/f {n};
    a/a table/b for/f {n} people/p | une/a table/b pour/f {n} personnes/p;
    a/a room/b for/f {n} nights/p | une/a chambre/b pour/f {n} nuits/p;
    a/a room/b for/f {n} people/p | une/a chambre/b pour/f {n} personnes/p;
    a/a room/b for/f one/n night/p | une/a chambre/b pour/f une/n nuit/p;
    a/a ticket/b to/f {city} | un/a billet/b pour/f {city};
    one/a ticket/b to/f {city} | un/a billet/b pour/f {city};
    {n} tickets/b to/f {city} | {n} billets/b pour/f {city}; {n} tickets/b | {n} billets/b"""
WITH = """with/w milk/m | avec/w du/M lait/m; without/w sugar/m | sans/w sucre/m;
    with/w sugar/m | avec/w du/M sucre/m; with/w cheese/m | avec/w du/M fromage/m;
    without/w milk/m | sans/w lait/m"""
WANTING = weighted({"I/i would/W like/w | je/i voudrais/w": 2}, """I/i want/w | je/i veux/w;
    we/i would/W like/w | nous/i voudrions/w; can/c I/i have/h ? | est-ce/C que/C je/i peux/c avoir/h ?;
    can/c we/i have/h ? | pouvons/c -nous/i avoir/h ?;
    could/c I/i have/h ? | est-ce/C que/C je/i pourrais/c avoir/h ?; do/H you/y have/h ? | avez/h -vous/y ?;
    would/W you/y like/w ? | voulez/w -vous/y ?; do/W you/y want/w ? | voulez/w -vous/y ?""")


FORMAL = "sir/a | monsieur/a; madam/a | madame/a; miss/a | mademoiselle/a"
TOILETS = "the/t toilets/n | les/t toilettes/n; the/t restrooms/n | les/t toilettes/n"
VERY = weighted({"|": 2}, "very/v | très/v; too/v | trop/v; really/v | vraiment/v; so/v | si/v")


def the_place(kind="the"):
    """A place in a town."""
    return noun_phrase(pick(lexicon.IN_TOWN), kind)


def thing():
    """Something that one has or buys."""
    return described_noun(noun_of("thing garment vehicle text"), "the this I you", described=0.15)


def requested(said, please=0.3):
    """A question with `excuse me` before it or, with the probability `please`, with `please` behind it."""
    behind = pair(PLEASE) if chance(please) else NOTHING
    return asked(said + behind, calling=0.1, openings=OPENINGS, calls=FORMAL)


def toilets():
    """« Les toilettes », which are many."""
    return as_noun(pair(pick(TOILETS)), "f", 2)


def nearest():
    """« La banque la plus proche »."""
    noun = noun_phrase(pick(lexicon.IN_TOWN), "bare")
    said = pair("the/t nearest/a {noun} | ^{le}/t {noun} {le}/T plus/A proche/a", noun=noun,
                le=article("le", noun.gender, 1))
    return as_noun(said, noun.gender)


@everyday("asking where")
def asking_where():
    """`Where is the bank?`: « Où est la banque? »."""
    anybody = partial(pronoun, "you he she they I we")
    who = pick({the_place: 3, toilets: 1, nearest: 2}, (thing, somebody, anybody))()
    return requested(pair("where/w {q} | où/w {q}", q=subject_last(who, verb_phrase("be"))))


@everyday("finding a place")
def finding():
    """`Is there a bank near here?`, `I am looking for the station.`"""
    if chance(0.3):
        who = pronoun({"I": 3}, "we he")
        phrase = verb_phrase("look for=chercher", the_place(pick({"the": 2, "a": 1})))
        said = clause(who, phrase, "progressive")
        return framed(said, calling=0, openings=OPENINGS if who.person in (0, 3) else "|", ends=".")
    goods = noun_of("food drink text fruit thing")
    mass = goods.kind == "mass"
    return requested(pair(pick(FINDING), place=the_place("a"),
                          goods=noun_phrase(goods, "some" if mass else "a", 1 if mass or chance(0.5) else 2)))


@everyday("asking the way")
def asking_the_way():
    """`How do I get to the bank?`: « Comment est-ce que je vais à la banque? »."""
    goal = pair("to/t {x} | à/t {x}", x=the_place()) if chance(0.75) else in_place("to")
    return requested(pair(pick(WAYS), goal=goal))


@everyday("where places are")
def where_places_are():
    """`It is on the left.`: « C'est à gauche. »."""
    site = pair(pick(SITES), n=number(12), place=the_place())
    if chance(0.4):
        return pair("it/c is/e {site} | ce/c est/e {site}", site=site)
    who = pick({the_place: 2}, (toilets, thing, somebody))()
    return asked(question(who, verb_phrase("be", site)), calling=0) if chance(0.25) else is_(who, site)


@everyday("distance")
def distance():
    """`Is it far?`: « Est-ce loin? »."""
    far, who, kind = pair(pick(DISTANCES), place=the_place()), the_place(), below(5)
    if kind == 0:
        return requested(pair("is/e it/c {far} | est/e -ce/c {far}", far=far), please=0.15)
    if kind == 1:
        return requested(question(who, verb_phrase("be", far)), please=0.15)
    if kind == 2:
        return is_(who, far, "present", pick_not(0.5))
    said = pair(pick("""it/c is/e {far} | ce/c est/e {far};
        it/c is/e not/n {far} | ce/c ne/N est/e pas/n {far}"""), far=far)
    openings = weighted({"|": 2}, "yes/a , | oui/a ,; no/a , | non/a ,")
    return framed(said, calling=0.1, openings=openings, ends=".")


@everyday("directions")
def directions():
    """`Turn left at the church.`"""
    en, fr = pick(rows("first première, second deuxième, third troisième"))
    template, side = pick(DIRECTIONS), pair(pick(SIDE))
    if "rue" in template:
        side = pair(pick("on/o the/L left/l | à/o gauche/l; on/o the/R right/r | à/o droite/r"))
    at = pair(pick(CORNERS), place=the_place())
    said = pair(template, side=side, place=the_place(), en=en, fr=fr, at=at)
    openings = weighted({"|": 3}, "then/a | puis/a; please/a , | s'il/A vous/A plaît/a ,")
    return framed(said, calling=0.15, openings=openings, ends=".")


def ware():
    """Something with a price."""
    if chance(0.5):
        return noun_phrase(pick(lexicon.ORDERED), "the")
    return described_noun(noun_of("thing garment text food drink fruit"), "the this the", described=0.15)


def costs(who):
    """`does the ticket cost` or `is the ticket`: « coûte le billet »."""
    said = subject_last(who, verb_phrase("cost"))
    if chance(0.5):
        cost = replace(said.fr[0], text=english.finite("be", "present", who.person))
        return Pair((cost, *who.en), said.fr)
    return said


@everyday("asking the price")
def asking_the_price():
    """`How much is the ticket?`: « Combien coûte le billet? »."""
    if chance(0.35):
        return requested(pair(pick(COSTING), it=pair(pick(THIS))), please=0.5)
    return requested(pair("how/h much/h {q} | combien/h {q}", q=costs(ware())))


@everyday("telling the price")
def telling_the_price():
    """`It costs ten euros.`"""
    amount = pair("{n} {unit}/u", n=number(), unit=pick(MONEY))
    if chance(0.6):
        return pair(pick("""it/i costs/c {x} | ça/i coûte/c {x}; this/i costs/c {x} | ça/i coûte/c {x};
            that/i is/c {x} | ça/i fait/c {x}; {x} , please/p | {x} , s'il/P vous/P plaît/p;
            {x} | {x}"""), x=amount)
    who = ware()
    return clause(who, verb_phrase("cost", amount), "present" if who.number == 1 else "future")


@everyday("verdict")
def verdict():
    """`It is too expensive.`: « C'est trop cher. »."""
    en, fr = pick(VERDICTS)
    very = pair("|" if en in ABSOLUTE else pick(VERY))
    a = pair("{very} {en}/a | {very} {fr}/a", very=very, en=en, fr=fr)
    it, kind = pick({"it": 2}, "this that"), below(5)
    if kind == 0:
        return asked(pair("is/e {it}/c {a} | est/e -ce/c {a}", it=it, a=a), calling=0)
    if kind == 1:
        return pair("{it}/c is/e not/n {a} | ce/c ne/N est/e pas/n {a}", it=it, a=a)
    said = pair("{it}/c is/e {a} | ce/c est/e {a}", it=it, a=a)
    return framed(said, calling=0.15, openings=weighted({"|": 3}, "yes/a , | oui/a ,; no/a , | non/a ,"))


def dish():
    """`a coffee`, `two coffees`, `a glass of water`."""
    kind, noun = below(5), pick(lexicon.ORDERED)
    if kind == 0:
        classes = pick({"drink": 2}, "food fruit")
        held = pick(lexicon.NOUNS[classes])
        return counted(pair(pick(CONTAINERS[classes])), held, 2 if classes == "fruit" else 1)
    if kind <= 2 and (len(noun.fr) == 1 or noun.fr[1] in ("à", "au", "de")):
        return counted(number(10), noun)
    return noun_phrase(noun, "a")


def wanted():
    """An order."""
    kind = below(4)
    if kind == 0:
        return pair(pick(RESERVED), n=number(12), city=a_city())
    if kind == 1:
        return pair("{a} and/n {b} | {a} et/n {b}", a=dish(), b=dish())
    return dish() + (pair(pick(WITH)) if chance(0.1) else NOTHING)


@everyday("asking for the bill")
def asking_for_the_bill():
    """`The bill, please, sir.`"""
    template = pick(ASKING_FOR)
    said = pair(template.replace("?", ""), x=pair(pick(ON_THE_TABLE)))
    please = pair(PLEASE) if chance(0.7) else NOTHING
    mark = "?" if "?" in template else "."
    openings = {"|": 3, "hello/a , | bonjour/a ,": 1}
    return framed(said + please, calling=0.3, openings=openings, ends=mark, calls=FORMAL)


@everyday("order without a verb")
def short_order():
    """`Two coffees, please.`"""
    openings = weighted({"|": 4},
        "yes/a , | oui/a ,; hello/a , | bonjour/a ,; for/f me/m , | pour/f moi/m ,")
    return framed(wanted() + pair(PLEASE), calling=0, openings=openings, ends=".")


@everyday("order with a verb")
def full_order():
    """`I would like a coffee, please.`"""
    template = pick(WANTING)
    mark = "?" if "?" in template else "."
    polite = "voudr" in template or template.startswith(("can", "could"))
    please = pair(PLEASE) if polite and chance(0.5) else NOTHING
    openings = weighted({"|": 3}, "hello/a , | bonjour/a ,; good/a evening/b , | bonsoir/ab ,")
    said = pair(template.replace("?", "")) + wanted() + please
    return framed(said, calling=0.1, openings=openings, ends=mark, calls=FORMAL)
