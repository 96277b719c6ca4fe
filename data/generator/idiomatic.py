"""Idioms and set phrases that do not match word for word."""

from dataclasses import replace

import english
import french
import lexicon
from adverbials import country, day_time, home_of, place, time_for, time_of_state, town
from clauses import clause, nonfinite, question, read_phrase, verb_phrase
from constructions import asks, construction, declare, finished, timed
from draw import below, chance, either, listed, one_of, pick, pick_not, rows, sometimes_not, weighted
from events import action, activity, definite, is_, known, state, suitable, visible
from exchanges import PLEASE
from nominal import CONTAINERS
from phrases import (
    PRONOUNS, agreeing, counted, country_name, name_of, named, noun_of, noun_phrase, other_than, person,
    pronoun, relative_of, subject, subject_pronoun,
)
from words import NOTHING, Pair, concept, pair

HAVING = """hungry/a | faim/a; thirsty/a | soif/a; cold/a | froid/a; hot/a | chaud/a; sleepy/a | sommeil/a;
    right/a | raison/a; wrong/a | tort/a; lucky/a | de/A la/A chance/a; ashamed/a | honte/a"""
BEING = """late/a | en/A retard/a; early/a | en/A avance/a; angry/a | en/A colère/a;
    on/A time/a | à/A l'heure/a; on/A holiday/a | en/A vacances/a"""
HELPERS = "doctor teacher lawyer engineer friend baker"
BODY = rows("""head la tête, back le dos, throat la gorge, foot le pied, hand la main, leg la jambe,
    stomach le ventre, arm le bras, knee le genou""")
GROOMING = rows("""wash laver hands les mains, wash laver face le visage, wash laver hair les cheveux,
    brush brosser teeth les dents, brush brosser hair les cheveux, break casser leg la jambe,
    break casser arm le bras""")
SET_PHRASES = """pay=faire: attention/a | attention/a; take=faire: a/A walk/a | une/A promenade/a;
    do=faire: the/b dishes/a | la/b vaisselle/a; do=faire: the/b shopping/a | les/b courses/a;
    take=faire: a/A nap/a | une/A sieste/a; have=prendre: breakfast/a | le/A petit/A déjeuner/a;
    take=prendre: a/b photo/a | une/b photo/a; take=prendre: the/b train/a | le/b train/a;
    ask=poser: a/b question/a | une/b question/a; tell=dire: the/b truth/a | la/b vérité/a;
    waste=perdre: time/a | du/A temps/a; keep=garder: a/b secret/a | un/b secret/a;
    make=faire: the/b bed/a | le/b lit/a"""
COLOURFUL = """
    sleep=dormir: like/l a/a log/b | comme/l un/a loir/b; eat=manger: like/l a/B horse/b | comme/l quatre/b;
    sing=chanter: like/l a/a bird/b | comme/l un/a rossignol/b;
    smoke=fumer: like/l a/a chimney/b | comme/l un/a pompier/b;
    work=travailler: like/l a/a dog/b | comme/l une/a bête/b; spill=vendre: the/t beans/b | la/t mèche/b;
    feel=avoir: blue/b | le/B cafard/b"""
TENSES_OF = {"feel": "present imperfect future", "spill": "past future near", "already": "perfect",
             "also": "perfect future near"}
FREQUENCY = """often/a | souvent/a; always/a | toujours/a; sometimes/a | parfois/a; rarely/a | rarement/a;
    still/a | encore/a; already/a | déjà/a; also/a | aussi/a"""
MANNERS = """slowly/a | lentement/a; quickly/a | vite/a; well/a | bien/a; badly/a | mal/a;
    quietly/a | doucement/a; carefully/a | avec/A soin/a; hard/a | dur/a"""
WAYS = """walk: slowly quickly quietly; speak: slowly quickly quietly well badly;
    drive: slowly quickly carefully well badly; work: well hard slowly quickly carefully;
    sing: well badly quietly; eat: slowly quickly well; sleep: well badly; dance: well badly slowly"""
TOO, ENOUGH = "too/t {a} {to} | trop/t {a} {to}", "{a} enough/t {to} | assez/t {a} {to}"
HINDERING = listed("young tired sick shy lazy old nervous")
HELPING = listed("intelligent strong rich")
POLITE = listed("""would/W you/y like/w | voulez/w -vous/y;
    can/w I/i have/h | est-ce/W que/W je/i peux/w avoir/h; I/i would/W like/w | je/i voudrais/w;
    do/A you/y have/a | avez/a -vous/y""")

