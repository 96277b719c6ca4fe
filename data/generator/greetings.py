"""Greetings, farewells, wishes, thanks, apologies and short answers."""

import lexicon
from adverbials import DAYS, NUMBERS
from clauses import clause, question, verb_phrase
from constructions import BUT, asks, everyday, finished
from draw import below, chance, either, one_of, pick, rows, weighted
from events import is_
from phrases import agreeing, as_noun, described_noun, noun_of, pronoun, relative_of, subject_pronoun
from words import NOTHING, Pair, pair

# Marks of a remark.
MARKS = {".": 2, "!": 1}
HELLO = weighted({"hello/a | bonjour/a": 2}, """good/a morning/b | bonjour/ab;
    good/a afternoon/b | bonjour/ab; good/a evening/b | bonsoir/ab; hi/a | salut/a; hey/a | salut/a""")
GOODBYE = {
    "goodbye/a | au/A revoir/a": 2, "bye/a | au/A revoir/a": 1, "good/a night/b | bonne/a nuit/b": 2,
}
CALLS = """sir/a | monsieur/a; madam/a | madame/a; miss/a | mademoiselle/a; doctor/a | docteur/a;
    everybody/a | tout/A le/A monde/a; everyone/a | tout/A le/A monde/a;
    ladies/a and/b gentlemen/c | mesdames/a et/b messieurs/c; children/a | les/A enfants/a"""
# Those whom one says « tu » to.
FAMILIAR = """Mum/a | maman/a; Dad/a | papa/a; mom/a | maman/a; my/a friend/b | mon/a ami/b;
    my/a dear/b | mon/a cher/b; my/a love/b | mon/a amour/b"""
SEE_YOU = weighted({"tomorrow/a | demain/a": 1, "soon/a | bientôt/a": 2}, """later/a | plus/A tard/a;
    tonight/a | ce/a soir/a; on/A {day}/a | {day}/a; next/a {day}/b | {day}/b prochain/a;
    next/a week/b | ^la/B semaine/b prochaine/a; next/a month/b | ^le/B mois/b prochain/a;
    next/a year/b | ^l'/B année/b prochaine/a; tomorrow/a morning/b | demain/a matin/b;
    tomorrow/a evening/b | demain/a soir/b; this/a evening/b | ce/a soir/b;
    this/a afternoon/b | cet/a après-midi/b; in/i {n}/n minutes/m | dans/i {n}/n minutes/m;
    in/i an/n hour/m | dans/i une/n heure/m; in/i {n}/n days/m | dans/i {n}/n jours/m""")
WISHES = """happy/a birthday/b | joyeux/a anniversaire/b; merry/a Christmas/b | joyeux/a Noël/b;
    happy/a birthday/b | joyeux/a anniversaire/b; happy/a birthday/b | joyeux/a anniversaire/b;
    happy/a birthday/b | joyeux/a anniversaire/b; happy/a Easter/b | joyeuses/a Pâques/b;
    happy/a new/b year/c | bonne/a année/bc; good/a luck/b | bonne/a chance/b; bravo/a | bravo/a;
    congratulations/a | félicitations/a; enjoy/a your/A meal/b | bon/a appétit/b;
    sleep/a well/b | dormez/a bien/b; welcome/a | bienvenue/a; well/a done/a | bravo/a; cheers/a | santé/a;
    take/A care/a | prenez/A soin/a de/A vous/A; good/a idea/b | bonne/a idée/b;
    have/A fun/a | amusez/a -vous/A; welcome/a to/t {city} | bienvenue/a à/t {city}"""
OCCASIONS = rows("""day journée bonne, day journée bonne, evening soirée bonne, weekend week-end bon,
    trip voyage bon, holiday vacances bonnes, week semaine bonne, afternoon après-midi bon, flight vol bon,
    stay séjour bon, Sunday dimanche bon""")
THANKS = """thank/t you/T | merci/t; thank/t you/T very/v much/w | merci/t beaucoup/vw; thanks/t | merci/t;
    thanks/t a/V lot/v | merci/t beaucoup/v; thank/t you/T so/v much/w | merci/t beaucoup/vw;
    many/v thanks/t | merci/t beaucoup/v"""
REASONS = """for/f everything/g | pour/f tout/g; for/f your/y help/g | pour/f votre/y aide/g;
    for/f your/y letter/g | pour/f votre/y lettre/g; for/f your/y patience/g | pour/f votre/y patience/g;
    for/f the/y information/g | pour/f les/y informations/g; for/f the/y evening/g | pour/f la/y soirée/g;
    for/f your/y answer/g | pour/f votre/y réponse/g; for/f your/y message/g | pour/f votre/y message/g;
    for/f your/y visit/g | pour/f votre/y visite/g; for/f the/y meal/g | pour/f le/y repas/g"""
NOT_AT_ALL = weighted({"you/A are/A welcome/a | de/A rien/a": 3}, """no/a problem/b | pas/a de/A problème/b;
    with/a pleasure/b | avec/a plaisir/b; it/A is/A nothing/a | ce/A n'est/A rien/a""")
