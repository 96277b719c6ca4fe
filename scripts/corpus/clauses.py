"""Verb phrases and clauses: tense, negation, pronoun order and questions."""

from dataclasses import dataclass, replace

import english
import french
from phrases import Clitic
from words import Pair, concept, word


@dataclass(frozen=True)
class VerbPhrase:
    """A verb with its complements, before it has a tense.

    `tail` follows the verb in each language; `clitics` are the French object
    pronouns; `agreement` is the gender and number that a preceding direct
    object lends to the participle.
    """

    verb: object
    meaning: int
    tail: Pair = Pair()
    clitics: tuple = ()
    agreement: tuple = None
    agrees_with_subject: bool = True

    def plus(self, *complements):
        """The same with further complements behind."""
        tail = self.tail
        for item in complements:
            tail = tail + item
        return replace(self, tail=tail)


def verb_phrase(verb, *complements, agreement=None, reflexive_agrees=True):
    """Put a verb and its complements together.

    Pronouns come as `Clitic` and go where each language wants them; a
    preposition that the French verb asks for goes before the first full
    complement.
    """
    meaning = concept()
    en = tuple(word(x, weak=[meaning]) for x in verb.particle.split())
    fr = (word(verb.preposition, weak=[meaning]),) if verb.preposition else ()
    if (
        any(
            isinstance(x, Clitic) and x.fr.text in ("lui", "leur", "me", "nous", "vous", "te")
            for x in complements
        )
        and verb.preposition == "à"
    ):
        fr = ()
    tail = Pair(en, fr)
    clitics = []
    for item in complements:
        if isinstance(item, Clitic):
            clitics.append(item)
            agreement = item.agreement or agreement
            tail = tail + Pair(en=item.en)
        else:
            tail = tail + item
    clitics.sort(key=lambda x: x.rank)
    return VerbPhrase(verb, meaning, tail, tuple(clitics), agreement, reflexive_agrees)


# --- English --------------------------------------------------------------

BE_PRESENT = ("am", "are", "is", "are", "are", "are")
MODALS = {
    "can": ("pouvoir", "present"),
    "must": ("devoir", "present"),
    "should": ("devoir", "conditional"),
    "could": ("pouvoir", "conditional"),
}


def _be(person, past=False):
    if past:
        return "was" if person in (0, 2) else "were"
    return BE_PRESENT[person]


def _have(person):
    return "has" if person == 2 else "have"


def _english_verb(phrase, tense, person, supported, auxiliary_id):
    """The auxiliary (or None) and what follows it.

    `supported` asks for do-support; `auxiliary_id` is the concept of the French
    auxiliary.
    """
    verb, main = phrase.verb.en, phrase.meaning
    base = word(verb, [main])
    if tense in MODALS:
        return word(tense, [auxiliary_id]), [base]
    if tense in ("future", "conditional"):
        return word("will" if tense == "future" else "would", weak=[main]), [base]
    if tense in ("perfect", "pluperfect"):
        form = "had" if tense == "pluperfect" else _have(person)
        return word(form, [auxiliary_id]), [word(english.participle(verb), [main])]
    if tense == "near":
        return (
            word(_be(person), weak=[auxiliary_id]),
            [word("going", [auxiliary_id]), word("to", weak=[auxiliary_id, main]), base],
        )
    if tense == "recent":
        return (
            word(_have(person), weak=[auxiliary_id]),
            [word("just", [auxiliary_id]), word(english.participle(verb), [main])],
        )
    if tense in ("progressive", "background"):
        form = _be(person, past=tense == "background")
        return word(form, weak=[main]), [word(english.gerund(verb), [main])]
    if tense == "used":
        return None, [word("used", weak=[main]), word("to", weak=[main]), base]
    return _english_simple(phrase, tense, person, supported, auxiliary_id)


def _english_simple(phrase, tense, person, supported, auxiliary_id):
    verb, main = phrase.verb.en, phrase.meaning
    past = tense in ("past", "imperfect")
    weak = [auxiliary_id] if tense == "past" else []
    if verb == "be":
        return word(_be(person, past), [main], weak), []
    if supported:
        form = "did" if past else english.finite("do", "present", person)
        return word(form, weak=[main, *weak]), [word(verb, [main])]
    form = english.finite(verb, "past" if past else "present", person)
    return None, [word(form, [main], weak)]


# --- French ---------------------------------------------------------------

