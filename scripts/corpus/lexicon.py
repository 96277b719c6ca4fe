"""The words of the grammar, sorted by what can sensibly be said of them.

Each table is plain text, one entry per line or per comma, so that it can be
read and extended without touching any code. A noun has one French
translation and one gender; a verb names the classes of things it acts on.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """A noun; `en` and `fr` hold several words for compounds."""

    en: tuple
    fr: tuple
    gender: str
    kind: str
    adjectives: str


@dataclass(frozen=True)
class Adjective:
    """An adjective, the noun classes it suits, and its side of the noun in French."""

    en: str
    fr: str
    before: bool
    suits: str


@dataclass(frozen=True)
class Verb:
    """A verb with its English particle and what links it to its object."""

    en: str
    fr: str
    particle: str = ""
    preposition: str = ""
    reflexive: bool = False
    auxiliary: str = "avoir"


def _nouns(kind, adjectives, table):
    result = []
    for entry in table.replace("\n", " ").split(","):
        en, fr, gender = entry.split()
        result.append(Noun(tuple(en.split("_")), tuple(fr.split("_")), gender, kind, adjectives))
    return result


# --- Nouns ----------------------------------------------------------------

NOUNS = {
    "child": _nouns("count", "K", "child enfant m, boy garçon m, girl fille f"),
    "adult": _nouns(
        "count",
        "P",
        """
        friend ami m, neighbour voisin m, teacher professeur m, doctor médecin m,
        man homme m, woman femme f,
        student étudiant m, guest invité m, tourist touriste m, baker boulanger m,
        farmer fermier m, policeman policier m, lawyer avocat m, engineer ingénieur m,
        writer écrivain m, singer chanteur m, customer client m, waiter serveur m,
        waitress serveuse f, colleague collègue m""",
    ),
    "family": _nouns(
        "count",
        "P",
        """
        mother mère f, father père m, brother frère m, sister sœur f, son fils m,
        daughter fille f, uncle oncle m, aunt tante f, grandmother grand-mère f,
        grandfather grand-père m, cousin cousin m, husband mari m, wife femme f""",
    ),
    "animal": _nouns(
        "count",
        "A",
        """
        dog chien m, cat chat m, horse cheval m, bird oiseau m, cow vache f,
        rabbit lapin m, goat chèvre f, lamb agneau m, duck canard m, hen poule f""",
    ),
    "fruit": _nouns(
        "count",
        "G",
        """
        apple pomme f, orange orange f, banana banane f, pear poire f, tomato tomate f,
        carrot carotte f, cherry cerise f, strawberry fraise f, egg œuf m, cake gâteau m,
        sandwich sandwich m, pancake crêpe f, lemon citron m, mushroom champignon m,
        biscuit biscuit m""",
    ),
    "food": _nouns(
        "mass",
        "F",
        """
        bread pain m, cheese fromage m, meat viande f, butter beurre m, soup soupe f,
        rice riz m, jam confiture f, salad salade f, chocolate chocolat m, sugar sucre m,
        honey miel m, ham jambon m, chicken poulet m, ice_cream glace f""",
    ),
    "drink": _nouns(
        "mass",
        "F",
        """
        water eau f, milk lait m, coffee café m, tea thé m, wine vin m, beer bière f,
        lemonade limonade f""",
    ),
    "text": _nouns(
        "count",
        "R",
        """
        book livre m, letter lettre f, newspaper journal m, magazine magazine m,
        poem poème m, story histoire f, message message m, article article m,
        novel roman m, report rapport m""",
    ),
    "garment": _nouns(
        "count",
        "C",
        """
        shirt chemise f, dress robe f, coat manteau m, hat chapeau m, skirt jupe f,
        jacket veste f, sweater pull m, tie cravate f, scarf écharpe f, shoe chaussure f,
        glove gant m, sock chaussette f, boot botte f""",
    ),
    "vehicle": _nouns(
        "count",
        "V",
        """
        car voiture f, bike vélo m, boat bateau m, truck camion m, motorbike moto f""",
    ),
    "solid": _nouns(
        "count",
        "T",
        """
        key clé f, bag sac m, umbrella parapluie m, phone téléphone m, pen stylo m,
        pencil crayon m, watch montre f, glass verre m, plate assiette f, knife couteau m,
        fork fourchette f, spoon cuillère f, bottle bouteille f, suitcase valise f,
        wallet portefeuille m, ring bague f,
        toy jouet m, computer ordinateur m, lamp lampe f,
        box boîte f, mirror miroir m, notebook cahier m, candle bougie f""",
    ),
    "keepsake": _nouns(
        "count",
        "S",
        """
        ticket billet m, photo photo f, map carte f, flower fleur f, gift cadeau m""",
    ),
    "furniture": _nouns(
        "count",
        "T",
        """
        table table f, chair chaise f, bed lit m, sofa canapé m, armchair fauteuil m,
        desk bureau m, cupboard placard m, shelf étagère f""",
    ),
    "opening": _nouns(
        "count", "D", "door porte f, window fenêtre f, drawer tiroir m, gate portail m"
    ),
    "building": _nouns(
        "count",
        "B",
        """
        house maison f, flat appartement m, school école f, shop magasin m, hotel hôtel m,
        restaurant restaurant m, church église f, museum musée m, castle château m,
        garden jardin m, room chambre f, town ville f, village village m,
        bridge pont m, farm ferme f, hospital hôpital m""",
    ),
    "abstract": _nouns(
        "count",
        "I",
        """
        idea idée f, question question f, problem problème m, film film m, song chanson f,
        exercise exercice m, lesson leçon f, game jeu m, trip voyage m, dream rêve m""",
    ),
}


def _compounds(adjectives, table):
    """Read `coffee cup=tasse à café f`, in which the two languages turn round."""
    result = []
    for entry in table.replace("\n", " ").split(","):
        en, _, fr = entry.strip().partition("=")
        *words, gender = fr.split()
        result.append(Noun(tuple(en.split()), tuple(words), gender, "compound", adjectives))
    return result


COMPOUNDS = {
    "crockery": _compounds(
        "T",
        """
        coffee cup=tasse à café f, tea cup=tasse à thé f, wine glass=verre à vin m,
        beer glass=verre à bière m, soup spoon=cuillère à soupe f,
        bread knife=couteau à pain m, water bottle=bouteille de eau f, wine bottle=bouteille de vin f""",
    ),
    "clothing": _compounds(
        "C",
        """
        wool sweater=pull en laine m, leather jacket=veste en cuir f,
        silk scarf=écharpe en soie f, cotton shirt=chemise en coton f,
        silk dress=robe en soie f, straw hat=chapeau de paille m, leather bag=sac en cuir m,
        gold ring=bague en or f, silver watch=montre en argent f, wool coat=manteau en laine m""",
    ),
    "paper": _compounds(
        "R",
        """
        history book=livre de histoire m, train ticket=billet de train m,
        plane ticket=billet de avion m, love letter=lettre de amour f,
        birthday card=carte de anniversaire f, wedding photo=photo de mariage f,
        school book=livre de école m, travel story=récit de voyage m""",
    ),
    "dish": _compounds(
        "F",
        """
        chocolate cake=gâteau au chocolat m, apple tart=tarte aux pommes f,
        birthday cake=gâteau de anniversaire m, cheese sandwich=sandwich au fromage m,
        ham sandwich=sandwich au jambon m, strawberry tart=tarte aux fraises f""",
    ),
}

# Places: English preposition, English noun, French preposition, French noun, gender.
PLACES = """
in kitchen dans cuisine f
in garden dans jardin m
in bedroom dans chambre f
in street dans rue f
in living_room dans salon m
in forest dans forêt f
in park dans parc m
in dining_room dans salle_à_manger f
at market à marché m
at station à gare f
at hotel à hôtel m
at restaurant à restaurant m
at museum à musée m
at library à bibliothèque f
at cinema à cinéma m
at theatre à théâtre m
at beach à plage f
at airport à aéroport m
at hospital à hôpital m
at office à bureau m
at swimming_pool à piscine f
at university à université f
at bakery à boulangerie f
at castle à château m
at bank à banque f
"""

CITIES = (
    "Paris Paris,London Londres,Lyon Lyon,Rome Rome,Brussels Bruxelles,Geneva Genève,"
    "Montreal Montréal,Amsterdam Amsterdam,Lisbon Lisbonne,Vienna Vienne"
)
# English name, French name, French preposition for place and goal, article elsewhere.
COUNTRIES = """
France France en la f
Italy Italie en la f
Spain Espagne en la f
Germany Allemagne en la f
England Angleterre en la f
Belgium Belgique en la f
Switzerland Suisse en la f
Canada Canada au le m
Japan Japon au le m
Portugal Portugal au le m
Mexico Mexique au le m
"""
NATIONALITIES = (
    "French français,English anglais,German allemand,Spanish espagnol,"
    "Italian italien,Japanese japonais,Portuguese portugais,American américain,Canadian canadien"
)
LANGUAGES = (
    "French français,English anglais,German allemand,Spanish espagnol,"
    "Italian italien,Japanese japonais,Portuguese portugais"
)

NAMES = {
    "m": "John Jean,Peter Pierre,Paul Paul,Henry Henri,Martin Martin,Mark Marc,Victor Victor,"
    "Luke Luc,Anthony Antoine,Hugo Hugo",
    "f": "Mary Marie,Julie Julie,Anne Anne,Claire Claire,Alice Alice,Emma Emma,Lucy Lucie,"
    "Helen Hélène,Sophie Sophie,Charlotte Charlotte",
}

PROFESSIONS = """
baker boulanger boulangère
teacher professeur professeure
nurse infirmier infirmière
lawyer avocat avocate
engineer ingénieur ingénieure
farmer fermier fermière
singer chanteur chanteuse
musician musicien musicienne
actor acteur actrice
journalist journaliste journaliste
dentist dentiste dentiste
student étudiant étudiante
writer écrivain écrivaine
architect architecte architecte
"""

# --- Adjectives -----------------------------------------------------------


def _adjectives(before, table):
    return [
        Adjective(*entry.split()[:2], before, entry.split()[2])
        for entry in table.replace("\n", " ").split(",")
    ]


# P people, K children, G fruit, A animals, F food, T things, C clothes, V vehicles, B buildings, R texts, I ideas
ADJECTIVES = (
    _adjectives(
        True,
        """
    big grand TVBDG, small petit TVBACDSGK, old vieux PATCVBDS, new nouveau TCVRID, beautiful beau BCTSG,
    pretty joli CTBS, good bon FRIG, bad mauvais RI, young jeune P, long long RI