WELL = weighted({"fine/a | bien/a": 2}, """well/a | bien/a; very/a well/b | très/a bien/b;
    better/a | mieux/a; much/a better/b | beaucoup/a mieux/b; bad/a | mal/a""")
REGRETS = rows("sorry désolé, sorry désolé, very_sorry vraiment_désolé, so_sorry vraiment_désolé")
EXCUSES = weighted({"excuse/e me/m | excusez/e -moi/m": 2},
    "sorry/e | pardon/e; pardon/e me/m | pardonnez/e -moi/m; pardon/e | pardon/e")
FAULTS = weighted({"|": 3}, """to/t be/b late/l | de/t être/b en/L retard/l;
    for/f the/t mistake/m | pour/f l'/t erreur/m; for/f you/y | pour/f vous/y;
    for/f the/t noise/m | pour/f le/t bruit/m""")
REPLIES = weighted({"yes/a | oui/a": 2, "no/a | non/a": 2}, """okay/a | d'accord/a;
    all/a right/A | d'accord/a; yes/a , please/b | oui/a , s'il/B vous/B plaît/b;
    no/a , thank/t you/T | non/a , merci/t; yes/a , thank/t you/T | oui/a , merci/t;
    no/a , thanks/t | non/a , merci/t; of/A course/a | bien/A sûr/a;
    yes/a , of/B course/b | oui/a , bien/B sûr/b; maybe/a | peut-être/a; perhaps/a | peut-être/a;
    me/a too/b | moi/a aussi/b; me/a neither/b | moi/a non/B plus/b; not/a yet/b | pas/a encore/b;
    really/a | vraiment/a; very/a good/b | très/a bien/b; yes/a , a/B little/b | oui/a , un/B peu/b;
    not/a today/b | pas/a aujourd'hui/b; never/a | jamais/a""")
REPLIES += weighted({"no/a problem/b | pas/a de/A problème/b": 2}, """exactly/a | exactement/a;
    perfect/a | parfait/a; not/a bad/b | pas/a mal/b;
    not/a now/b | pas/a maintenant/b; great/a | super/a; please/a | s'il/A vous/A plaît/a;
    with/a milk/b | avec/a du/B lait/b; too/a bad/b | dommage/ab""")


def a_name(gender=""):
    """A person by name, more often by one that French leaves as it is."""
    gender, kind = gender or pick("m f"), below(10)
    if kind < 2:
        return as_noun(pair("{x}/a", x=pick(lexicon.NAMES[gender])), gender)
    names = lexicon.RARE_NAMES if kind < 6 else lexicon.GIVEN_NAMES
    return as_noun(pair("{x}/a", x=pick(names[gender])), gender)


def a_city():
    """A city, whose name may have two words."""
    row = pick(lexicon.CITIES + lexicon.MORE_CITIES)
    return pair("{x}", x=tuple(" ".join(f"{word}/a" for word in name.split("_")) for name in row))


def a_country():
    """A country and what one knows of it."""
    return pick(lexicon.COUNTRIES + lexicon.MORE_COUNTRIES)


def in_place(preposition="in"):
    """In or to a city or a country."""
    if chance(0.5):
        return pair("{p}/p {city}", p=(preposition, "à"), city=a_city())
    name, en, *_ = a_country()
    return pair("{p}/p {x}/a", p=(preposition, en), x=name)


# Somebody whom newcomers talk about.
somebody = one_of(a_name, lambda: relative_of(pick({"I": 2, "you": 2}, "he she")))


def called(probability, calls=CALLS):
    """`, Anna` with the given probability."""
    if not chance(probability):
        return NOTHING
    return pair(", {x} | , {x}", x=a_name() if chance(0.65) else pair(pick(calls)))


def framed(said, calling=0.5, openings="|", ends=MARKS, calls=CALLS):
    """A remark with an opening, or else with the probability `calling` somebody called, and a mark."""
    opening = pair(pick(openings))
    whom = NOTHING if opening.en else called(calling, calls)
    said = pair("{opening} {said} {whom} | {opening} {said} {whom}", opening=opening, said=said, whom=whom)
    return finished(said, pick(ends))


def asked(said, calling=0.3, openings="|", calls=CALLS):
    """The same for a question."""
    return framed(said, calling, openings, "?", calls)


def subject_last(who, phrase, tense="present"):
    """A question without object whose subject comes last in French: « va Anna », « allez-vous »."""
    if who.pronoun:
        return clause(who, phrase, tense, asked="est-ce que" if who.pronoun == "je" else "inverted")
    french = clause(who, phrase, tense).fr
    return Pair(question(who, phrase, tense).en, french[len(who.fr):] + who.fr)


def how_is(who):
    """`how are you`: « comment allez-vous »."""
    return pair("how/h {q} | comment/h {q}", q=subject_last(who, verb_phrase("be=aller")))


def in_person(who):
    """Probability that somebody is called: only `you`."""
    return 0.4 if who.pronoun == "vous" else 0


