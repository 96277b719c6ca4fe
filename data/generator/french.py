"""French morphology: verb forms, agreement and the sounds that elision needs."""

from functools import lru_cache

from draw import rows

VOWELS = "aeiouyàâéèêëîïôûùœæh"
ASPIRATED = ("haricot", "haut", "honte", "huit", "onze", "oui")
FEMININES = dict(rows("""blanc blanche, long longue, beau belle, nouveau nouvelle, vieux vieille,
    gentil gentille, jaloux jalouse, inquiet inquiète"""))
FEMININE_ENDINGS = {"eux": "euse", "er": "ère", "el": "elle", "en": "enne", "on": "onne", "e": "e"}


def begins_with_vowel(text):
    """True if a word that could elide does so before this one."""
    lowered = text.lower()
    return lowered[0] in VOWELS and not lowered.startswith(ASPIRATED)


def plural(form):
    """The plural of a noun or of an adjective."""
    if form[-1] in "sxz":
        return form
    if form.endswith(("eau", "eu")) and form != "bleu":
        return form + "x"
    return form[:-1] + "ux" if form.endswith("al") else form + "s"


def feminine(form):
    """The feminine singular of an adjective or participle."""
    for ending, changed in FEMININE_ENDINGS.items():
        if form.endswith(ending) and form not in FEMININES:
            return form.removesuffix(ending) + changed
    return FEMININES.get(form) or form + "e"


def agree(form, gender, number):
    """An adjective or participle in the given gender ('m', 'f') and number (1, 2)."""
    if gender == "f":
        form = feminine(form)
    return plural(form) if number == 2 else form


# The present, the stem of the future, and the participle.
_IRREGULAR = """
être suis es est sommes êtes sont ser été;      avoir ai as a avons avez ont aur eu;
aller vais vas va allons allez vont ir allé;    faire fais fais fait faisons faites font fer fait;
dire dis dis dit disons dites disent dir dit
"""
# The same by principal parts: je, il, the stem of nous and vous, that of ils, that of the future, and
# the participle. Other verbs with the same end go the same way, as revenir like venir.
_BY_PARTS = """
venir viens vient ven vienn viendr venu;        prendre prends prend pren prenn prendr pris;
pouvoir peux peut pouv peuv pourr pu;           vouloir veux veut voul veul voudr voulu;
devoir dois doit dev doiv devr dû;              savoir sais sait sav sav saur su;
voir vois voit voy voi verr vu;                 boire bois boit buv boiv boir bu;
lire lis lit lis lis lir lu;                    écrire écris écrit écriv écriv écrir écrit;
mettre mets met mett mett mettr mis;            connaître connais connaît connaiss connaiss connaîtr connu;
plaire plais plaît plais plais plair plu;       croire crois croit croy croi croir cru;
courir cours court cour cour courr couru;       dormir dors dort dorm dorm dormir dormi;
rtir rs rt rt rt rtir rti;                      suivre suis suit suiv suiv suivr suivi;
ouvrir ouvre ouvre ouvr ouvr ouvrir ouvert;     offrir offre offre offr offr offrir offert;
rire ris rit ri ri rir ri;                      uire uis uit uis uis uir uit;
peindre peins peint peign peign peindr peint;   naître nais naît naiss naiss naîtr né;
pleuvoir pleus pleut pleuv pleuv pleuvr plu;    envoyer envoie envoie envoy envoi enverr envoyé;
appeler appelle appelle appel appell appeller appelé
"""
IRREGULAR = {verb: forms for verb, *forms in (entry.split() for entry in _IRREGULAR.split(";"))}
for _verb, _je, _il, _nous, _ils, *_rest in (entry.split() for entry in _BY_PARTS.split(";")):
    _tu = _je + "s" if _je.endswith("e") else _je
    IRREGULAR[_verb] = [_je, _tu, _il, _nous + "ons", _nous + "ez", _ils + "ent", *_rest]

# The stems of the subjunctive before a silent ending and before -ions, -iez; être and avoir have none.
SUBJUNCTIVE_STEMS = {"aller": ("aill", "all"), "faire": ("fass", "fass"), "pouvoir": ("puiss", "puiss"),
                     "savoir": ("sach", "sach"), "vouloir": ("veuill", "voul")}
ENDINGS = {
    "er": ("e", "es", "e", "ons", "ez", "ent"),
    "ir": ("is", "is", "it", "issons", "issez", "issent"),
    "re": ("s", "s", "", "ons", "ez", "ent"),
    "imperfect": ("ais", "ais", "ait", "ions", "iez", "aient"),
    "future": ("ai", "as", "a", "ons", "ez", "ont"),
    "conditional": ("ais", "ais", "ait", "ions", "iez", "aient"),
    "subjunctive": ("e", "es", "e", "ions", "iez", "ent"),
}


@lru_cache(maxsize=None)
def _forms(infinitive):
    """The present, the stem of the future and the participle; irregular verbs lend theirs to longer ones."""
    for start in range(len(infinitive)):
        if infinitive[start:] in IRREGULAR:
            *present, future, participle = (infinitive[:start] + x for x in IRREGULAR[infinitive[start:]])
            return present, future, participle
    stem, ending = infinitive[:-2], infinitive[-2:]
    stems, future = [stem] * 6, infinitive.removesuffix("e")
    if ending == "er":
        silent, back = _sounded(stem), {"g": stem + "e", "c": stem[:-1] + "ç"}.get(stem[-1], stem)
        stems = silent, silent, silent, back, stem, silent
        future = (stem if stem[-2] == "é" else silent) + "er"
    present = [x + y for x, y in zip(stems, ENDINGS[ending])]
    return present, future, stem + {"er": "é", "ir": "i", "re": "u"}[ending]


def _sounded(stem):
    """The stem of an -er verb before a silent ending: « préfèr », « achèt », « nettoi »."""
    if stem.endswith("y"):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-2] in "eé" and stem[-1] in "ctlmnprsv":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _imperfect_stems(infinitive):
    """Before -ais and before -ions."""
    stem = "ét" if infinitive == "être" else _forms(infinitive)[0][3].removesuffix("ons")
    return stem, infinitive[:-2] if infinitive.endswith(("ger", "cer")) else stem


@lru_cache(maxsize=None)
def finite(infinitive, tense, person):
    """A simple finite form; `person` counts je, tu, il, nous, vous, ils from 0."""
    present, future, _ = _forms(infinitive)
    if tense == "present":
        return present[person]
    usual, front = _imperfect_stems(infinitive)
    if tense == "subjunctive":
        usual, front = SUBJUNCTIVE_STEMS.get(infinitive, (present[5].removesuffix("ent"), front))
    elif tense != "imperfect":
        usual = front = future
    return (front if person in (3, 4) else usual) + ENDINGS[tense][person]


def participle(infinitive):
    """The past participle, masculine singular."""
    return _forms(infinitive)[2]


def gerund(infinitive):
    """The form after « en », of any verb but avoir and savoir."""
    return _imperfect_stems(infinitive)[0] + "ant"


def imperative(infinitive, person):
    """The order to « tu » (1), « nous » (3) or « vous » (4), of any verb but être, avoir and savoir."""
    form = finite(infinitive, "present", person)
    return form[:-1] if person == 1 and form.endswith(("es", "as")) else form
