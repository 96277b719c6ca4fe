"""Single words and short phrases, as one types them to try a translator, and two sentences in a row."""

from adverbials import DAYS, MONTHS, NUMBERS, TENS
from clauses import verb_phrase
from constructions import EVERYDAY, everyday
from draw import below, chance, listed, pick, rows, weighted
from introductions import TEENS, number
from phrases import counted, described_noun, noun_of, noun_phrase
from surface import capital
from words import Pair, pair

NOUNS = """animal fruit food drink garment vehicle solid keepsake furniture opening building family child
    adult text abstract animal family"""
WORDS = rows("""today aujourd'hui, tomorrow demain, yesterday hier, always toujours, never jamais, here ici,
    now maintenant, love amour, happiness bonheur, family famille, sun soleil, moon lune, sea mer,
    mountain montagne, river rivière, tree arbre, summer été, winter hiver, spring printemps,
    autumn automne, money argent, time temps, day jour, night nuit, morning matin, evening soir,
    week semaine, month mois, year an, hour heure, world monde, country pays, life vie, peace paix,
    music musique, hand main, head tête, heart cœur, rain pluie, snow neige, fire feu, sky ciel,
    fish poisson, breakfast petit-déjeuner, lunch déjeuner, dinner dîner, color couleur, word mot, name nom,
    red rouge, blue bleu, green vert, black noir, white blanc, yellow jaune, grey gris, brown brun,
    pink rose, beautiful beau, big grand, small petit, good bon, bad mauvais, hot chaud, cold froid,
    new nouveau, old vieux, happy heureux, sad triste, tired fatigué, easy facile, difficult difficile,
    young jeune, rich riche, one un, thirteen treize, hundred cent, thousand mille""")
INFINITIVES = """eat drink sleep speak love=aimer go=aller be=être have=avoir see read write work sing
    buy=acheter dance run think say know=savoir understand give=donner live swim open close help wait
    play=jouer walk cook pay=payer do=faire"""


@everyday("single word")
def single_word():
    """`cat`, `twelve`, `Monday`."""
    kind = below(8)
    if kind <= 2:
        return pair("{x}/a", x=pick(WORDS))
    if kind == 3:
        return pair("{x}/a", x=pick(NUMBERS + TENS + TEENS + DAYS + MONTHS + DAYS))
    return noun_phrase(noun_of(NOUNS), "bare")


@everyday("short phrase")
def short_phrase():
    """`my mother`, `two cats`, `a black cat`, `to eat`."""
    if chance(0.12):
        verb = verb_phrase(pick(INFINITIVES))
        return pair("to/V {en}/v | {fr}/v", en=verb.verb.en, fr=verb.verb.fr)
    noun = noun_of(NOUNS)
    if chance(0.25) and noun.kind != "mass":
        return counted(number(12), noun)
    return described_noun(noun, "the a the a I you this", described=0.35)


@everyday("counting")
def counting():
    """`one, two, three`."""
    first, many = below(9), 2 + below(4)
    run = [("one", "un"), *NUMBERS][first:first + many]
    counted_ = [pair("{x}/a", x=x) for x in run]
    return sum((pair(",") + x for x in counted_[1:]), counted_[0])


FIRST = weighted({"greeting": 2}, """short answer; short request; thanks; apology; being well;
    meeting somebody; telling a name; fact about oneself""")
SECOND = """telling a name; asking for a name; being well; asking after somebody; origin;
    fact about oneself; wanting and having to"""
ALONE = ("two sentences", "single word", "short phrase", "counting")


@everyday("two sentences")
def two_sentences():
    """`Hello! My name is Anna.`"""
    names = listed(SECOND) if chance(0.5) else [x for x in EVERYDAY if x not in ALONE]
    first, second = EVERYDAY[pick(FIRST)](), EVERYDAY[pick(names)]()
    return first + Pair(*((capital(head), *rest) for head, *rest in (second.en, second.fr)))
