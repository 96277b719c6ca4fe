"""Feelings, likes, requests and plain statements."""

from functools import partial

import lexicon
from adverbials import place, spot
from clauses import clause, nonfinite, question, read_phrase, verb_phrase
from constructions import asks, everyday
from draw import below, chance, either, one_of, pick, pick_not, rows, weighted
from errands import OPENINGS, requested, the_place
from events import is_, quality
from greetings import (
    FAMILIAR, MARKS, a_city, asked, called, framed, in_person, in_place, somebody, subject_last,
)
from idiomatic import BEING, HAVING
from introductions import parents
from lexicon import Adjective
from phrases import (
    agreeing, article, country_name, described_noun, direct, name_of, noun_of, noun_phrase, other_than,
    pronoun, relative_of, role,
)
from words import NOTHING, concept, pair

TRAITS = [Adjective(*x, "P") for x in rows("""lost perdu, married marié, single célibataire, young jeune,
    old vieux, rich riche, intelligent intelligent, strong fort, famous célèbre, shy timide, tall grand,
    beautiful beau, pretty joli, kind gentil, nice gentil, funny drôle, polite poli, lazy paresseux,
    sure sûr""")]
# Those that one is or is not, without more or less.
ABSOLUTE = ("lost", "married", "single", "alone", "ready", "sure")
ANSWERING = weighted({"|": 3}, "yes/a , | oui/a ,; no/a , | non/a ,; sorry/a , | pardon/a ,")
APOLOGETIC = weighted({"|": 3}, """sorry/a , | pardon/a ,; I/i am/v sorry/s , | je/i suis/v désolé/s ,;
    no/a , | non/a ,; excuse/e me/m , | excusez/e -moi/m ,""")
KNOWING = weighted({"understand:": 3, "know=savoir:": 3}, """remember=se souvenir:; agree=être: | d'accord/V;
    see:; hear:; smoke=fumer:; drive:; swim:; dance:; work:; sleep:""")
UNDERSTOOD = """the/t question/q | la/t question/q; this/t word/q | ce/t mot/q; the/t menu/q | la/t carte/q;
    this/t sentence/q | cette/t phrase/q; the/t problem/q | le/t problème/q; why/w | pourquoi/w;
    very/v well/w | très/v bien/w; everything/e | tout/e"""
SO_MUCH = weighted({"|": 3},
    "very/v much/m | beaucoup/vm; so/v much/m | tellement/vm; too/a | aussi/a; a/A lot/a | beaucoup/a")
PREFERENCES = lexicon.nouns_of("food drink fruit animal") + 2 * lexicon.DISHES
HELPING = weighted({"help": 2},
    "hear; understand; call=appeler; wait for; follow=suivre; see; invite; look for; listen to; thank")
ORDERS = """come/a here/b | venez/a ici/b; wait/a a/b moment/c | attendez/a un/b moment/c;
    wait/a | attendez/a; sit/a down/A | asseyez/a -vous/A; be/a careful/b | faites/a attention/b;
    stop/a | arrêtez/a; look/a | regardez/a; listen/a | écoutez/a; come/a in/A | entrez/a;
    follow/a me/b | suivez/a -moi/b; wait/w for/W me/m | attendez/w -moi/m;
    call/a the/b police/c | appelez/a la/b police/c; call/a a/b doctor/c | appelez/a un/b médecin/c;
    help/h | au/H secours/h; call/a an/b ambulance/c | appelez/a une/b ambulance/c;
    help/a me/b | aidez/a -moi/b; call/a me/b | appelez/a -moi/b; speak/a slowly/b | parlez/a lentement/b;
    speak/a more/m slowly/b | parlez/a plus/m lentement/b; repeat/a | répétez/a;
    look/a at/A me/b | regardez/a -moi/b; listen/a to/A me/b | écoutez/a -moi/b; go/a away/A | partez/a;
    come/a with/w me/m | venez/a avec/w moi/m; do/N not/n worry/w | ne/N vous/W inquiétez/w pas/n;
    do/N not/n cry/c | ne/N pleurez/c pas/n; do/N not/n move/m | ne/N bougez/m pas/n;
    hurry/a up/A | dépêchez/a -vous/A; answer/a me/b | répondez/a -moi/b;
    write/a to/A me/b | écrivez/a -moi/b; let's/l go/g | allons/lg -y/G;
    open/o the/t door/d | ouvrez/o la/t porte/d; close/o the/t door/d | fermez/o la/t porte/d;
    show/s me/m the/t menu/n | montrez/s -moi/m la/t carte/n;
    give/s me/m the/t key/n | donnez/s -moi/m la/t clé/n"""
