"""Idioms and set phrases that do not match word for word."""

from constructions import *
from exchanges import PLEASE
from nominal import CONTAINERS

HAVING = """
    hungry/a | faim/a; thirsty/a | soif/a; cold/a | froid/a; hot/a | chaud/a; sleepy/a | sommeil/a;
    right/a | raison/a; wrong/a | tort/a; lucky/a | de/A la/A chance/a; ashamed/a | honte/a"""
BEING = """
    late/a | en/A retard/a; early/a | en/A avance/a; angry/a | en/A colère/a; on/A time/a | à/A l'heure/a;
    on/A holiday/a | en/A vacances/a"""


@construction("to be hungry, right or afraid, with avoir")
def having():
    who, tense = subject(), pick("present present imperfect future")
    negation = pick("- - not never")
    if chance(0.35):
        animal = noun_phrase(pick(lexicon.NOUNS["animal"]), "general", 2)
        phrase = verb_phrase("be=avoir", pair("afraid/a of/b {x} | peur/a de/b {x}", x=animal))
        return clause(who, phrase, tense, negation)
    idiom = pick(HAVING)
    phrase = verb_phrase("be=avoir", pair(idiom))
    if chance(0.25) and who.pronoun not in ("je", "tu", "") and tense == "present":
        return asks(question(who, phrase, tense))
    return clause(who, phrase, tense, "" if "chance" in idiom else negation)


@construction("to be late or angry, with être en")
def being():
    who, idiom, tense = subject(), pick(BEING), pick("present imperfect future")
    said = is_(who, pair(idiom), tense, pick_not(0.3))
    when = time_of_state(tense)
    return said + when if chance(0.5) else said


HELPERS = "doctor teacher lawyer engineer friend baker"


@construction("to need, with avoir besoin de")
def need():
    who, phrase = subject(), verb_phrase("need=avoir")
    if chance(0.3):
        inner = action(who)
        to = pair("to/pV {i} | besoin/N de/p {i}", v=inner.meaning, n=phrase.meaning, i=infinitive(inner, who.person))
        return clause(who, phrase.plus(to), pick("present imperfect"))
    classes = pick(("food drink", "thing garment vehicle", HELPERS))
    noun = drawn_noun(classes)
    mass = noun.kind == "mass"
    kind = pick("the partitive" if mass else "the I a")
    if classes == HELPERS:
        kind = "a"
    what = noun_phrase(noun, kind, 1 if mass or chance(0.7) else 2)
    phrase = phrase.about("{what} | besoin/V de/V {what}", what=what)
    tense = pick("present imperfect future")
    return clause(who, phrase, tense, "not" if chance(0.2) and kind != "a" else "")


BODY = rows("""
    head la tête, back le dos, throat la gorge, foot le pied, hand la main, leg la jambe, stomach le ventre,
    arm le bras, knee le genou
""")
GROOMING = rows("""
    wash laver hands les mains, wash laver face le visage, wash laver hair les cheveux,
    brush brosser teeth les dents, brush brosser hair les cheveux, break casser leg la jambe,
    break casser arm le bras
""")


@construction("parts of the body that hurt")
def hurting():
    part, le, fr = pick(BODY)
    sufferer, tense = PRONOUNS[pick("I he she you")], pick("present imperfect")
    said = pair(
        "{own}/s {part}/p {hurts} | {je}/s {have}/V mal/v à/V ^{le}/P {part}/p", own=sufferer.own, part=(part, fr),
        hurts="hurts/v" if tense == "present" else "was/V hurting/v", je=sufferer.fr_subject, le=le,
        have=french.finite("avoir", tense, sufferer.person),
    )
    when = time_for(tense)
    return said + when if chance(0.7) else said


@construction("reflexive with parts of the body")
def body_reflexive():
    verb, fr, part, le, part_fr = pick(GROOMING)
    broken = verb == "break"
    who = drawn_pronoun("I he she you") if broken else subject()
    own = pair("{own}/d {part}/p", own=(PRONOUNS[name_of(who)].own, le), part=(part, part_fr))
    phrase = verb_phrase(f"{verb}=se {fr}", own, agrees_with_subject=False)
    tense = "past" if broken else pick("past present future near")
    negation = "not" if chance(0.15) and not broken else ""
    when = time_for("past") if broken else day_time(tense)
    said = clause(who, phrase, tense, negation)
    return said + when if chance(0.7) else said


def crossed(who, en, fr, liked, tense):
    """A verb whose French subject is the English object: `I miss you`, « vous me manquez »."""
    form = en if tense == "future" else english.finite(en, "past" if tense == "imperfect" else tense, who.person)
    spoken = liked.en
    if liked.pronoun:
        spoken = (replace(spoken[0], text=PRONOUNS[name_of(liked)].object),)
    template = "{who} {will} {form}/v {liked} | {liked} {form}/v à/V {who}"
    if who.pronoun:
        dative = replace(who.fr[0], text=PRONOUNS[name_of(who)].indirect)
        who = replace(who, fr=(dative,))
        template = "{who} {will} {form}/v {liked} | {liked} {who} {form}/v"
    return pair(
        template, v=concept(), who=who, will="will/V" if tense == "future" else "", liked=Pair(spoken, liked.fr),
        form=(form, french.finite(fr, tense, liked.person)),
    )


@construction("to miss somebody, with manquer")
def missing():
    who, tense = subject(), pick("present present imperfect future")
    someone = pick((lambda: subject_pronoun(other_than(who)), named, relative_of, country_name))
    return crossed(who, "miss", "manquer", someone(), tense)