@construction("to be hungry, right or afraid, with avoir")
def having():
    who, tense, negation = subject(), pick({"present": 2}, "imperfect future"), pick({"": 2}, "not never")
    if chance(0.35):
        animal = noun_phrase(pick(lexicon.NOUNS["animal"]), "general", 2)
        phrase = verb_phrase("be=avoir", pair("afraid/a of/b {x} | peur/a de/b {x}", x=animal))
        return clause(who, phrase, tense, negation)
    idiom = pick(HAVING)
    phrase = verb_phrase("be=avoir", pair(idiom))
    if chance(0.25) and who.pronoun not in ("je", "tu", "") and tense == "present":
        return asks(question(who, phrase, tense))
    return clause(who, phrase, tense, "" if "chance" in idiom else negation)

declare("to be late or angry, with être en",
        what=BEING, tense="present imperfect future", negation=sometimes_not(0.3),
        when=time_of_state, kept=0.5)

@construction("to need, with avoir besoin de")
def need():
    who, phrase = subject(), verb_phrase("need=avoir")
    if chance(0.3):
        inner = action(who)
        to = phrase.about("to/pB {i} | besoin/V de/p {i}", b=inner.meaning, i=nonfinite(inner, who.person))
        return clause(who, to, pick("present imperfect"))
    classes = pick(("food drink", "thing garment vehicle", HELPERS))
    noun = noun_of(classes)
    mass = noun.kind == "mass"
    kind = pick("the partitive" if mass else "the I a")
    kind = "a" if classes == HELPERS else kind
    what = noun_phrase(noun, kind, 1 if mass or chance(0.7) else 2)
    phrase = phrase.about("{what} | besoin/V de/V {what}", what=what)
    tense, negation = pick("present imperfect future"), pick_not(0.2)
    return clause(who, phrase, tense, negation if kind != "a" else "")

declare("parts of the body that hurt",
        body=BODY, whose="I he she you", tense="present imperfect", when=time_for, kept=0.7,
        said=lambda body, whose, tense: pair(
            "{own}/s {part}/p {hurts} | {je}/s {have}/V mal/v à/V ^{le}/P {part}/p",
            own=PRONOUNS[whose].own, je=PRONOUNS[whose].fr_subject, part=body[::2], le=body[1],
            hurts="hurts/v" if tense == "present" else "was/V hurting/v",
            have=french.finite("avoir", tense, PRONOUNS[whose].person)))
declare("reflexive with parts of the body",
        row=GROOMING, broken=lambda row: row[0] == "break",
        who=lambda broken: pronoun("I he she you") if broken else subject(),
        own=lambda row, who: (PRONOUNS[name_of(who)].own, row[3]), part=lambda row: (row[2], row[4]),
        what="{own}/d {part}/p | {own}/d {part}/p",
        do=lambda row, what: verb_phrase(f"{row[0]}=se {row[1]}", what, agrees_with_subject=False),
        tense=lambda broken: "past" if broken else pick("past present future near"),
        seldom=sometimes_not(0.15), negation=lambda broken, seldom: "" if broken else seldom,
        when=lambda broken, tense: time_for(tense) if broken else day_time(tense), kept=0.7)

def crossed(who, en, fr, liked, tense):
    """A verb whose French subject is the English object: `I miss you`, « vous me manquez »."""
    tense_en = "past" if tense == "imperfect" else tense
    form = en if tense == "future" else english.finite(en, tense_en, who.person)
    spoken = liked.en
    if liked.pronoun:
        spoken = (replace(spoken[0], text=PRONOUNS[name_of(liked)].object),)
    template = "{who} {will} {form}/v {liked} | {liked} {form}/v à/V {who}"
    if who.pronoun:
        template = "{who} {will} {form}/v {liked} | {liked} {who} {form}/v"
        who = Pair(who.en, (replace(who.fr[0], text=PRONOUNS[name_of(who)].indirect),))
    forms = (form, french.finite(fr, tense, liked.person))
    will = "will/V" if tense == "future" else ""
    return pair(template, v=concept(), who=who, will=will, liked=Pair(spoken, liked.fr), form=forms)

declare("to miss somebody, with manquer",
        who=subject, tense=weighted({"present": 2}, "imperfect future"),
        another=lambda who: lambda: subject_pronoun(other_than(who)),
        liked=lambda another: one_of(another, named, relative_of, country_name)(),
        said=lambda who, liked, tense: crossed(who, "miss", "manquer", liked, tense))
