"""The words of the grammar, sorted by what can sensibly be said of them.

Each table is plain text, so that it can be read and extended without touching any code. A noun has one French
translation and one gender; a verb names the classes of things it acts on.
"""

import re
from collections import namedtuple

from draw import entries, listed, rows


# `en` and `fr` hold several words for compounds; `kind` is count, mass or compound; `adjectives` is the
# letter by which adjectives know the noun.
Noun = namedtuple("Noun", "en fr gender kind adjectives", defaults=("count", ""))
# `suits` has the letters of the nouns that an adjective suits; `before` is its side of the noun in French.
Adjective = namedtuple("Adjective", "en fr suits before", defaults=(False,))
# `particle` is English, `preposition` French.
Verb = namedtuple("Verb", "en fr particle preposition reflexive auxiliary")


def noun(en, fr, gender, *kind):
    """A noun; underscores part the words of a compound."""
    return Noun(tuple(en.split("_")), tuple(fr.split("_")), gender, *kind)


# Class, kind, and the letter by which adjectives know the class; then English, French and gender.
_NOUNS = """
child count K: child enfant m, boy garçon m, girl fille f
adult count P: friend ami m, neighbour voisin m, teacher professeur m, doctor médecin m, man homme m,
    woman femme f, student étudiant m, guest invité m, tourist touriste m, baker boulanger m,
    farmer fermier m, policeman policier m, lawyer avocat m, engineer ingénieur m, writer écrivain m,
    singer chanteur m, customer client m, waiter serveur m, waitress serveuse f, colleague collègue m
family count P: mother mère f, father père m, brother frère m, sister sœur f, son fils m, daughter fille f,
    uncle oncle m, aunt tante f, grandmother grand-mère f, grandfather grand-père m, cousin cousin m,
    husband mari m, wife femme f
animal count A: dog chien m, cat chat m, horse cheval m, bird oiseau m, cow vache f, rabbit lapin m,
    goat chèvre f, lamb agneau m, duck canard m, hen poule f
fruit count G: apple pomme f, orange orange f, banana banane f, pear poire f, tomato tomate f,
    carrot carotte f, cherry cerise f, strawberry fraise f, egg œuf m, cake gâteau m, sandwich sandwich m,
    pancake crêpe f, lemon citron m, mushroom champignon m, biscuit biscuit m
food mass F: bread pain m, cheese fromage m, meat viande f, butter beurre m, soup soupe f, rice riz m,
    jam confiture f, salad salade f, chocolate chocolat m, sugar sucre m, honey miel m, ham jambon m,
    chicken poulet m, ice_cream glace f
drink mass F: water eau f, milk lait m, coffee café m, tea thé m, wine vin m, beer bière f,
    lemonade limonade f
text count R: book livre m, letter lettre f, newspaper journal m, magazine magazine m, poem poème m,
    story histoire f, message message m, article article m, novel roman m, report rapport m
garment count C: shirt chemise f, dress robe f, coat manteau m, hat chapeau m, skirt jupe f, jacket veste f,
    sweater pull m, tie cravate f, scarf écharpe f, shoe chaussure f, glove gant m, sock chaussette f,
    boot botte f
vehicle count V: car voiture f, bike vélo m, boat bateau m, truck camion m, motorbike moto f
solid count T: key clé f, bag sac m, umbrella parapluie m, phone téléphone m, pen stylo m, pencil crayon m,
    watch montre f, glass verre m, plate assiette f, knife couteau m, fork fourchette f, spoon cuillère f,
    bottle bouteille f, suitcase valise f, wallet portefeuille m, ring bague f, toy jouet m,
    computer ordinateur m, lamp lampe f, box boîte f, mirror miroir m, notebook cahier m, candle bougie f
keepsake count S: ticket billet m, photo photo f, map carte f, flower fleur f, gift cadeau m
furniture count T: table table f, chair chaise f, bed lit m, sofa canapé m, armchair fauteuil m,
    desk bureau m, cupboard placard m, shelf étagère f
opening count D: door porte f, window fenêtre f, drawer tiroir m, gate portail m
building count B: house maison f, flat appartement m, school école f, shop magasin m, hotel hôtel m,
    restaurant restaurant m, church église f, museum musée m, castle château m, garden jardin m,
    room chambre f, town ville f, village village m, bridge pont m, farm ferme f, hospital hôpital m
abstract count I: idea idée f, question question f, problem problème m, film film m, song chanson f,
    exercise exercice m, lesson leçon f, game jeu m, trip voyage m, dream rêve m
crockery compound T: coffee_cup tasse_à_café f, tea_cup tasse_à_thé f, wine_glass verre_à_vin m,
    beer_glass verre_à_bière m, soup_spoon cuillère_à_soupe f, bread_knife couteau_à_pain m,
    water_bottle bouteille_de_eau f, wine_bottle bouteille_de_vin f
clothing compound C: wool_sweater pull_en_laine m, leather_jacket veste_en_cuir f,
    silk_scarf écharpe_en_soie f, cotton_shirt chemise_en_coton f, silk_dress robe_en_soie f,
    straw_hat chapeau_de_paille m, leather_bag sac_en_cuir m, gold_ring bague_en_or f,
    silver_watch montre_en_argent f, wool_coat manteau_en_laine m
paper compound R: history_book livre_de_histoire m, train_ticket billet_de_train m,
    plane_ticket billet_de_avion m, love_letter lettre_de_amour f, birthday_card carte_de_anniversaire f,
    wedding_photo photo_de_mariage f, school_book livre_de_école m, travel_story récit_de_voyage m
dish compound F: chocolate_cake gâteau_au_chocolat m, apple_tart tarte_aux_pommes f,
    birthday_cake gâteau_de_anniversaire m, cheese_sandwich sandwich_au_fromage m,
    ham_sandwich sandwich_au_jambon m, strawberry_tart tarte_aux_fraises f
"""
NOUNS = {}
for _block in re.split(r"\n(?=\w)", _NOUNS.strip()):
    _head, _, _entries = _block.partition(":")
    _name, *_kind = _head.split()
    NOUNS[_name] = [noun(*entry, *_kind) for entry in rows(_entries)]