REQUESTS = """can/c you/y repeat/r | pouvez/c -vous/y répéter/r;
    can/c you/y wait/r | pouvez/c -vous/y attendre/r;
    can/c you/y speak/s more/m slowly/w | pouvez/c -vous/y parler/s plus/m lentement/w;
    can/c you/y repeat/r that/t | pouvez/c -vous/y répéter/r ça/t;
    can/c you/y write/w that/t | pouvez/c -vous/y écrire/w ça/t;
    can/c I/i pay/p by/b card/d | est-ce/C que/C je/i peux/c payer/p par/b carte/d;
    can/c you/y call/a a/b taxi/t | pouvez/c -vous/y appeler/a un/b taxi/t;
    can/c you/y call/a a/b doctor/t | pouvez/c -vous/y appeler/a un/b médecin/t;
    can/c I/i come/p in/P | est-ce/C que/C je/i peux/c entrer/p;
    may/c I/i come/p in/P | est-ce/C que/C je/i peux/c entrer/p;
    can/c you/y show/s me/m the/t way/w | pouvez/c -vous/y me/m montrer/s le/t chemin/w;
    do/W you/y want/w to/D dance/d | voulez/w -vous/y danser/d;
    do/W you/y want/w to/E eat/e | voulez/w -vous/y manger/e;
    do/U you/y understand/u me/m | me/m comprenez/u -vous/y;
    is/i breakfast/b included/c | est-ce/I que/I le/B petit/B déjeuner/b est/i compris/c;
    how/h long/l does/T it/i take/t | combien/h de/L temps/l est-ce/T que/T ça/i prend/t;
    are/a you/y okay/s | allez/a -vous/y bien/s; are/a you/y sure/s | êtes/a -vous/y sûr/s"""
WHAT_IS = """what/w is/v this/t | que/w est/W -ce/W que/W ce/t est/v;
    what/w is/v that/t | que/w est/W -ce/W que/W ce/t est/v;
    what/w is/v this/t | que/w est/W -ce/W que/W ce/t est/v; who/w is/v this/t | qui/w est/v -ce/t;
    who/w is/v it/t | qui/w est/v -ce/t; what/w does/D {it}/t mean/d | que/w veut/D dire/d ça/t;
    what/w does/D this/t word/m mean/d | que/w veut/D dire/d ce/t mot/m;
    what/w is/v wrong/r | que/W est/W -ce/W qui/w ne/R va/v pas/r;
    what/w is/v happening/h | que/W est/W -ce/W qui/w se/H passe/vh; and/a you/y | et/a vous/y;
    why/w | pourquoi/w; why/w not/n | pourquoi/w pas/n; when/w | quand/w; where/w | où/w; who/w | qui/w;
    how/h many/H | combien/h; how/h much/H | combien/h; is/v it/t {name}/x | est/v -ce/t {name}/x"""
FACTS = """I/i am/a from/f here/h | je/i suis/a d'ici/fh; I/i am/a here/h | je/i suis/a ici/h;
    I/i have/a a/b reservation/c | je/i ai/a une/b réservation/c;
    I/i have/a a/b question/c | je/i ai/a une/b question/c;
    I/i have/a a/b problem/c | je/i ai/a un/b problème/c;
    I/i have/a no/n money/m | je/i ne/N ai/a pas/n de/n argent/m;
    I/i have/a no/n time/m | je/i ne/N ai/a pas/n le/M temps/m;
    I/i am/A learning/a French/f | je/i apprends/a le/F français/f;
    I/i am/a on/o holiday/h | je/i suis/a en/o vacances/h;
    I/i am/a at/o home/h | je/i suis/a à/o la/H maison/h;
    I/i have/a a/b headache/h | je/i ai/a mal/b à/B la/H tête/h;
    I/i do/N not/n think/t so/T | je/i ne/N crois/t pas/n; I/i think/t so/T | je/i crois/t;
    I/i hope/t so/T | je/i espère/t; I/i am/A joking/a | je/i plaisante/a;
    I/i speak/s a/b little/l French/f | je/i parle/s un/b peu/l français/f;
    I/i agree/a | je/i suis/A d'accord/a; I/i lost/l my/m {lost}/p | je/i ai/L perdu/l mon/m {perdu}/p;
    I/i am/A coming/a | je/i arrive/a; it/c is/e over/o | ce/c est/e fini/o;
    I/i am/A going/a home/h | je/i rentre/a à/H la/H maison/h; it/c is/e me/m | ce/c est/e moi/m;
    that/c is/e all/a | ce/c est/e tout/a; I/i like/l it/t | ça/t me/i plaît/l;
    I/i am/a bored/b | je/i me/a ennuie/b; I/i am/a in/o love/h | je/i suis/a amoureux/oh;
    I/i forgot/f | je/i ai/F oublié/f; it/c does/N not/n matter/m | ce/c ne/N est/M pas/n grave/m;
    everything/e is/i fine/f | tout/e va/i bien/f;
    I/i am/a happy/h to/t see/s you/y | je/i suis/a heureux/h de/t vous/y voir/s;
    that/t is/i right/r | ce/t est/i ça/r;
    I/i am/a happy/h to/t be/b here/c | je/i suis/a heureux/h de/t être/b ici/c;
    I/i need/n help/h | je/i ai/N besoin/n de/N aide/h;
    I/i do/N not/n have/h a/b reservation/c | je/i ne/N ai/h pas/n de/b réservation/c;
    it/t is/i mine/m | ce/t est/i à/M moi/m;
    I/i do/N not/n eat/e meat/m | je/i ne/N mange/e pas/n de/n viande/m;
    we/w are/A coming/a | nous/w arrivons/a;
    I/i am/a allergic/b to/t {food}/f | je/i suis/a allergique/b à/t ^le/F {mets}/f;
    I/i am/a vegetarian/b | je/i suis/a végétarien/b"""