declare("to like this or that, with plaire",
        who=either(0.6, pronoun, person),
        liked=lambda: known("garment building abstract vehicle text keepsake", "this that you she"),
        said=lambda who, liked: crossed(who, "like", "plaire", liked, pick("present future")))
declare("set phrase with faire, prendre and others",
        do=lambda: read_phrase(pick(SET_PHRASES)), who=subject,
        other=lambda: chance(0.2) and pronoun("he she they you"),
        tense=lambda other: pick("past near future" if other else "present past near future must"),
        said=lambda who, do, other, tense: asks(question(other, do, tense)) if other else timed(
            clause(who, do, tense), tense, 0.6))
declare("colorful idiom",
        do=lambda: read_phrase(pick(COLOURFUL)), who=subject, usual="present past future near used",
        tense=lambda do, usual: pick(TENSES_OF[do.verb.en]) if do.verb.en in TENSES_OF else usual,
        said=lambda who, do, tense: timed(clause(who, do, tense), tense, 0.5))
declare("places: à, en, au and chez",
        verb="live work be stay", what=one_of(town, country, home_of, town, country),
        tense=lambda verb: pick("present future imperfect" if verb == "be" else "present future used"),
        seldom=sometimes_not(0.2), negation=lambda tense, seldom: seldom if tense != "used" else "")
declare("adverb after the verb",
        adverb=FREQUENCY, word=lambda adverb: adverb.en[0].text,
        do=lambda who, word: action(who) if word in TENSES_OF else visible(who, activity, "present"),
        tense=lambda word: pick(TENSES_OF[word]) if word == "also" else TENSES_OF.get(word, "present"))
declare("manner",
        ways=lambda: pick(WAYS).split(":"), way=lambda ways: pick(ways[1]),
        tense="present future near can", negation=sometimes_not(0.25),
        very=lambda way: "very/a | très/a" if way not in ("carefully", "hard") and chance(0.3) else "|",
        verb=lambda ways: ways[0], placed=lambda tense: tense in ("present", "future") and chance(0.5),
        where=lambda verb, placed: place(lexicon.USUAL_PLACES[verb]) if (
            placed and verb in lexicon.USUAL_PLACES) else NOTHING,
        how=lambda way: next(x for x in listed(MANNERS) if x.startswith(way)),
        what="{very} {how} {where} | {very} {how} {where}")

def hindered(who):
    """Too old, or rich enough, to do something."""
    adjective = pick([x for x in lexicon.ADJECTIVES if x.en in HINDERING + HELPING])
    inner = suitable(lambda verb: verb.en not in ("lose", "break", "forget"), definite, who)
    to = pair("to/V {i} | pour/V {i}", v=inner.meaning, i=nonfinite(inner, who.person))
    template = TOO if adjective.en in HINDERING else ENOUGH
    return verb_phrase("be", pair(template, a=agreeing(adjective, who), to=to))

declare("too and enough with pour", do=hindered, tense="present imperfect")

@construction("tag question")
def tag():
    who, kind = pronoun("he she they we you"), below(3)
    if kind == 0:
        said, tag = is_(who, state(who)), "isn't" if who.person == 2 else "aren't"
    elif kind == 1:
        phrase, tag = activity(who), "didn't"
        said = clause(who, phrase, "past")
        said = said + time_for("past") if phrase.verb.en == "read" else said
    else:
        said, tag = clause(who, activity(who), "future"), "won't"
    template = "{said} , {tag}/t {pronoun}/T | {said} , n'est-ce/t pas/t"
    return asks(pair(template, said=said, tag=tag, pronoun=who.en[0].text))

@construction("polite formula")
def polite():
    index, noun = below(len(POLITE)), noun_of("food drink fruit")
    mass = noun.kind == "mass"
    what = noun_phrase(noun, "some" if mass else "a", 1 if mass or chance(0.5) else 2)
    if mass and chance(0.4):
        what = counted(pair(pick(CONTAINERS["drink" if noun in lexicon.NOUNS["drink"] else "food"])), noun, 1)
    please = pair(PLEASE if chance(0.5) and index else "")
    call = pair(pick("sir/a , | monsieur/a ,; madam/a , | madame/a ,") if chance(0.25) else "")
    return finished(call + pair(POLITE[index]) + what + please, "." if index == 2 else "?")
