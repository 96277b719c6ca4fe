"""Drawing the sets, keeping them apart, and checking what was made."""

import re
from collections import Counter
from dataclasses import dataclass

# Each of these registers its constructions, and is drawn from in this order.
import pronouns
import exchanges
import nominal
import occasions
import idiomatic
import linked
import tenses
from combined import COMBINATIONS
from constructions import CONSTRUCTIONS
from surface import sentence

SIZES = {"train": 24_000, "validation": 1_000, "test": 1_000, "challenge": 500}
TRAIN_LENGTH = range(3, 15)
CHALLENGE_LENGTH = range(15, 26)
SEEN_IN_TRAIN = 8
HELD_OUT_SHARE = 1.3
LEAST_PER_CONSTRUCTION = 225
LEAST_WORDS = {"en": 600, "fr": 600}
PATIENCE = 60
"""How many vain draws in a row show that a construction is exhausted."""


@dataclass(frozen=True)
class Example:
    """A sentence pair and the construction it was made for."""

    construction: str
    sentence: object


def words_of(text):
    """The words of a line: tokens cut at punctuation, apostrophe and hyphen, in lower case."""
    return [x for x in re.split(r"[\s.,?!'-]+", text.lower()) if x]


def words_in(item):
    """The words of both sides, marked with their language."""
    return [("en", w) for w in words_of(item.en)] + [("fr", w) for w in words_of(item.fr)]


class Register:
    """Every sentence drawn so far, so that none comes twice on either side.

    It also holds the grammar to its promise that English determines French.
    """

    def __init__(self):
        self._french_of = {}
        self._french = set()

    def accepts(self, item):
        """Whether a sentence is new on both sides; remember it if so."""
        en, fr = item.en.casefold(), item.fr.casefold()
        known = self._french_of.setdefault(en, fr)
        if known != fr:
            raise SystemExit(f"two translations of {item.en!r}: {known!r} and {fr!r}")
        if fr in self._french:
            return False
        self._french.add(fr)
        return True


def drawn(draw, make, register, lengths):
    """A new sentence of acceptable length, or None when none turns up."""
    for _ in range(PATIENCE):
        item = sentence(make(draw), short_negation=draw.chance(0.5))
        if len(item.en.split()) in lengths and register.accepts(item):
            return item
    return None


def draw_common(draw, register, wanted):
    """The pool that training, validation and test share, evenly over the constructions."""
    pool, open_constructions = [], list(CONSTRUCTIONS)
    while len(pool) < wanted and open_constructions:
        for name in list(open_constructions):
            item = drawn(draw, CONSTRUCTIONS[name], register, TRAIN_LENGTH)
            if item is None:
                open_constructions.remove(name)
            else:
                pool.append(Example(name, item))
    return draw.shuffled(pool[:wanted])


def split(pool):
    """Set the held-out sentences aside, none with a word that training would then lack.

    A construction gives each held-out set little more than its even share, so
    that the ones with common words do not crowd out the others.
    """
    counts = Counter(w for x in pool for w in words_in(x.sentence))
    sets = {"validation": [], "test": [], "train": []}
    taken = Counter()
    for example in pool:
        words = Counter(words_in(example.sentence))
        name = next((n for n in ("validation", "test") if len(sets[n]) < SIZES[n]), "train")
        share = HELD_OUT_SHARE * SIZES[name] / len(CONSTRUCTIONS)
        spared = all(counts[w] - n >= SEEN_IN_TRAIN for w, n in words.items())
        if name != "train" and spared and taken[name, example.construction] < share:
            counts -= words
            taken[name, example.construction] += 1
        else:
            name = "train"
        sets[name].append(example)
    return sets


def draw_challenge(draw, register, train):
    """Longer sentences out of words that training knows."""
    counts = Counter(w for x in train for w in words_in(x.sentence))
    makers, result = list(COMBINATIONS.items()), []
    for turn in range(PATIENCE * SIZES["challenge"]):
        if len(result) == SIZES["challenge"]:
            break
        name, make = makers[turn % len(makers)]
        item = drawn(draw, make, register, CHALLENGE_LENGTH)
        if item and all(counts[w] >= SEEN_IN_TRAIN for w in words_in(item)):
            result.append(Example(name, item))
    return result


