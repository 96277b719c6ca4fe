"""Verb phrases and clauses: tense, negation, pronoun order and questions."""

import re
from dataclasses import dataclass, replace

import english
import french
import lexicon
from phrases import Clitic
from words import NOTHING, Pair, concept, pair, words


@dataclass(frozen=True)
class VerbPhrase:
    """A verb with its complements, before it has a tense.

    `tail` follows the verb in each language; `clitics` are the object pronouns; `agreement` is the gender and
    number that a preceding direct object lends to the participle.
    """

    verb: object
    meaning: int
    tail: Pair = NOTHING
    clitics: tuple = ()
    agreement: tuple = None
    agrees_with_subject: bool = True

    def plus(self, *complements):
        """The same with further complements behind."""
        return replace(self, tail=sum(complements, self.tail))

    def about(self, template, **slots):
        """The same with a complement in the notation, in which v is the meaning of the verb."""
        return self.plus(pair(template, v=self.meaning, **slots))


def verb_phrase(verb, *complements, agreement=None, agrees_with_subject=True):
    """Put a verb, or what `lexicon.verb` reads, and its complements together.

    Pronouns come as `Clitic` and go where each language wants them; a preposition that the French verb asks
    for goes before the complements, unless a pronoun has taken it in.
    """
    verb = lexicon.verb(verb) if isinstance(verb, str) else verb
    meaning = concept()
    clitics = sorted((x for x in complements if isinstance(x, Clitic)), key=lambda x: x.rank)
    taken_in = verb.preposition == "à" and any(x.rank in (0, 2) for x in clitics)
    tail = Pair(
        words(" ".join(x + "/V" for x in verb.particle.split()), v=meaning),
        () if taken_in or not verb.preposition else words(verb.preposition + "/V", v=meaning),
    )
    for item in complements:
        if isinstance(item, Clitic):
            agreement = item.agreement or agreement
            item = Pair(en=item.en)
        tail = tail + item
    return VerbPhrase(verb, meaning, tail, tuple(clitics), agreement, agrees_with_subject)


def having_object(verb, what, *complements):
    """A verb whose object goes before it, and gives its gender and number to the participle."""
    return verb_phrase(verb, *complements, agreement=(what.gender, what.number))


def read_phrase(entry):
    """Read a verb and, after a colon, its complement: `waste=perdre: time/a | du/A temps/a`."""
    verb, _, complement = entry.partition(":")
    return verb_phrase(verb).about(complement)


# English, its auxiliary first (or a hyphen), and French, its finite verb first. The letter v is the meaning
# of the verb, x that of the French auxiliary. `have.present` is a finite form; `verb` is the verb spoken of,
# whose forms base, participle and gerund are as well, and `auxiliary` its French auxiliary. `{me}` is where
# object pronouns go in French if not before the finite verb.
TENSES = {name.strip(): (en, fr.strip()) for name, en, fr in (line.split("|") for line in """
    present     | - verb.present/v                          | verb.present/v
    imperfect   | - verb.past/v                             | verb.imperfect/v
    past        | - verb.past/vX                            | auxiliary.present/x participle/v
    progressive | be.present/V gerund/v                     | verb.present/v
    background  | be.past/V gerund/v                        | verb.imperfect/v
    used        | - used/V to/V base/v                      | verb.imperfect/v
    perfect     | have.present/x participle/v               | auxiliary.present/x participle/v
    pluperfect  | have.past/x participle/v                  | auxiliary.imperfect/x participle/v
    recent      | have.present/X just/x participle/v        | venir.present/x de/X {me} base/v
    near        | be.present/X going/x to/XV base/v         | aller.present/x {me} base/v
    future      | will/V base/v                             | verb.future/v
    conditional | would/V base/v                            | verb.conditional/v
    subjunctive | - to/V base/v                             | verb.subjunctive/v
    can         | can/x base/v                              | pouvoir.present/x {me} base/v
    could       | could/x base/v                            | pouvoir.conditional/x {me} base/v
    must        | must/x base/v                             | devoir.present/x {me} base/v
    should      | should/x base/v                           | devoir.conditional/x {me} base/v
""".strip().split("\n"))}
# English before the verb and at the end; French after the finite verb and after the participle.
NEGATIONS = {
    "": ("", "", "", ""), "not": ("not/n", "", "pas/n", ""), "never": ("never/n", "", "jamais/n", ""),
    "no_longer": ("no/n longer/n", "", "plus/n", ""), "not_anymore": ("not/N", "anymore/n", "plus/n", ""),
    "not_yet": ("not/n", "yet/y", "pas/n encore/y", ""), "nothing": ("not/N", "anything/n", "rien/n", ""),
    "nobody": ("not/N", "anybody/n", "", "personne/n"), "only": ("only/n", "", "", "que/n"),
}
# A statement, a question with inversion in French, and one without.
BEGINNINGS = {
    "": ("{who} {auxiliary}", "{who} {ne} {finite}"),
    "inverted": ("{auxiliary} {who}", "{ne} {finite} {il}"),
    "est-ce que": ("{auxiliary}Q {who}", "est-ce/q que/q {who} {ne} {finite}"),
}
CLAUSE = "%s {before} {adverb} {rest} {first} {end} {tail} | %s {middle} {adverb} {rest} {late} {tail}"