""",
    )
    + _adjectives(
        False,
        """
    red rouge CTVD, green vert CTVD, blue bleu CTVD, black noir CTVA, white blanc CTVABD,
    yellow jaune CTV, grey gris CTVA, brown brun CA, expensive cher CTVFSG, heavy lourd TD,
    light léger TC, clean propre CVTB, dirty sale CVT, empty vide B, broken cassé T,
    interesting intéressant RIP, boring ennuyeux RIP, difficult difficile RI,
    easy facile RI, useful utile TRI, funny drôle RIPK, sad triste RPK, happy heureux PK,
    tired fatigué PAK, sick malade PAK, rich riche P, kind gentil PK, intelligent intelligent PAK,
    lazy paresseux PAK, shy timide PK, famous célèbre PBR, strong fort PAK, polite poli PK,
    patient patient PK, nervous nerveux PAK, jealous jaloux PK, modern moderne BV,
    dangerous dangereux VA, comfortable confortable CVB, hot chaud F, cold froid F,
    sweet sucré FG, delicious délicieux FG, fast rapide VA, slow lent VA, noisy bruyant VB,
    quiet calme BPAK, round rond T, ugly laid CTB, strange étrange RIAS, important important RI
""",
    )
)
STATES = _adjectives(
    False,
    """
    tired fatigué P, sick malade P, happy heureux P, sad triste P, ready prêt P,
    worried inquiet P, nervous nerveux P, busy occupé P, alone seul P, surprised surpris P,
    disappointed déçu P, satisfied satisfait P, proud fier P, pleased content P