@construction("to like this or that, with plaire")
def pleasing():
    who = drawn_pronoun() if chance(0.6) else person()
    what, _ = known_thing("garment building abstract vehicle text keepsake", "this that you she")
    return crossed(who, "like", "plaire", what, pick("present future"))


SET_PHRASES = """
    pay=faire: attention/a | attention/a; take=faire: a/A walk/a | une/A promenade/a;
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


@construction("set phrase with faire, prendre and others")
def set_phrase():
    phrase, who = read_phrase(pick(SET_PHRASES)), subject()
    if chance(0.2):
        return asks(question(drawn_pronoun("he she they you"), phrase, pick("past near future")))
    tense = pick("present past near future must")
    return timed(clause(who, phrase, tense), tense, 0.6)


@construction("colourful idiom")
def colourful():
    phrase, who = read_phrase(pick(COLOURFUL)), subject()
    tense = pick("present past future near used")
    if phrase.verb.en == "feel":
        tense = pick("present imperfect future")
    if phrase.verb.en == "spill":
        tense = pick("past future near")
    return timed(clause(who, phrase, tense), tense, 0.5)


@construction("places: à, en, au and chez")
def places():
    who, verb = subject(), pick("live work be stay")
    where = pick((town, country, home_of, town, country))()
    tense = pick("present future imperfect" if verb == "be" else "present future used")
    negation = "not" if chance(0.2) and tense != "used" else ""
    return clause(who, verb_phrase(verb, where), tense, negation)


FREQUENCY = """
    often/a | souvent/a; always/a | toujours/a; sometimes/a | parfois/a; rarely/a | rarement/a;
    still/a | encore/a; already/a | déjà/a; also/a | aussi/a"""


@construction("adverb after the verb")
def frequency():
    who, adverb = subject(), pair(pick(FREQUENCY))
    word = adverb.en[0].text
    if word in ("already", "also"):
        phrase = action(who)
        tense = "perfect" if word == "already" else pick("perfect future near")
        return clause(who, phrase, tense, adverb=adverb)
    return clause(who, visible(who, activity, "present"), adverb=adverb)


MANNERS = dict(rows("""
    slowly lentement, quickly vite, together ensemble, well bien, badly mal, quietly doucement, hard dur
"""))
WAYS = listed("""
    walk: slowly quickly quietly; speak: slowly quickly quietly well badly;
    drive: slowly quickly carefully well badly; work: well hard slowly quickly carefully;
    sing: well badly quietly; eat: slowly quickly well; sleep: well badly; dance: well badly slowly
""")


@construction("manner")
def manner():
    who, (verb, _, ways) = subject(), pick(WAYS).partition(":")
    way = pick(ways)
    tense, negation = pick("present future near can"), pick_not(0.25)
    very = way not in ("carefully", "hard") and chance(0.3)
    fr = "avec/A soin/a" if way == "carefully" else MANNERS[way] + "/a"
    how = pair("{way}/a | {fr}", way=way, fr=fr)
    phrase = verb_phrase(verb, pair("very/a | très/a") + how if very else how)
    if tense in ("present", "future") and chance(0.5) and verb in lexicon.USUAL_PLACES:
        phrase = phrase.plus(place(lexicon.USUAL_PLACES[verb]))
    return clause(who, phrase, tense, negation)


HINDERING = listed("young tired sick shy lazy old nervous")
HELPING = listed("intelligent strong rich")


@construction("too and enough with pour")
def too_enough():
    who = subject()
    item = pick([x for x in lexicon.ADJECTIVES if x.en in HINDERING + HELPING])
    while True:
        inner = definite(who)
        if inner.verb.en not in ("lose", "break", "forget"):
            break
    to = pair("to/V {i} | pour/V {i}", v=inner.meaning, i=infinitive(inner, who.person))
    template = "too/t {a} {to} | trop/t {a} {to}" if item.en in HINDERING else "{a} enough/t {to} | assez/t {a} {to}"
    return is_(who, pair(template, a=agreeing(item, who), to=to), pick("present imperfect"))


@construction("tag question")
def tag():
    who, kind = drawn_pronoun("he she they we you"), below(3)
    if kind == 0:
        said, tag = is_(who, state(who)), "isn't" if who.person == 2 else "aren't"
    elif kind == 1:
        phrase, tag = activity(who), "didn't"
        said = clause(who, phrase, "past")
        if phrase.verb.en == "read":
            said = said + time_for("past")
    else:
        said, tag = clause(who, activity(who), "future"), "won't"
    template = "{said} , {tag}/t {pronoun}/T | {said} , n'est-ce/t pas/t"
    return asks(pair(template, said=said, tag=tag, pronoun=who.en[0].text))


POLITE = (
    "would/W you/y like/w | voulez/w -vous/y", "can/w I/i have/h | est-ce/W que/W je/i peux/w avoir/h",
    "I/i would/W like/w | je/i voudrais/w", "do/A you/y have/a | avez/a -vous/y",
)


@construction("polite formula")
def polite():
    index = below(len(POLITE))
    noun = drawn_noun("food drink fruit")
    mass = noun.kind == "mass"
    what = noun_phrase(noun, "some" if mass else "a", 1 if mass or chance(0.5) else 2)
    if mass and chance(0.4):
        what = counted(pair(pick(CONTAINERS["drink" if noun in lexicon.NOUNS["drink"] else "food"])), noun, 1)
    please = pair(PLEASE) if chance(0.5) and index else NOTHING
    call = perhaps(0.25, lambda: pair(pick("sir/a , | monsieur/a ,; madam/a , | madame/a ,")))
    return finished(call + pair(POLITE[index]) + what + please, "." if index == 2 else "?")