@everyday("greeting")
def greeting():
    """`Hello, Anna, how are you?`; `hi` asks « tu »."""
    hello = pair(pick(HELLO))
    familiar = hello.en[0].text in ("hi", "hey")
    calls = FAMILIAR if familiar else CALLS
    if chance(0.5):
        return framed(hello, calling=0.95, calls=calls)
    who = subject_pronoun("thou" if familiar else "you")
    whom = called(0.5, calls)
    return asks(pair("{hello} {whom} , {q} | {hello} {whom} , {q}", hello=hello, whom=whom, q=how_is(who)))


@everyday("asking after somebody")
def asking_after():
    """`How is your mother today?`"""
    who = either(0.4, lambda: pronoun({"you": 3}, "he she they"), somebody)()
    moment = pair(pick({"|": 2},
        "today/a | aujourd'hui/a; this/a morning/b | ce/a matin/b; now/a | maintenant/a"))
    openings = weighted({"|": 3}, "and/a | et/a; hello/a , | bonjour/a ,")
    return asked(how_is(who) + moment, calling=in_person(who), openings=openings)


@everyday("being well")
def being_well():
    """`I am fine, thank you.`"""
    who = either(0.6, lambda: pronoun({"I": 3}, "we he she they"), somebody)()
    well, thanks = pair(pick(WELL)), pair(pick("|; , thank/t you/T | , merci/t; , thanks/t | , merci/t"))
    if chance(0.3):
        said = pair("not/n | pas/n") + well if well.en[0].text == "bad" else well
    else:
        well = pair("good/a | bien/a") if chance(0.1) else well
        bad = well.en[0].text == "bad"
        said = clause(who, verb_phrase("be=aller", well), "present", "not" if bad else "")
    if chance(0.25):
        return asks(said + thanks + pair(", and/a you/y | , et/a vous/y"))
    openings = weighted({"|": 3}, "hello/a , | bonjour/a ,; yes/a , | oui/a ,")
    return framed(said + thanks, calling=0.25, openings=openings, ends=".")


def see_you():
    """`see you tomorrow`: « à demain »."""
    when = pair(pick(SEE_YOU), day=pick(DAYS), n=pick(NUMBERS))
    return pair("see/s you/S {when} | à/s {when}", when=when)


@everyday("farewell")
def farewell():
    """`Goodbye, see you tomorrow!`"""
    bye, kind = pair(pick(GOODBYE)), below(4)
    if kind == 0:
        return framed(bye, calling=0.9)
    if kind == 1:
        return framed(see_you(), calling=0.5)
    joint = pick(", {b} | , {b}; and/n {b} | et/n {b}")
    return framed(bye + pair(joint, b=see_you() if kind == 2 else pair(pick(THANKS))), calling=0.4)


@everyday("wish")
def wish():
    """`Happy birthday, Anna!`"""
    return framed(pair(pick(WISHES), city=a_city()), calling=0.75, ends=". !")


@everyday("wish for a day or a trip")
def nice_day():
    """`Have a nice trip!`: « Bon voyage! »."""
    en, fr, bon = pick(OCCASIONS)
    have = "have/A a/A {nice}/a {en}/b | {bon}/a {fr}/b"
    said = pair(have, nice=pick("nice good nice good great"), en=en, fr=fr, bon=bon)
    return framed(said, calling=0.55, ends=". !")


@everyday("thanks")
def thanks():
    """`Thank you for the coffee, Leo.`"""
    kind, why = below(3), NOTHING
    if kind == 1:
        why = pair(pick(REASONS))
    elif kind == 2:
        noun = noun_of("drink food text keepsake fruit")
        what = described_noun(noun, {"the": 2, "this": 1, "you": 1}, described=0.1)
        why = pair("for/f {what} | pour/f {what}", what=what)
    return framed(pair(pick(THANKS)) + why, calling=0.5)


@everyday("answer to thanks")
def not_at_all():
    """`You are welcome, madam.`"""
    return framed(pair(pick(NOT_AT_ALL)), calling=0.9)


@everyday("apology")
def apology():
    """`I am sorry to be late.`"""
    if chance(0.3):
        return framed(pair(pick(EXCUSES)), calling=0.95)
    who, (en, fr) = pronoun({"I": 4}, "we he she"), pick(REGRETS)
    *very, désolé = fr.split("_")
    regret = agreeing(lexicon.Adjective("sorry", désolé, ""), who)
    if very:
        regret = pair("{en}/v | {fr}/v", en=en.split("_")[0], fr=very[0]) + regret
    said = is_(who, regret)
    if chance(0.3):
        verb = pick("understand; know=savoir; hear; remember=se souvenir")
        return pair(BUT, a=said, b=clause(subject_pronoun("I"), verb_phrase(verb), "present", "not"))
    return framed(said + pair(pick(FAULTS)), calling=0.5, ends=".")


@everyday("short answer")
def short_answer():
    """`Yes, please.`"""
    return framed(pair(pick(REPLIES)), calling=0.75)