def draw_sets(draw):
    """All four sets."""
    register = Register()
    wanted = SIZES["train"] + SIZES["validation"] + SIZES["test"]
    sets = split(draw_common(draw, register, wanted))
    sets["challenge"] = draw_challenge(draw, register, sets["train"])
    return sets


# --- Checks ---------------------------------------------------------------


def _require(condition, message):
    if not condition:
        raise SystemExit(f"the corpus is not as it should be: {message}")


def vocabulary(examples):
    """The distinct words of each side."""
    words = {w for x in examples for w in words_in(x.sentence)}
    return {side: sum(1 for s, _ in words if s == side) for side in ("en", "fr")}


def _check_apart(sets):
    for side in ("en", "fr"):
        seen = {}
        for name, examples in sets.items():
            for example in examples:
                text = getattr(example.sentence, side).casefold()
                _require(text not in seen, f"{text!r} occurs in {seen.get(text)} and {name}")
                seen[text] = name


def _check_links(examples):
    for example in examples:
        item = example.sentence
        en, fr = len(item.en.split()), len(item.fr.split())
        links = [tuple(map(int, re.split("[-?]", x))) for x in item.gold.split()]
        _require(links == sorted(set(links)), f"links of {item.en!r} are not sorted and distinct")
        _require(all(i < en and j < fr for i, j in links), f"a link of {item.en!r} is out of range")


def _check_words_seen(sets):
    counts = Counter(w for x in sets["train"] for w in words_in(x.sentence))
    for name in ("validation", "test", "challenge"):
        for example in sets[name]:
            for w in words_in(example.sentence):
                _require(counts[w] >= SEEN_IN_TRAIN, f"{w} of {name} is too rare in training")


def check(sets):
    """Stop with a message unless the sets are what they claim to be."""
    for name, size in SIZES.items():
        _require(len(sets[name]) == size, f"{name} has {len(sets[name])} pairs")
        _check_links(sets[name])
    _check_apart(sets)
    _check_words_seen(sets)
    for side, least in LEAST_WORDS.items():
        _require(vocabulary(sets["train"])[side] >= least, f"too few {side} words")
    for name, count in construction_counts(sets["train"]).items():
        _require(count >= LEAST_PER_CONSTRUCTION, f"only {count} pairs of {name!r}")


def construction_counts(examples):
    """How many pairs were made for each construction."""
    counts = Counter(x.construction for x in examples)
    return {name: counts[name] for name in CONSTRUCTIONS}


def report(sets):
    """A short table of what was made."""
    lines = [
        f"{'set':<12}{'pairs':>8}{'en words':>10}{'fr words':>10}{'en mean':>9}{'fr mean':>9}"
        f"{'sure':>7}{'unlinked':>10}"
    ]
    for name in SIZES:
        items = [x.sentence for x in sets[name]]
        words = vocabulary(sets[name])
        en = [len(x.en.split()) for x in items]
        fr = [len(x.fr.split()) for x in items]
        links = [y for x in items for y in x.gold.split()]
        sure = sum("-" in x for x in links) / len(links)
        linked_en = sum(
            len({y.replace("?", "-").split("-")[0] for y in x.gold.split()}) for x in items
        )
        linked_fr = sum(
            len({y.replace("?", "-").split("-")[1] for y in x.gold.split()}) for x in items
        )
        unlinked = 1 - (linked_en + linked_fr) / (sum(en) + sum(fr))
        lines.append(
            f"{name:<12}{len(items):>8}{words['en']:>10}{words['fr']:>10}"
            f"{sum(en) / len(en):>9.2f}{sum(fr) / len(fr):>9.2f}{sure:>7.1%}{unlinked:>10.2%}"
        )
    counts = construction_counts(sets["train"])
    lines.append(
        f"{len(counts)} constructions, {min(counts.values())} to {max(counts.values())} training pairs each"
    )
    return "\n".join(lines)