LOST = rows("passport passeport, bag sac, phone téléphone, ticket billet, umbrella parapluie")
FOODS = rows("fish poisson, milk lait, cheese fromage, chocolate chocolat, bread pain")
FAVORITES = rows("""color couleur f, film film m, book livre m, song chanson f, animal animal m,
    town ville f, sport sport m, season saison f, word mot m, game jeu m, restaurant restaurant m,
    day jour m""")
COLORS = rows("""red rouge, green vert, blue bleu, black noir, white blanc, yellow jaune, grey gris,
    brown brun, pink rose""")


@everyday("love")
def love():
    """`I love you.`: « Je t'aime. »."""
    who = either(0.85, lambda: pronoun({"I": 5}, "we he she they"), somebody)()
    name = pick({"you": 2}, "he she they") if who.pronoun == "je" else other_than(who)
    phrase = verb_phrase(pick({"love=aimer": 4, "hate=détester": 1}),
                         direct("thou" if name == "you" else name))
    much = pair(pick(SO_MUCH)) if phrase.verb.en == "love" else NOTHING
    whom = called(0.6 if name == "you" else 0, FAMILIAR)
    kind = below(8)
    if kind == 0 and who.pronoun != "je":
        return asks(question(who, phrase) + whom)
    if kind == 1:
        return clause(who, phrase, "present", "not") + whom
    return framed(clause(who, phrase) + much + whom, calling=0, openings={"|": 4, "yes/a , | oui/a ,": 1})


@everyday("love of family and towns")
def love_of():
    """`We love Paris.`"""
    who = pronoun({"I": 3}, "you he she they we")
    what = pick((somebody, a_city, country_name, lambda: relative_of(name_of(who)),
                 lambda: noun_phrase(lexicon.noun("family", "famille", "f"), name_of(who))))()
    return framed(clause(who, verb_phrase("love", what)), calling=0.1)


@everyday("likes and dislikes")
def likes():
    """`Do you like cheese?`"""
    who = either(0.8, lambda: pronoun({"I": 3, "you": 3}, "he she we they"), somebody)()
    noun = pick(PREFERENCES)
    what = noun_phrase(noun, "general", 1 if noun.kind == "mass" else 2)
    phrase = verb_phrase(pick({"like": 4}, "love hate"), what)
    if who.pronoun != "je" and chance(0.6):
        return asked(question(who, phrase), calling=in_person(who))
    return clause(who, phrase, "present", pick_not(0.35))


def feeling(who):
    """To be hungry or late: to have, or to be in, something in French."""
    having = chance(0.7)
    return verb_phrase("be=avoir" if having else "be", pair(pick(HAVING if having else BEING)))


def trait(who):
    """To be tired or young, perhaps very much."""
    adjective = pick(lexicon.STATES + TRAITS)
    very = weighted({"|": 2, "very/v | très/v": 2}, "so/v | si/v; really/v | vraiment/v; too/v | trop/v")
    very = pair("|" if adjective.en in ABSOLUTE else pick(very))
    return verb_phrase("be", very + agreeing(adjective, who))