REFLEXIVES = ("me", "te", "se", "nous", "vous", "se")
FRENCH_TENSES = {
    "present": "present",
    "progressive": "present",
    "future": "future",
    "conditional": "conditional",
    "imperfect": "imperfect",
    "background": "imperfect",
    "used": "imperfect",
    "subjunctive": "subjunctive",
}
COMPOUND = {"past": "present", "perfect": "present", "pluperfect": "imperfect"}


def _clitic_words(phrase, person):
    words = [x.fr for x in phrase.clitics]
    if phrase.verb.reflexive:
        words.insert(0, word(REFLEXIVES[person], weak=[phrase.meaning]))
    return words


def _participle(phrase, subject):
    form = french.participle(phrase.verb.fr)
    if phrase.verb.auxiliary == "être":
        if not phrase.verb.reflexive or phrase.agrees_with_subject:
            form = french.agree(form, subject.gender, subject.number)
    elif phrase.agreement:
        form = french.agree(form, *phrase.agreement)
    return word(form, [phrase.meaning])


def _french_verb(phrase, tense, subject, auxiliary_id):
    """The clitics, the finite verb and what follows it."""
    person, verb = subject.person, phrase.verb
    clitics = _clitic_words(phrase, person)
    if tense in FRENCH_TENSES:
        form = french.finite(verb.fr, FRENCH_TENSES[tense], person)
        return clitics, word(form, [phrase.meaning]), []
    if tense in COMPOUND:
        form = french.finite(verb.auxiliary, COMPOUND[tense], person)
        return clitics, word(form, [auxiliary_id]), [_participle(phrase, subject)]
    lemma, simple = {"near": ("aller", "present"), "recent": ("venir", "present")}.get(
        tense
    ) or MODALS[tense]
    rest = [word("de", weak=[auxiliary_id])] if tense == "recent" else []
    rest += [*clitics, word(verb.fr, [phrase.meaning])]
    return [], word(french.finite(lemma, simple, person), [auxiliary_id]), rest


# --- Negation and adverbs -------------------------------------------------

# English before the verb, whether it needs « do », English at the end, French after the
# finite verb, French after the participle.
NEGATIONS = {
    "not": ("not", True, "", "pas", ""),
    "never": ("never", False, "", "jamais", ""),
    "no longer": ("no longer", False, "", "plus", ""),
    "not anymore": ("not", True, "anymore", "plus", ""),
    "not yet": ("not", True, "yet", "pas encore", ""),
    "nothing": ("not", True, "anything", "rien", ""),
    "nobody": ("not", True, "anybody", "", "personne"),
    "only": ("only", False, "", "", "que"),
}


@dataclass(frozen=True)
class _Polarity:
    before: tuple = ()
    supported: bool = False
    end: tuple = ()
    ne: tuple = ()
    middle: tuple = ()
    late: tuple = ()


def _polarity(negation):
    """The words of a negation, tied together."""
    if not negation:
        return _Polarity()
    before, supported, end, middle, late = NEGATIONS[negation]
    meaning, second = concept(), concept()
    split = negation == "not yet"
    strong = [meaning] if not end or split else []
    middle_words = middle.split()
    return _Polarity(
        tuple(word(x, strong, () if strong else [meaning]) for x in before.split()),
        supported,
        tuple(word(x, [second if split else meaning]) for x in end.split()),
        (word("ne", weak=[meaning]),),
        tuple(word(x, [second if x == "encore" else meaning]) for x in middle_words),
        tuple(word(x, [meaning]) for x in late.split()),
    )


# --- Clauses --------------------------------------------------------------


def clause(subject, phrase, tense="present", negation=None, adverb=Pair(), asked=None):
    """A clause in English and French.

    `asked` is None for a statement, "inverted" for a French question by
    inversion, or "est-ce que" for one without; English inverts in both.
    """
    auxiliary_id, question = concept(), concept()
    polarity = _polarity(negation)
    supported = bool(asked) or polarity.supported
    auxiliary, rest = _english_verb(phrase, tense, subject.person, supported, auxiliary_id)
    if asked == "est-ce que":
        auxiliary = replace(auxiliary, weak=auxiliary.weak | {question})
    front = [auxiliary] if auxiliary else []
    opening = front + list(subject.en) if asked else list(subject.en) + front
    en = (*opening, *polarity.before, *adverb.en, *rest, *_english_tail(phrase, polarity))
    fr = _french_clause(subject, phrase, tense, polarity, adverb, asked, auxiliary_id)
    if asked == "est-ce que":
        fr = (word("est-ce", [question]), word("que", [question]), *fr)
    return Pair(tuple(en), tuple(fr))


