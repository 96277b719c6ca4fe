"""Verb phrases and clauses: tense, negation, pronoun order and questions."""

from dataclasses import dataclass, replace

import english
import french
import lexicon
from phrases import NOTHING, Clitic
from words import Pair, concept, pair, word, words


@dataclass(frozen=True)
class VerbPhrase:
    """A verb with its complements, before it has a tense.

    `tail` follows the verb in each language; `clitics` are the French object pronouns; `agreement` is the gender
    and number that a preceding direct object lends to the participle.
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

    Pronouns come as `Clitic` and go where each language wants them; a preposition that the French verb asks for
    goes before the complements, unless a pronoun has taken it in.
    """
    verb = lexicon.verb(verb) if isinstance(verb, str) else verb
    meaning = concept()
    clitics = sorted((x for x in complements if isinstance(x, Clitic)), key=lambda x: x.rank)
    taken_in = verb.preposition == "à" and any(x.rank in (0, 2) for x in clitics)
    tail = Pair(
        tuple(word(f"{x}/V", {"v": meaning}) for x in verb.particle.split()),
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


# English, its auxiliary first (or a hyphen), and French, its finite verb first. The letter v is the meaning of the
# verb, x that of the French auxiliary. `have.present` is a finite form of a verb, `verb` being the one spoken of
# and `auxiliary` its French auxiliary; base, participle and gerund are forms of it as well. A star is where
# object pronouns go in French if not before the finite verb.
TENSES = {name.strip(): [x.split() for x in (en, fr)] for name, en, fr in (line.split("|") for line in """
    present     | - verb.present/v                          | verb.present/v
    imperfect   | - verb.past/v                             | verb.imperfect/v
    past        | - verb.past/vX                            | auxiliary.present/x participle/v
    progressive | be.present/V gerund/v                     | verb.present/v
    background  | be.past/V gerund/v                        | verb.imperfect/v
    used        | - used/V to/V base/v                      | verb.imperfect/v
    perfect     | have.present/x participle/v               | auxiliary.present/x participle/v
    pluperfect  | have.past/x participle/v                  | auxiliary.imperfect/x participle/v
    recent      | have.present/X just/x participle/v        | venir.present/x de/X * base/v
    near        | be.present/X going/x to/XV base/v         | aller.present/x * base/v
    future      | will/V base/v                             | verb.future/v
    conditional | would/V base/v                            | verb.conditional/v
    subjunctive | - to/V base/v                             | verb.subjunctive/v
    can         | can/x base/v                              | pouvoir.present/x * base/v
    could       | could/x base/v                            | pouvoir.conditional/x * base/v
    must        | must/x base/v                             | devoir.present/x * base/v
    should      | should/x base/v                           | devoir.conditional/x * base/v
""".strip().split("\n"))}
MODALS = ("can", "could", "must", "should")
ENGLISH_FORMS = {"base": str, "participle": english.participle, "gerund": english.gerund}
STRESSED = {"me": "moi", "te": "toi"}
AFTER_ORDER = {1: "-toi", 3: "-nous", 4: "-vous"}
REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")




def _clitic_words(phrase, person):
    own = words(REFLEXIVES[person] + "/V", v=phrase.meaning) if phrase.verb.reflexive else ()
    return (*own, *(x.fr for x in phrase.clitics))


def _english_verb(phrase, tense, person, supported, concepts):
    """The auxiliary, if any, and what follows it; `supported` asks for `do`."""
    auxiliary, *rest = TENSES[tense][0]
    if rest[0].startswith("verb."):
        form, _, letters = rest[0].removeprefix("verb.").partition("/")
        if phrase.verb.en == "be":
            auxiliary, rest = rest[0], []
        elif supported:
            auxiliary, rest = f"do.{form}/{letters.upper()}", ["base/v"]

    def said(item):
        text, _, letters = item.partition("/")
        lemma, _, form = text.partition(".")
        if form:
            text = english.finite(phrase.verb.en if lemma == "verb" else lemma, form, person)
        elif text in ENGLISH_FORMS:
            text = ENGLISH_FORMS[text](phrase.verb.en)
        return word(f"{text}/{letters}", concepts)

    return [said(auxiliary)] if auxiliary != "-" else [], [said(x) for x in rest]


def _participle(phrase, who):
    form = french.participle(phrase.verb.fr)
    if phrase.verb.auxiliary == "avoir":
        return french.agree(form, *phrase.agreement) if phrase.agreement else form
    return french.agree(form, who.gender, who.number) if phrase.agrees_with_subject else form


def _french_verb(phrase, tense, who, concepts):
    """The object pronouns that stand before the finite verb, the finite verb, and what follows it."""
    clitics, pattern = _clitic_words(phrase, who.person), TENSES[tense][1]
    said = []
    for item in pattern:
        text, _, letters = item.partition("/")
        lemma, _, form = text.partition(".")
        if form:
            lemma = {"verb": phrase.verb.fr, "auxiliary": phrase.verb.auxiliary}.get(lemma, lemma)
            text = french.finite(lemma, form, who.person)
        elif text == "participle":
            text = _participle(phrase, who)
        elif text == "base":
            text = phrase.verb.fr
        said.extend(clitics if text == "*" else [word(f"{text}/{letters}", concepts)])
    return () if "*" in pattern else clitics, said[0], said[1:]


# English before the verb and at the end; French after the finite verb and after the participle.
NEGATIONS = {
    "": ("", "", "", ""),
    "not": ("not/n", "", "pas/n", ""),
    "never": ("never/n", "", "jamais/n", ""),
    "no_longer": ("no/n longer/n", "", "plus/n", ""),
    "not_anymore": ("not/N", "anymore/n", "plus/n", ""),
    "not_yet": ("not/n", "yet/y", "pas/n encore/y", ""),
    "nothing": ("not/N", "anything/n", "rien/n", ""),
    "nobody": ("not/N", "anybody/n", "", "personne/n"),
    "only": ("only/n", "", "", "que/n"),
}


def clause(who, phrase, tense="present", negation="", adverb=NOTHING, asked=""):
    """A clause in English and French.

    `asked` is empty for a statement, "inverted" for a French question by inversion, or "est-ce que" for one
    without; English inverts in both.
    """
    concepts = {"v": phrase.meaning}
    before, end, middle, late = ([word(x, concepts) for x in part.split()] for part in NEGATIONS[negation])
    supported = asked or NEGATIONS[negation][0].startswith("not")
    auxiliary, rest = _english_verb(phrase, tense, who.person, supported, concepts)
    clitics, finite, rest_fr = _french_verb(phrase, tense, who, concepts)
    subject, opening, ne = who.fr, (), words("ne/N", n=concepts["n"]) if negation else ()
    inverted = ()
    if asked == "inverted":
        subject, inverted = (), (replace(who.fr[-1], text="-" + who.fr[-1].text),)
    elif asked:
        opening = words("est-ce/q que/q", q=concept())
        auxiliary = [replace(x, weak=x.weak | opening[0].strong) for x in auxiliary]
    # `anything` and `anybody` are objects and precede the rest; `yet` and `anymore` end the clause.
    at = len(phrase.verb.particle.split()) if negation in ("nothing", "nobody") else len(phrase.tail.en)
    tail = (*phrase.tail.en[:at], *end, *phrase.tail.en[at:])
    start = (*auxiliary, *who.en) if asked else (*who.en, *auxiliary)
    return Pair(
        (*start, *before, *adverb.en, *rest, *tail),
        (*opening, *subject, *ne, *clitics, finite, *inverted, *middle, *adverb.fr, *rest_fr, *late, *phrase.tail.fr),
    )


def question(who, phrase, tense="present", negation=""):
    """A question: inversion with « il, elle, nous, vous, ils », else « est-ce que »."""
    formal = who.pronoun and who.pronoun not in ("je", "tu")
    return clause(who, phrase, tense, negation, asked="inverted" if formal else "est-ce que")


def _written(phrase, template, clitics, imperative=""):
    """Fill a template with forms of the verb, its object pronouns and its complements."""
    en, fr = phrase.verb.en, phrase.verb.fr
    return pair(
        template, v=phrase.meaning, base=(en, fr), gerund=(english.gerund(en), french.gerund(fr)),
        imperative=imperative, me=Pair(fr=tuple(clitics)), tail=phrase.tail,
    )


def infinitive(phrase, person=2):
    """The verb phrase without tense; `person` is that of a reflexive pronoun."""
    return _written(phrase, "{base}/v {tail} | {me} {base}/v {tail}", _clitic_words(phrase, person))


def ing(phrase):
    """The English form in -ing against the French infinitive."""
    return _written(phrase, "{gerund}/v {tail} | {me} {base}/v {tail}", _clitic_words(phrase, 2))


def gerund(phrase, person):
    """`while eating`: « en mangeant »."""
    template = "while/w {gerund}/v {tail} | en/w {me} {gerund}/v {tail}"
    return _written(phrase, template, _clitic_words(phrase, person))


def order(phrase, person=4, negated=False):
    """An order to « tu » (1), to « vous » (4), or to both of us (3, `let's`)."""
    form = french.imperative(phrase.verb.fr, person)
    if negated:
        template = "do/N not/n {base}/v {tail} | ne/N {me} {imperative}/v pas/n {tail}"
        return _written(phrase, template, _clitic_words(phrase, person), form)
    template = ("let's/V " if person == 3 else "") + "{base}/v {tail} | {imperative}/v {me} {tail}"
    return _written(phrase, template, _order_clitics(phrase, person), form)


def _order_clitics(phrase, person):
    """After an order pronouns follow with hyphens, the direct object first."""
    own = words(AFTER_ORDER[person] + "/V", v=phrase.meaning) if phrase.verb.reflexive else ()
    others = sorted(phrase.clitics, key=lambda x: (1, 0, 2, 3, 4)[x.rank])
    return (*own, *(replace(x.fr, text="-" + STRESSED.get(x.fr.text, x.fr.text)) for x in others))
