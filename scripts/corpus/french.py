"""French morphology: verb forms, agreement and the sounds that elision needs."""

VOWELS = "aeiouyàâéèêëîïôûùœæ"
ASPIRATED = (
    "haricot",
    "héros",
    "hibou",
    "hamster",
    "haut",
    "huit",
    "honte",
    "hockey",
    "hollande",
    "hall",
    "homard",
    "onze",
    "oui",
    "yaourt",
    "haie",
    "hanche",
)


def begins_with_vowel(text):
    """Whether a word that could elide does so before this one."""
    lowered = text.lower()
    if lowered.startswith(ASPIRATED):
        return False
    if lowered[0] == "y":
        return lowered in ("y", "yeux")
    return lowered[0] in VOWELS or lowered[0] == "h"


# --- Nouns and adjectives -------------------------------------------------

PLURALS = {"œil": "yeux", "pneu": "pneus", "bijou": "bijoux", "genou": "genoux"}


def plural(form):
    """The plural of a noun or of a masculine adjective."""
    if form in PLURALS:
        return PLURALS[form]
    if form[-1] in "sxz":
        return form
    if form.endswith(("eau", "eu")) and form != "bleu":
        return form + "x"
    if form.endswith("al"):
        return form[:-1] + "ux"
    return form + "s"


FEMININES = {
    "blanc": "blanche",
    "sec": "sèche",
    "frais": "fraîche",
    "doux": "douce",
    "long": "longue",
    "beau": "belle",
    "nouveau": "nouvelle",
    "vieux": "vieille",
    "gros": "grosse",
    "bas": "basse",
    "gentil": "gentille",
    "laid": "laide",
    "épais": "épaisse",
    "favori": "favorite",
    "jaloux": "jalouse",
    "inquiet": "inquiète",
}


def feminine(form):
    """The feminine singular of an adjective or participle."""
    if form in FEMININES:
        return FEMININES[form]
    if form.endswith("e"):
        return form
    if form.endswith("eux"):
        return form[:-1] + "se"
    if form.endswith("er"):
        return form[:-2] + "ère"
    if form.endswith("f"):
        return form[:-1] + "ve"
    if form.endswith(("el", "en", "on")):
        return form + form[-1] + "e"
    return form + "e"


def agree(form, gender, number):
    """An adjective or participle in the given gender ('m', 'f') and number (1, 2)."""
    if gender == "f":
        form = feminine(form)
    return plural(form) if number == 2 else form


# --- Verbs ----------------------------------------------------------------

IRREGULAR = {}
"""Infinitive to (six present forms, future stem, participle)."""

_IRREGULAR_TABLE = """
être suis es est sommes êtes sont ser été
avoir ai as a avons avez ont aur eu
aller vais vas va allons allez vont ir allé
faire fais fais fait faisons faites font fer fait
défaire défais défais défait défaisons défaites défont défer défait
venir viens viens vient venons venez viennent viendr venu
revenir reviens reviens revient revenons revenez reviennent reviendr revenu
devenir deviens deviens devient devenons devenez deviennent deviendr devenu
souvenir souviens souviens souvient souvenons souvenez souviennent souviendr souvenu
tenir tiens tiens tient tenons tenez tiennent tiendr tenu
pouvoir peux peux peut pouvons pouvez peuvent pourr pu
vouloir veux veux veut voulons voulez veulent voudr voulu
devoir dois dois doit devons devez doivent devr dû
savoir sais sais sait savons savez savent saur su
voir vois vois voit voyons voyez voient verr vu
recevoir reçois reçois reçoit recevons recevez reçoivent recevr reçu
boire bois bois boit buvons buvez boivent boir bu
lire lis lis lit lisons lisez lisent lir lu
écrire écris écris écrit écrivons écrivez écrivent écrir écrit
dire dis dis dit disons dites disent dir dit
mettre mets mets met mettons mettez mettent mettr mis
permettre permets permets permet permettons permettez permettent permettr permis
promettre promets promets promet promettons promettez promettent promettr promis
prendre prends prends prend prenons prenez prennent prendr pris
apprendre apprends apprends apprend apprenons apprenez apprennent apprendr appris
comprendre comprends comprends comprend comprenons comprenez comprennent comprendr compris
connaître connais connais connaît connaissons connaissez connaissent connaîtr connu
plaire plais plais plaît plaisons plaisez plaisent plair plu
croire crois crois croit croyons croyez croient croir cru
courir cours cours court courons courez courent courr couru
dormir dors dors dort dormons dormez dorment dormir dormi
partir pars pars part partons partez partent partir parti
sortir sors sors sort sortons sortez sortent sortir sorti
servir sers sers sert servons servez servent servir servi
sentir sens sens sent sentons sentez sentent sentir senti
ouvrir ouvre ouvres ouvre ouvrons ouvrez ouvrent ouvrir ouvert
offrir offre offres offre offrons offrez offrent offrir offert
vivre vis vis vit vivons vivez vivent vivr vécu
suivre suis suis suit suivons suivez suivent suivr suivi
rire ris ris rit rions riez rient rir ri
sourire souris souris sourit sourions souriez sourient sourir souri
conduire conduis conduis conduit conduisons conduisez conduisent conduir conduit
traduire traduis traduis traduit traduisons traduisez traduisent traduir traduit
construire construis construis construit construisons construisez construisent construir construit
envoyer envoie envoies envoie envoyons envoyez envoient enverr envoyé
pleuvoir pleus pleus pleut pleuvons pleuvez pleuvent pleuvr plu
asseoir assieds assieds assied asseyons asseyez asseyent assiér assis
peindre peins peins peint peignons peignez peignent peindr peint
naître nais nais naît naissons naissez naissent naîtr né
"""