NOUNS["person"] = NOUNS["adult"] + NOUNS["child"]
NOUNS["thing"] = NOUNS["solid"] + NOUNS["keepsake"]
SINGLE_NOUNS = {x.en[0]: x for nouns in NOUNS.values() for x in nouns if len(x.en) == 1}


def nouns_of(classes):
    """The nouns that a text or a list names by their classes or one by one."""
    return [x for name in entries(classes) for x in NOUNS.get(name) or [SINGLE_NOUNS[name]]]


# Where one is: the prepositions and whether one goes there `to`, then the noun.
PLACES = [("in", "dans", noun(*x)) for x in rows("""
    kitchen cuisine f, garden jardin m, bedroom chambre f, street rue f, living_room salon m, forest forêt f,
    park parc m, dining_room salle_à_manger f""")] + [("at", "à", noun(*x)) for x in rows("""
    market marché m, station gare f, hotel hôtel m, restaurant restaurant m, museum musée m,
    library bibliothèque f, cinema cinéma m, theatre théâtre m, beach plage f, airport aéroport m,
    hospital hôpital m, office bureau m, swimming_pool piscine f, university université f,
    bakery boulangerie f, castle château m, bank banque f""")]

CITIES = rows("""Paris Paris, London Londres, Lyon Lyon, Rome Rome, Brussels Bruxelles, Geneva Genève,
    Montreal Montréal, Amsterdam Amsterdam, Lisbon Lisbonne, Vienna Vienne""")
# The name, the French preposition for place and goal, the article elsewhere, the gender.
COUNTRIES = [(x, "en", "la", "f") for x in rows("""France France, Italy Italie, Spain Espagne,
    Germany Allemagne, England Angleterre, Belgium Belgique, Switzerland Suisse""")]
COUNTRIES += [(x, "au", "le", "m") for x in rows("""Canada Canada, Japan Japon, Portugal Portugal,
    Mexico Mexique""")]