def how_somebody_is(make):
    """Drawer of `I'm hungry`, `Are you tired?`, by the predicate."""
    anybody = either(0.75, lambda: pronoun({"I": 3, "you": 3}, "he she we they"), one_of(somebody, parents))

    def draw():
        who = anybody()
        phrase = make(who)
        if who.pronoun != "je" and chance(0.5):
            why = pair(pick({"|": 4, "why/w | pourquoi/w": 1}))
            return asked(why + question(who, phrase), calling=in_person(who))
        if chance(0.25):
            return framed(clause(who, phrase, "present", "not"), calling=0.15, openings=ANSWERING, ends=".")
        behind = pair(pick({"|": 4}, "today/a | aujourd'hui/a; too/b | aussi/b"))
        return framed(clause(who, phrase) + behind, calling=0.15, openings=ANSWERING)

    return draw


everyday("being hungry or late")(how_somebody_is(feeling))
everyday("being tired or young")(how_somebody_is(trait))


@everyday("knowing and understanding")
def knowing():
    """`Sorry, I don't understand.`"""
    who = either(0.85, lambda: pronoun({"I": 4, "you": 2}, "we he she they"), somebody)()
    phrase = read_phrase(pick(KNOWING))
    if phrase.verb.en == "understand" and chance(0.4):
        phrase = phrase.plus(pair(pick(UNDERSTOOD)))
    if who.pronoun != "je" and chance(0.5):
        openings = OPENINGS if who.pronoun == "vous" else "|"
        return asked(question(who, phrase), calling=in_person(who), openings=openings)
    return framed(clause(who, phrase, "present", pick_not(0.75)), calling=0.25, openings=APOLOGETIC, ends=".")


@everyday("asking for help")
def asking_for_help():
    """`Can you help me?`"""
    if chance(0.5):
        return requested(pair(pick(REQUESTS)), please=0.2)
    who = pronoun({"you": 4}, "he she they we")
    name = "I" if who.pronoun == "vous" and chance(0.5) else other_than(who)
    phrase = verb_phrase(pick(HELPING), direct(name))
    return requested(question(who, phrase, pick({"can": 3, "could": 1})))


@everyday("short request")
def short_request():
    """`Wait a moment, please!`"""
    said = pair(pick(ORDERS))
    if chance(0.2):
        return framed(said + pair(", please/a | , s'il/A vous/A plaît/a"), calling=0, ends=". !")
    openings = {"|": 4, "please/a , | s'il/A vous/A plaît/a ,": 1}
    return framed(said, calling=0.55, openings=openings, ends=". !")


@everyday("fact about oneself")
def fact():
    """`I have a reservation.`"""
    (lost, perdu), (food, mets) = pick(LOST), pick(FOODS)
    said = pair(pick(FACTS), lost=lost, perdu=perdu, food=food, mets=mets)
    return framed(said, calling=0.35, openings=[*ANSWERING, "hello/a , | bonjour/a ,"], ends=MARKS)


@everyday("short question")
def short_question():
    """`What is this?`"""
    name = pick(lexicon.GIVEN_NAMES[pick("m f")])
    return asked(pair(pick(WHAT_IS), it=pick("this that it"), name=name), calling=0.3, openings=OPENINGS)


@everyday("asking what somebody does")
def asking_what():
    """`What are you doing?`, `Where do you live?`, `Who is he?`"""
    who, kind = either(0.8, lambda: pronoun({"you": 3}, "he she they we"), somebody)(), below(5)
    if kind == 0:
        verb = verb_phrase(pick({"want": 2}, "see hear say think like know=savoir prefer"))
        said = pair("what/w | que/w") + subject_last(who, verb)
    elif kind <= 2:
        moment = pair(pick({"|": 3},
            "now/a | maintenant/a; today/a | aujourd'hui/a; here/a | ici/a; tonight/a | ce/a soir/a"))
        phrase = verb_phrase(pick({"do=faire": 3}, "eat drink read write watch look_for"))
        said = pair("what/w | que/w") + question(who, phrase, "progressive") + moment
    elif kind == 3:
        verb = pick("go=aller go=aller live work live sleep eat")
        tense = "progressive" if verb.startswith("go") else "present"
        said = pair("where/w | où/w") + subject_last(who, verb_phrase(verb), tense)
    else:
        verb = pick("come=venir leave arrive cry laugh smile")
        why = chance(0.5) or verb in ("cry", "laugh", "smile")
        said = pair("why/w | pourquoi/w" if why else "when/w | quand/w")
        said = said + subject_last(who, verb_phrase(verb), "progressive")
    return asked(said, calling=in_person(who) / 2)