def _english_tail(phrase, polarity):
    """`anything` and `anybody` are objects and precede the rest; `yet` ends the clause."""
    texts = [x.text for x in polarity.end]
    if texts and texts[0].startswith("any") and texts[0] != "anymore":
        particle = len(phrase.verb.particle.split())
        return phrase.tail.en[:particle] + polarity.end + phrase.tail.en[particle:]
    return phrase.tail.en + polarity.end


def _french_clause(subject, phrase, tense, polarity, adverb, asked, auxiliary_id):
    clitics, finite, rest = _french_verb(phrase, tense, subject, auxiliary_id)
    verb = [*polarity.ne, *clitics, finite]
    subject_words = list(subject.fr)
    if asked == "inverted":
        inverted = replace(subject_words[-1], text="-" + subject_words[-1].text)
        verb, subject_words = verb + [inverted], []
    return (
        *subject_words,
        *verb,
        *polarity.middle,
        *adverb.fr,
        *rest,
        *polarity.late,
        *phrase.tail.fr,
    )


def question(subject, phrase, tense="present", negation=None, adverb=Pair()):
    """A question: inversion with « il, elle, nous, vous, ils », else « est-ce que »."""
    formal = subject.pronoun and subject.pronoun not in ("je", "tu")
    return clause(subject, phrase, tense, negation, adverb, "inverted" if formal else "est-ce que")


def infinitive(phrase, person=2, negated=False):
    """The verb phrase without tense; `person` is that of a reflexive pronoun."""
    meaning = concept()
    en = (word(phrase.verb.en, [phrase.meaning]), *phrase.tail.en)
    fr = (*_clitic_words(phrase, person), word(phrase.verb.fr, [phrase.meaning]), *phrase.tail.fr)
    if negated:
        en = (word("not", [meaning]), *en)
        fr = (word("ne", weak=[meaning]), word("pas", [meaning]), *fr)
    return Pair(en, fr)


def ing(phrase):
    """The English form in -ing against the French infinitive."""
    bare = infinitive(phrase)
    return Pair((word(english.gerund(phrase.verb.en), [phrase.meaning]), *phrase.tail.en), bare.fr)


def gerund(phrase, person):
    """`while eating`: « en mangeant »."""
    manner = concept()
    en = (word("while", [manner]), word(english.gerund(phrase.verb.en), [phrase.meaning]))
    fr = (
        word("en", [manner]),
        *_clitic_words(phrase, person),
        word(french.gerund(phrase.verb.fr), [phrase.meaning]),
    )
    return Pair((*en, *phrase.tail.en), (*fr, *phrase.tail.fr))


# --- Orders ---------------------------------------------------------------

AFTER_VERB = {0: 1, 1: 0, 2: 2, 3: 3, 4: 4}


def order(phrase, person=4, negated=False):
    """An order to « tu » (1), to « vous » (4), or to both of us (3, `let's`)."""
    meaning = concept()
    verb = word(french.imperative(phrase.verb.fr, person), [phrase.meaning])
    en = (word(phrase.verb.en, [phrase.meaning]), *phrase.tail.en)
    if person == 3:
        en = (word("let's", weak=[phrase.meaning]), *en)
    if negated:
        en = (word("do", weak=[meaning]), word("not", [meaning]), *en)
        clitics = _clitic_words(phrase, person)
        fr = (word("ne", weak=[meaning]), *clitics, verb, word("pas", [meaning]))
        return Pair(en, (*fr, *phrase.tail.fr))
    return Pair(en, (verb, *_order_clitics(phrase, person), *phrase.tail.fr))


def _order_clitics(phrase, person):
    """After an order pronouns follow with hyphens, the direct object first."""
    ranked = sorted(phrase.clitics, key=lambda x: AFTER_VERB[x.rank])
    words = [replace(x.fr, text="-" + x.stressed) for x in ranked]
    if phrase.verb.reflexive:
        own = {1: "-toi", 3: "-nous", 4: "-vous"}[person]
        words.insert(0, word(own, weak=[phrase.meaning]))
    return words


def joined(*parts):
    """Several pairs one after the other."""
    result = Pair()
    for item in parts:
        result = result + item
    return result