LANGUAGES = rows("""French français, English anglais, German allemand, Spanish espagnol, Italian italien,
    Japanese japonais, Portuguese portugais""")
NATIONALITIES = LANGUAGES + rows("American américain, Canadian canadien")
NAMES = {
    "m": rows("John Jean, Peter Pierre, Paul Paul, Henry Henri, Martin Martin, Mark Marc, Victor Victor, "
              "Luke Luc, Anthony Antoine, Hugo Hugo"),
    "f": rows("Mary Marie, Julie Julie, Anne Anne, Claire Claire, Alice Alice, Emma Emma, Lucy Lucie, "
              "Helen Hélène, Sophie Sophie, Charlotte Charlotte"),
}
# Names that French leaves as they are, the common ones and others; everyday sentences alone have them.
GIVEN_NAMES = {
    "m": listed("""David Daniel Thomas Max Leo Oliver Tom Ben Sam Jack Robert Kevin Alex Adam Oscar Noah Felix
        Simon Patrick Carlos"""),
    "f": listed("""Anna Laura Sarah Maria Nina Eva Lisa Julia Kate Jane Olivia Mia Linda Susan Emily Lena
        Carmen Nora Elena Diana"""),
}
RARE_NAMES = {
    "m": listed("""Michael James William George Charles Joseph Chris Matthew Andrew Steven Richard Ryan Liam
        Ivan Omar Ali Pedro Marco Luca Hans Ahmed Diego Jason Justin Brian Kenji Gabriel Samuel Nathan Tony"""),
    "f": listed("""Sophia Isabella Rachel Rebecca Victoria Jessica Ashley Elizabeth Jennifer Hannah Amy Karen
        Zoe Lily Fatima Sofia Rosa Yuki Aisha Olga Ingrid Chloe Grace Ella Megan Amanda Nancy Sandra Barbara
        Lucia"""),
}
PROFESSIONS = rows("""baker boulanger boulangère, teacher professeur professeure,
    nurse infirmier infirmière, lawyer avocat avocate, engineer ingénieur ingénieure,
    farmer fermier fermière, singer chanteur chanteuse, musician musicien musicienne, actor acteur actrice,
    journalist journaliste journaliste, dentist dentiste dentiste, student étudiant étudiante,
    writer écrivain écrivaine, architect architecte architecte""")

# The letters name classes of nouns: P people, K children, A animals, G fruit, F food, T and S things,
# C clothes, V vehicles, D openings, B buildings, R texts, I ideas.
_BEFORE = """big grand TVBDG, small petit TVBACDSGK, old vieux PATCVBDS, new nouveau TCVRID,
    beautiful beau BCTSG, pretty joli CTBS, good bon FRIG, bad mauvais RI, young jeune P, long long RI"""
_AFTER = """red rouge CTVD, green vert CTVD, blue bleu CTVD, black noir CTVA, white blanc CTVABD,
    yellow jaune CTV, grey gris CTVA, brown brun CA, expensive cher CTVFSG, heavy lourd TD, light léger TC,
    clean propre CVTB, dirty sale CVT, empty vide B, broken cassé T, interesting intéressant RIP,
    boring ennuyeux RIP, difficult difficile RI, easy facile RI, useful utile TRI, funny drôle RIPK,
    sad triste RPK, happy heureux PK, tired fatigué PAK, sick malade PAK, rich riche P, kind gentil PK,
    intelligent intelligent PAK, lazy paresseux PAK, shy timide PK, famous célèbre PBR, strong fort PAK,
    polite poli PK, patient patient PK, nervous nerveux PAK, jealous jaloux PK, modern moderne BV,
    dangerous dangereux VA, comfortable confortable CVB, hot chaud F, cold froid F, sweet sucré FG,
    delicious délicieux FG, fast rapide VA, slow lent VA, noisy bruyant VB, quiet calme BPAK, round rond T,
    ugly laid CTB, strange étrange RIAS, important important RI"""