""",
)

# --- Verbs ----------------------------------------------------------------


ETRE = (
    "aller",
    "venir",
    "arriver",
    "partir",
    "rester",
    "tomber",
    "revenir",
    "rentrer",
    "sortir",
    "naître",
    "entrer",
    "retourner",
)


def verb(entry):
    """Read `look at=regarder`; « se » marks a reflexive, a last « à » or « de » a preposition."""
    en, _, fr = entry.strip().partition("=")
    head, _, particle = en.partition(" ")
    words = fr.split()
    reflexive = words[0] == "se"
    words = words[1:] if reflexive else words
    preposition = words[1] if len(words) > 1 else ""
    auxiliary = "être" if reflexive or words[0] in ETRE else "avoir"
    return Verb(head, words[0], particle, preposition, reflexive, auxiliary)


# Verb, object classes.
TRANSITIVE = [(verb(entry.split("|")[0]), entry.split("|")[1].split()) for entry in """
eat=manger|fruit food
cook=préparer|food fruit
buy=acheter|fruit food drink text garment vehicle thing furniture
sell=vendre|fruit vehicle thing furniture building
drink=boire|drink
order=commander|food drink
read=lire|text
write=écrire|text
translate=traduire|text
wear=porter|garment
wash=laver|garment vehicle
choose=choisir|garment thing text furniture
find=trouver|thing garment text
lose=perdre|thing garment
look for=chercher|thing garment text person animal
see=voir|person animal building thing
hear=entendre|person animal song
know=connaître|person building song
meet=rencontrer|person
help=aider|person family
invite=inviter|person family
visit=visiter|building
photograph=photographier|building animal person
watch=regarder|film animal
listen to=écouter|song story teacher
repair=réparer|vehicle computer furniture
drive=conduire|vehicle
open=ouvrir|opening box
close=fermer|opening box
break=casser|plate thing
hide=cacher|thing text
carry=porter|box
clean=nettoyer|furniture vehicle room
paint=peindre|opening furniture
draw=dessiner|animal flower building
build=construire|building
keep=garder|thing text
forget=oublier|thing text garment
bring=apporter|thing text drink fruit
prepare=préparer|lesson trip food
understand=comprendre|idea question lesson exercise person
finish=finir|exercise text
feed=nourrir|animal
love=adorer|family animal film song
wait for=attendre|person family
admire=admirer|building person
""".strip().split("\n")]

NOUNS["person"] = NOUNS["adult"] + NOUNS["child"]
NOUNS["thing"] = NOUNS["solid"] + NOUNS["keepsake"]
SINGLE_NOUNS = {noun.en[0]: noun for nouns in NOUNS.values() for noun in nouns if len(noun.en) == 1}


def object_nouns(classes):
    """The nouns named by classes or by single English nouns."""
    result = []
    for name in classes:
        result.extend(NOUNS[name] if name in NOUNS else [SINGLE_NOUNS[name]])
    return result


def _verbs(table):
    return [verb(entry) for entry in table.replace("\n", " ").split(",")]


# Verb, and the places where one does it.
INTRANSITIVE = [(verb(entry.split("|")[0]), entry.split("|")[1].split()) for entry in """
sleep=dormir|bedroom living_room hotel garden
work=travailler|office bank hospital hotel garden kitchen library university restaurant
sing=chanter|theatre garden kitchen street
dance=danser|living_room garden beach theatre street
wait=attendre|station airport hotel cinema street office museum bank
study=étudier|library university bedroom office
walk=marcher|forest park street beach garden
run=courir|forest park street beach
eat=manger|restaurant kitchen dining_room garden hotel
play=jouer|garden park living_room beach street bedroom
swim=nager|swimming_pool beach
""".strip().split("\n")]
MOTION = _verbs("go=aller, come back=revenir, return=retourner")
ARRIVAL = _verbs("""leave=partir, arrive=arriver, go home=rentrer, go out=sortir, come=venir,
    stay=rester""")
REFLEXIVE = _verbs("""get up=se lever, wake up=se réveiller, go to bed=se coucher,
    rest=se reposer, hurry=se dépêcher, get dressed=se habiller, have fun=se amuser""")
TO_PERSON = _verbs("""talk to=parler à, answer=répondre à, phone=téléphoner à, write to=écrire à,
    obey=obéir à, smile at=sourire à""")
GIVING = _verbs("""give=donner, show=montrer, lend=prêter, send=envoyer, sell=vendre,
    offer=offrir, bring=apporter""")
WITH_A = _verbs("""begin=commencer à, learn=apprendre à, continue=continuer à, manage=réussir à,
    hesitate=hésiter à""")
WITH_DE = _verbs("""try=essayer de, forget=oublier de, decide=décider de, refuse=refuser de,
    promise=promettre de, plan=envisager de""")
HAVE = Verb("have", "avoir")
BE = Verb("be", "être")