for _line in _IRREGULAR_TABLE.split("\n"):
    if _line:
        _name, *_forms = _line.split()
        IRREGULAR[_name] = (_forms[:6], _forms[6], _forms[7])

SUBJUNCTIVE = {
    "être": "sois sois soit soyons soyez soient",
    "avoir": "aie aies ait ayons ayez aient",
    "aller": "aille ailles aille allions alliez aillent",
    "faire": "fasse fasses fasse fassions fassiez fassent",
    "pouvoir": "puisse puisses puisse puissions puissiez puissent",
    "savoir": "sache saches sache sachions sachiez sachent",
    "vouloir": "veuille veuilles veuille voulions vouliez veuillent",
}
IMPERATIVE = {
    "être": ("sois", "soyons", "soyez"),
    "avoir": ("aie", "ayons", "ayez"),
    "savoir": ("sache", "sachons", "sachez"),
}
IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
DOUBLING = ("appeler", "rappeler", "jeter")


def _sounded_stem(infinitive):
    """The stem of an -er verb before a silent ending: « préfèr », « achèt », « paie »."""
    stem = infinitive[:-2]
    if infinitive in DOUBLING:
        return stem + stem[-1]
    if stem.endswith("y"):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] in "ctlmnprsv":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _nous_stem(infinitive):
    stem = infinitive[:-2]
    if stem.endswith("g"):
        return stem + "e"
    if stem.endswith("c"):
        return stem[:-1] + "ç"
    return stem


def _present(infinitive):
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][0]
    stem = infinitive[:-2]
    if infinitive.endswith("er"):
        sounded = _sounded_stem(infinitive)
        return [
            sounded + "e",
            sounded + "es",
            sounded + "e",
            _nous_stem(infinitive) + "ons",
            stem + "ez",
            sounded + "ent",
        ]
    if infinitive.endswith("ir"):
        return [stem + x for x in ("is", "is", "it", "issons", "issez", "issent")]
    return [stem + x for x in ("s", "s", "", "ons", "ez", "ent")]


def _future_stem(infinitive):
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][1]
    if infinitive.endswith("er"):
        keeps_acute = infinitive[:-2][-2:-1] == "é"
        stem = infinitive[:-2] if keeps_acute else _sounded_stem(infinitive)
        return stem + "er"
    return infinitive[:-1] if infinitive.endswith("re") else infinitive


def _imperfect(infinitive):
    if infinitive == "être":
        return ["ét" + x for x in IMPERFECT_ENDINGS]
    stem = _present(infinitive)[3][: -len("ons")]
    soft = stem
    if infinitive.endswith("ger"):
        soft = stem[:-1]
    elif infinitive.endswith("cer"):
        soft = stem[:-1] + "c"
    return [(soft if x[0] == "i" else stem) + x for x in IMPERFECT_ENDINGS]


def _subjunctive(infinitive):
    if infinitive in SUBJUNCTIVE:
        return SUBJUNCTIVE[infinitive].split()
    stem = _present(infinitive)[5][: -len("ent")]
    middle = _imperfect(infinitive)[3:5]
    return [stem + "e", stem + "es", stem + "e", *middle, stem + "ent"]


def participle(infinitive):
    """The past participle, masculine singular."""
    if infinitive in IRREGULAR:
        return IRREGULAR[infinitive][2]
    ending = {"er": "é", "ir": "i", "re": "u"}[infinitive[-2:]]
    return infinitive[:-2] + ending


def gerund(infinitive):
    """The form after « en »."""
    special = {"être": "étant", "avoir": "ayant", "savoir": "sachant"}
    return special.get(infinitive) or _present(infinitive)[3][: -len("ons")] + "ant"


def imperative(infinitive, person):
    """The order to « tu » (1), « nous » (3) or « vous » (4)."""
    if infinitive in IMPERATIVE:
        return IMPERATIVE[infinitive][(1, 3, 4).index(person)]
    form = _present(infinitive)[person]
    if person == 1 and form.endswith(("es", "as")):
        return form[:-1]
    return form


def finite(infinitive, tense, person):
    """A simple finite form; `person` counts je, tu, il, nous, vous, ils from 0."""
    if tense == "present":
        return _present(infinitive)[person]
    if tense == "imperfect":
        return _imperfect(infinitive)[person]
    if tense == "subjunctive":
        return _subjunctive(infinitive)[person]
    endings = {"future": FUTURE_ENDINGS, "conditional": IMPERFECT_ENDINGS}[tense]
    return _future_stem(infinitive) + endings[person]