ADJECTIVES = [Adjective(*x, before=True) for x in rows(_BEFORE)] + [Adjective(*x) for x in rows(_AFTER)]
# States of people at the moment.
STATES = [Adjective(*x, "P") for x in rows("""
    tired fatigué, sick malade, happy heureux, sad triste, ready prêt, worried inquiet, nervous nerveux,
    busy occupé, alone seul, surprised surpris, disappointed déçu, satisfied satisfait, proud fier,
    pleased content
""")]

# More places for everyday sentences; the underscore stands for a space.
MORE_CITIES = rows("""Berlin Berlin, Madrid Madrid, Tokyo Tokyo, Moscow Moscou, Boston Boston, Chicago Chicago,
    Dublin Dublin, Milan Milan, Athens Athènes, Prague Prague, New_York New_York, Barcelona Barcelone,
    Munich Munich, Toronto Toronto, Nice Nice, Marseille Marseille, Manchester Manchester, Oslo Oslo""")
MORE_COUNTRIES = [(x, "en", "la", "f") for x in rows("""Russia Russie, China Chine, India Inde, Poland Pologne,
    Greece Grèce, Sweden Suède, Turkey Turquie, Austria Autriche, Ireland Irlande, Scotland Écosse,
    Australia Australie, Norway Norvège""")]
MORE_COUNTRIES += [(x, "au", "le", "m") for x in rows("Brazil Brésil, Morocco Maroc, Vietnam Vietnam, Chile Chili")]
# Where one asks the way to.
IN_TOWN = [noun(*x) for x in rows("""
    station gare f, airport aéroport m, bank banque f, hotel hôtel m, museum musée m, hospital hôpital m,
    market marché m, bakery boulangerie f, beach plage f, cinema cinéma m, theatre théâtre m,
    library bibliothèque f, church église f, school école f, restaurant restaurant m,
    swimming_pool piscine f, park parc m, university université f, castle château m, bridge pont m,
    post_office bureau_de_poste m, pharmacy pharmacie f, supermarket supermarché m, bus_stop arrêt_de_bus m,
    police_station commissariat m, exit sortie f, entrance entrée f, town_hall mairie f,
    cathedral cathédrale f, harbor port m, elevator ascenseur m, bathroom salle_de_bains f,
    parking_lot parking m, bar bar m, cafe café m, subway métro m, embassy ambassade f, street rue f,
    train_station gare f, bus bus m, train train m""")]
# Orders by the piece or by the glass.
ORDERED = [noun(*x) for x in rows("""
    coffee café m, tea thé m, beer bière f, lemonade limonade f, hot_chocolate chocolat_chaud m,
    orange_juice jus_de_orange m, apple_juice jus_de_pomme m, sandwich sandwich m, pizza pizza f,
    salad salade f, soup soupe f, croissant croissant m, steak steak m, ice_cream glace f, cake gâteau m,
    pancake crêpe f, dessert dessert m, coffee café m, beer bière f, tea thé m,
    ham_sandwich sandwich_au_jambon m, cheese_sandwich sandwich_au_fromage m""")]
# Things that are liked or eaten, mass or plural, besides the foods above.
DISHES = [noun(*x, "mass") for x in rows("""fish poisson m, pizza pizza f, fruit fruit m,
    salt sel m, pepper poivre m, music musique f, football football m, cinema cinéma m, art art m""")]

WITH_ETRE = listed("aller venir arriver partir rester revenir rentrer sortir naître retourner")
_KNOWN = {}


def verb(entry):
    """Read `look at=regarder`, or look up `look at`; an underscore may stand for the space.

    « se » marks a reflexive, a last « à » or « de » the preposition that the verb asks for.
    """
    en, _, fr = entry.strip().replace("_", " ").partition("=")
    if not fr:
        return _KNOWN[en]
    head, _, particle = en.partition(" ")
    reflexive = fr.startswith("se ")
    main, _, preposition = fr.removeprefix("se ").partition(" ")
    auxiliary = "être" if reflexive or main in WITH_ETRE else "avoir"
    return Verb(head, main, particle, preposition, reflexive, auxiliary)


def _verbs(table):
    return [verb(entry) for entry in table.split(",")]