@everyday("asking who")
def asking_who():
    """`Who is he?`, `Is he your brother?`"""
    who = pronoun("you he she they")
    if chance(0.4):
        who = noun_phrase(noun_of("adult child"), pick("this that the"))
    if who.pronoun in ("il", "elle") and chance(0.5):
        kin = "mother sister wife daughter aunt" if who.gender == "f" else "father brother husband son uncle"
        return asked(question(who, verb_phrase("be", noun_phrase(noun_of(kin), "you"))), calling=0)
    said = pair("who/w {q} | qui/w {q}", q=subject_last(who, verb_phrase("be")))
    return asked(said, calling=in_person(who), openings={"|": 3, "and/a | et/a": 1})


def short_doing(who):
    """Something short that somebody wants to do."""
    kind = below(4)
    if kind == 0:
        return verb_phrase("learn=apprendre", pair("{x}/l | ^le/L {x}/l", x=pick(lexicon.LANGUAGES)))
    if kind == 1:
        return verb_phrase("go", in_place("to") if chance(0.5) else pair("to/t {x} | à/t {x}", x=the_place()))
    if kind == 2:
        return verb_phrase(pick("see help call=appeler"), direct(other_than(who)))
    return verb_phrase(pick("""go=partir; go home=rentrer; sleep; eat; drink=boire; dance; pay=payer; work;
        study; swim; sing; leave; go out; rest=se reposer"""))


@everyday("wanting and having to")
def wanting():
    """`I want to sleep.`, `I have to go.`"""
    who = pronoun({"I": 4}, "we he she you they")
    inner = short_doing(who)
    verb = lexicon.verb(pick({"want": 2}, "have=devoir need=avoir like=vouloir"))
    to = "to/pV {i} | besoin/V de/p {i}" if verb.en == "need" else "to/V {i} | {i}"
    phrase = verb_phrase(verb).about(to, p=concept(), i=nonfinite(inner, who.person))
    if who.pronoun == "vous" and verb.en == "want":
        return asks(question(who, phrase))
    now = pair(pick({"|": 2}, "now/n | maintenant/n; today/n | aujourd'hui/n"))
    negation = pick_not(0.15) if verb.en == "want" else ""
    said = clause(who, phrase, "conditional" if verb.en == "like" else "present", negation)
    return framed(said + now, calling=0.1, openings=ANSWERING, ends=".")


@everyday("simple statement")
def simple_statement():
    """`My cat is black.`, `The boy eats an apple.`, `The dog is in the garden.`"""
    kind = below(4)
    if kind == 0:
        noun = noun_of("animal building vehicle garment food fruit furniture")
        whose = {"the": 2, "I": 2, "she": 1, "he": 1}
        what = described_noun(noun, {"the": 2, "this": 1} if noun.adjectives in ("B", "F", "G") else whose)
        very = pair(pick({"|": 3}, "very/v | très/v; too/v | trop/v"))
        said = verb_phrase("be", very + quality(what))
        return asks(question(what, said)) if chance(0.15) else clause(what, said, "present", pick_not(0.15))
    if kind == 1:
        noun = noun_of("food drink fruit")
        what = noun_phrase(noun, "some" if noun.kind == "mass" else pick("a the"),
                           1 if noun.kind == "mass" or chance(0.6) else 2)
        who = pick({role: 2}, (somebody, partial(pronoun, "I he she we")))()
        verb = "drink" if noun in lexicon.NOUNS["drink"] else "eat"
        return clause(who, verb_phrase(verb, what), pick("present progressive"))
    animal = noun_phrase(noun_of("animal"), pick({"the": 2}, "I you"))
    who = pick((lambda: animal, somebody, role, lambda: pronoun("I he she they we you"), parents))()
    if kind == 2:
        said = clause(who, verb_phrase(pick({"sleep": 2}, "eat sing work walk cry laugh")), "progressive")
        return said + pair(pick({"|": 2}, "now/a | maintenant/a; here/h | ici/h"))
    where = spot() if who is animal and chance(0.6) else place()
    if chance(0.15) and who.pronoun != "je":
        return asks(question(who, verb_phrase("be", where)))
    return is_(who, where)


@everyday("favorite things")
def favorite_things():
    """`My favorite color is blue.`, `What is your favorite film?`"""
    name, (en, fr) = pick({"I": 3}, "you he she"), pick(COLORS)
    favorite = Adjective("favorite", "préféré", "")
    if chance(0.5):
        what = noun_phrase(lexicon.noun("color", "couleur", "f"), name, 1, [favorite])
        return is_(what, pair("{en}/b | le/B {fr}/b", en=en, fr=fr))
    what = noun_phrase(lexicon.noun(*pick(FAVORITES)), name, 1, [favorite])
    quel = article("quel", what.gender, 1)
    said = pair("what/w is/v {x} | {quel}/w est/v {x}", x=what, quel=quel)
    return asked(said, calling=0.2, openings=OPENINGS)