def _verb(pattern, finite, person, forms):
    """Put in the forms of a tense; `finite` conjugates, and `forms` are those of the verb spoken of."""

    def form(match):
        lemma, tense = match.groups()
        return finite(forms.get(lemma, lemma), tense, person) if tense else forms.get(lemma, lemma)

    return re.sub(r"(\w+)(?:\.(\w+))?(?=/)", form, pattern)


def _english_verb(phrase, tense, person, supported):
    """The auxiliary, if any, and what follows it; `supported` asks for `do`."""
    verb, (auxiliary, rest) = phrase.verb.en, TENSES[tense][0].strip().split(maxsplit=1)
    if rest.startswith("verb.") and verb == "be":
        auxiliary, rest = rest, ""
    elif rest.startswith("verb.") and supported:
        form, _, letters = rest.partition("/")
        auxiliary, rest = f"{form.replace('verb', 'do')}/{letters.upper()}", "base/v"
    participle, gerund = english.participle(verb), english.gerund(verb)
    forms = {"verb": verb, "base": verb, "participle": participle, "gerund": gerund}
    return [_verb(x, english.finite, person, forms) for x in (auxiliary.replace("-", ""), rest)]


def _french_verb(phrase, tense, who):
    """The finite verb and what follows it, with the place of the object pronouns."""
    verb, participle = phrase.verb, french.participle(phrase.verb.fr)
    if verb.auxiliary == "être" and phrase.agrees_with_subject:
        participle = french.agree(participle, who.gender, who.number)
    elif verb.auxiliary == "avoir" and phrase.agreement:
        participle = french.agree(participle, *phrase.agreement)
    forms = {"verb": verb.fr, "base": verb.fr, "auxiliary": verb.auxiliary, "participle": participle}
    finite, _, rest = _verb(TENSES[tense][1], french.finite, who.person, forms).partition(" ")
    return finite if "{me}" in rest else "{me} " + finite, rest


def clause(who, phrase, tense="present", negation="", adverb=NOTHING, asked=""):
    """A clause in English and French; `asked` is one of the beginnings, and empty for a statement."""
    before, end, middle, late = NEGATIONS[negation]
    auxiliary, rest = _english_verb(phrase, tense, who.person, asked or before.startswith("not"))
    finite, rest_fr = _french_verb(phrase, tense, who)
    # `anything` and `anybody` are objects and precede the rest; `yet` and `anymore` end the clause.
    at = len(phrase.verb.particle.split()) if negation in ("nothing", "nobody") else len(phrase.tail.en)
    inverted = Pair(fr=tuple(replace(x, text="-" + x.text) for x in who.fr))
    return pair(
        CLAUSE % BEGINNINGS[asked], v=phrase.meaning, who=who, il=inverted, auxiliary=auxiliary,
        finite=finite, me=_object_pronouns(phrase, who.person), ne="ne/N" if negation else "", before=before,
        middle=middle, late=late, end=end, adverb=adverb, rest=(rest, rest_fr),
        first=Pair(en=phrase.tail.en[:at]), tail=Pair(phrase.tail.en[at:], phrase.tail.fr),
    )


def question(who, phrase, tense="present", negation=""):
    """A question: inversion with « il, elle, nous, vous, ils », else « est-ce que »."""
    formal = who.pronoun and who.pronoun not in ("je", "tu")
    return clause(who, phrase, tense, negation, asked="inverted" if formal else "est-ce que")


REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")
AFTER_ORDER = {1: "-toi", 3: "-nous", 4: "-vous"}
STRESSED = {"me": "moi", "te": "toi"}


def _object_pronouns(phrase, person):
    own = words(REFLEXIVES[person] + "/V", v=phrase.meaning) if phrase.verb.reflexive else ()
    return Pair(fr=(*own, *(x.fr for x in phrase.clitics)))


def _after_order(phrase, person):
    """After an order pronouns follow with hyphens, the direct object first."""
    own = words(AFTER_ORDER[person] + "/V", v=phrase.meaning) if phrase.verb.reflexive else ()
    others = [x.fr for x in sorted(phrase.clitics, key=lambda x: (1, 0, 2, 3, 4)[x.rank])]
    return Pair(fr=(*own, *(replace(x, text="-" + STRESSED.get(x.text, x.text)) for x in others)))


# Without tense: the infinitive, the English form in -ing against it, and `while eating`, « en mangeant ».
INFINITIVE = "{base}/v {tail} | {me} {base}/v {tail}"
ING = "{gerund}/v {tail} | {me} {base}/v {tail}"
WHILE = "while/w {gerund}/v {tail} | en/w {me} {gerund}/v {tail}"
ORDER = "{base}/v {tail} | {imperative}/v {me} {tail}"
LETS = "let's/V " + ORDER
NEGATED_ORDER = "do/N not/n {base}/v {tail} | ne/N {me} {imperative}/v pas/n {tail}"


def nonfinite(phrase, person=2, template=INFINITIVE, pronouns=_object_pronouns):
    """A verb phrase without tense; `person` is that of a reflexive pronoun."""
    en, fr = phrase.verb.en, phrase.verb.fr
    return pair(template, v=phrase.meaning, base=(en, fr), gerund=(english.gerund(en), french.gerund(fr)),
                imperative=french.imperative(fr, person), me=pronouns(phrase, person), tail=phrase.tail)


def order(phrase, person=4, negated=False):
    """An order to « tu » (1), to « vous » (4), or to both of us (3, `let's`)."""
    if negated:
        return nonfinite(phrase, person, NEGATED_ORDER)
    return nonfinite(phrase, person, LETS if person == 3 else ORDER, _after_order)