def verbs_with(table):
    """Read verbs that name after a colon what they act on or where they are done."""
    return [(verb(entry.partition(":")[0]), entry.partition(":")[2]) for entry in table.split(",")]


TRANSITIVE = verbs_with("""eat=manger: fruit food, cook=préparer: food fruit,
    buy=acheter: fruit food drink text garment vehicle thing furniture,
    sell=vendre: fruit vehicle thing furniture building, drink=boire: drink, order=commander: food drink,
    read=lire: text, write=écrire: text, translate=traduire: text, wear=porter: garment,
    wash=laver: garment vehicle, choose=choisir: garment thing text furniture,
    find=trouver: thing garment text, lose=perdre: thing garment,
    look for=chercher: thing garment text person animal, see=voir: person animal building thing,
    hear=entendre: person animal song, know=connaître: person building song, meet=rencontrer: person,
    help=aider: person family, invite=inviter: person family, visit=visiter: building,
    photograph=photographier: building animal person, watch=regarder: film animal,
    listen to=écouter: song story teacher, repair=réparer: vehicle computer furniture,
    drive=conduire: vehicle, open=ouvrir: opening box, close=fermer: opening box, break=casser: plate thing,
    hide=cacher: thing text, carry=porter: box, clean=nettoyer: furniture vehicle room,
    paint=peindre: opening furniture, draw=dessiner: animal flower building, build=construire: building,
    keep=garder: thing text, forget=oublier: thing text garment, bring=apporter: thing text drink fruit,
    prepare=préparer: lesson trip food, understand=comprendre: idea question lesson exercise person,
    finish=finir: exercise text, feed=nourrir: animal, love=adorer: family animal film song,
    wait for=attendre: person family, admire=admirer: building person""")
INTRANSITIVE = verbs_with("""sleep=dormir: bedroom living_room hotel garden,
    work=travailler: office bank hospital hotel garden kitchen library university restaurant,
    sing=chanter: theatre garden kitchen street, dance=danser: living_room garden beach theatre street,
    wait=attendre: station airport hotel cinema street office museum bank,
    study=étudier: library university bedroom office, walk=marcher: forest park street beach garden,
    run=courir: forest park street beach, eat=manger: restaurant kitchen dining_room garden hotel,
    play=jouer: garden park living_room beach street bedroom, swim=nager: swimming_pool beach""")
USUAL_PLACES = {verb.en: places for verb, places in INTRANSITIVE}
MOTION = _verbs("go=aller, come back=revenir, return=retourner")
ARRIVAL = _verbs("leave=partir, arrive=arriver, go home=rentrer, go out=sortir, come=venir, stay=rester")
REFLEXIVE = _verbs("""get up=se lever, wake up=se réveiller, go to bed=se coucher, rest=se reposer,
    hurry=se dépêcher, get dressed=se habiller, have fun=se amuser""")
TO_PERSON = _verbs("""talk to=parler à, answer=répondre à, phone=téléphoner à, write to=écrire à,
    obey=obéir à, smile at=sourire à""")
GIVING = _verbs("""give=donner, show=montrer, lend=prêter, send=envoyer, sell=vendre, offer=offrir,
    bring=apporter""")
WITH_A = _verbs("""begin=commencer à, learn=apprendre à, continue=continuer à, manage=réussir à,
    hesitate=hésiter à""")
WITH_DE = _verbs("""try=essayer de, forget=oublier de, decide=décider de, refuse=refuser de,
    promise=promettre de, plan=envisager de""")
_OTHERS = _verbs("""be=être, have=avoir, want=vouloir, like=aimer, hate=détester, prefer=préférer,
    hope=espérer, think=penser, believe=croire, say=dire, speak=parler, live=habiter, thank=remercier,
    smile=sourire, laugh=rire, cry=pleurer, phone=téléphoner, show=montrer, cost=coûter, rain=pleuvoir,
    snow=neiger""")
for _verb in (*(x for x, _ in TRANSITIVE + INTRANSITIVE), *MOTION, *ARRIVAL, *_OTHERS):
    _KNOWN[f"{_verb.en} {_verb.particle}".strip()] = _verb
