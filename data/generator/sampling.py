"""Drawing the sets, keeping them apart, and checking what was made."""

import re
from collections import Counter, namedtuple
from importlib import import_module

from constructions import CONSTRUCTIONS, EVERYDAY
from draw import chance, shuffled
from newcomers import is_held_out
from surface import sentence
from typing_habits import maybe_typed

# Each of these registers its constructions, and is drawn from in this order.
for _module in ("pronouns", "exchanges", "nominal", "occasions", "idiomatic", "linked", "tenses"):
    import_module(_module)
COMBINATIONS = import_module("combined").COMBINATIONS
for _module in ("greetings", "introductions", "errands", "daytime", "smalltalk", "vocabulary"):
    import_module(_module)

SIZES = {"train": 26_000, "validation": 1_000, "test": 1_000, "challenge": 500}
# Numbers of pairs of the other constructions drawn for training, validation and test.
POOL = 26_000
# Number of everyday pairs, which take the place of others.
EVERYDAY_SIZES = {"train": 6_000, "validation": 150}
TRAIN_LENGTH, CHALLENGE_LENGTH, EVERYDAY_LENGTH = range(3, 15), range(15, 26), range(1, 15)
SEEN_IN_TRAIN = 8
# How many of its pairs a construction may give away, as a multiple of its even share.
GIVEN_SHARE = 1.3
# Minimum count of a word whose training pair may be left out.
COMMON = 30
LEAST_PER_CONSTRUCTION, LEAST_PER_EVERYDAY = 170, 25
# Share of the sentences that are changed into what somebody types.
TYPED, TYPED_EVERYDAY = 0.06, 0.4
LEAST_WORDS = 600
# How often `not` is short (`don't`), and how often other verbs of everyday sentences are (`I'm`).
SHORT_NEGATION, CONTRACTED = 0.5, 0.4
# Number of vain draws in a row that shows that a construction is exhausted.
PATIENCE = 60
Example = namedtuple("Example", "construction sentence")


def words_in(item):
    """The words of both sides with their language, cut at punctuation, apostrophe and hyphen."""
    sides = (("en", item.en), ("fr", item.fr))
    return [(side, x) for side, text in sides for x in re.split(r"[\s.,?!'-]+", text.lower()) if x]


def word_counts(examples):
    """Count of each word."""
    return Counter(x for example in examples for x in words_in(example.sentence))


def unmarked(text):
    """A text without what makes no other sentence of it: case and the final mark."""
    return text.casefold().rstrip(".!?")


def is_new(item, known):
    """True if a sentence is new on both sides; remember it, and insist on one translation for each."""
    en, fr = unmarked(item.en), unmarked(item.fr)
    translation = known.setdefault(("en", en), fr)
    require(translation == fr, f"two translations of {en!r}: {translation!r} and {fr!r}")
    return known.setdefault(("fr", fr), item) is item


def drawn(make, known, lengths, everyday=False):
    """A new sentence of acceptable length, none of those held out, or None when none turns up."""
    for _ in range(PATIENCE):
        meaning, short_negation = make(), chance(SHORT_NEGATION)
        item = sentence(meaning, short_negation, contracted=everyday and chance(CONTRACTED))
        held_out = everyday and is_held_out(item)
        if len(item.en.split()) in lengths and not held_out and is_new(item, known):
            return item
    return None


def draw_common(known, wanted):
    """The pool that training, validation and test share, evenly over the constructions."""
    pool, still_open = [], list(CONSTRUCTIONS)
    while len(pool) < wanted and still_open:
        for name in list(still_open):
            item = drawn(CONSTRUCTIONS[name], known, TRAIN_LENGTH)
            if item is None:
                still_open.remove(name)
            else:
                pool.append(Example(name, item))
    return shuffled(pool[:wanted])


def split(pool):
    """Set the held-out sentences aside, none with a word that training would then lack.

    A construction gives each held-out set little more than its even share, so that the ones with common words
    do not crowd out the others.
    """
    counts, taken = word_counts(pool), Counter()
    sets = {"validation": [], "test": [], "train": []}
    for example in pool:
        words = word_counts([example])
        name = next((n for n in ("validation", "test") if len(sets[n]) < SIZES[n]), "train")
        share = GIVEN_SHARE * SIZES[name] / len(CONSTRUCTIONS)
        spared = all(counts[w] - n >= SEEN_IN_TRAIN for w, n in words.items())
        spared = spared and not is_held_out(example.sentence)
        if name != "train" and spared and taken[name, example.construction] < share:
            counts -= words
            taken[name, example.construction] += 1
        else:
            name = "train"
        sets[name].append(example)
    return sets


def draw_challenge(known, train):
    """Longer sentences out of words that training knows."""
    counts, makers, result = word_counts(train), list(COMBINATIONS.items()), []
    for turn in range(PATIENCE * SIZES["challenge"]):
        if len(result) == SIZES["challenge"]:
            break
        name, make = makers[turn % len(makers)]
        item = drawn(make, known, CHALLENGE_LENGTH)
        if item and all(counts[w] >= SEEN_IN_TRAIN for w in words_in(item)):
            result.append(Example(name, item))
    return result


def draw_everyday(known, wanted):
    """Everyday pairs, evenly over their constructions, some of them as somebody types them."""
    pool, still_open = [], list(EVERYDAY)
    while len(pool) < wanted and still_open:
        for name in list(still_open):
            item = drawn(EVERYDAY[name], known, EVERYDAY_LENGTH, everyday=True)
            if item is None:
                still_open.remove(name)
            else:
                pool.append(Example(name, maybe_typed(item, TYPED_EVERYDAY, casual=True)))
    return shuffled(pool[:wanted])


def thinned(train, wanted):
    """The training pairs without some whose words are common, about as many of each construction."""
    counts, taken, kept = word_counts(train), Counter(), []
    surplus = sum(not is_held_out(x.sentence) for x in train) - wanted
    share, left_out = GIVEN_SHARE * surplus / len(CONSTRUCTIONS), 0
    for example in train:
        if is_held_out(example.sentence):
            continue
        words = word_counts([example])
        spared = all(counts[w] - n >= COMMON for w, n in words.items())
        if left_out < surplus and spared and taken[example.construction] < share:
            counts -= words
            taken[example.construction] += 1
            left_out += 1
        else:
            kept.append(example)
    return kept


def with_everyday(sets, known):
    """The sets with everyday pairs instead of some others in training and validation."""
    pool = draw_everyday(known, sum(EVERYDAY_SIZES.values()))
    counts, validation, train = word_counts(pool), [], []
    for example in pool:
        words = word_counts([example])
        spared = all(counts[w] - n >= SEEN_IN_TRAIN for w, n in words.items())
        if spared and len(validation) < EVERYDAY_SIZES["validation"]:
            counts -= words
            validation.append(example)
        else:
            train.append(example)
    rest = thinned(sets["train"], SIZES["train"] - len(train))
    rest = [Example(name, maybe_typed(item, TYPED)) for name, item in rest]
    kept = sets["validation"][: SIZES["validation"] - len(validation)]
    return {**sets, "train": shuffled(rest + train), "validation": shuffled(kept + validation)}


def draw_sets():
    """All four sets; the everyday pairs come last, so that they leave the others' draws alone."""
    known = {}
    sets = split(draw_common(known, POOL))
    sets["challenge"] = draw_challenge(known, sets["train"])
    sets = with_everyday(sets, known)
    return {name: sets[name] for name in SIZES}


def require(condition, message):
    """Stop with a message unless a condition holds."""
    if not condition:
        raise SystemExit(f"the corpus is not as it should be: {message}")


def check(sets):
    """Stop with a message unless the sets are what they claim to be."""
    counts, seen = word_counts(sets["train"]), {}
    for name, examples in sets.items():
        require(len(examples) == SIZES[name], f"{name} has {len(examples)} pairs")
        for _, item in examples:
            require(not is_held_out(item), f"{item.en!r} is for newcomers alone")
            for text in (("en", unmarked(item.en)), ("fr", unmarked(item.fr))):
                require(text not in seen, f"{text} occurs in {seen.get(text)} and {name}")
                seen[text] = name
            en, fr = len(item.en.split()), len(item.fr.split())
            links = [tuple(map(int, re.split("[-?]", x))) for x in item.gold.split()]
            require(links == sorted(set(links)), f"links of {item.en!r} are not sorted and distinct")
            require(all(i < en and j < fr for i, j in links), f"a link of {item.en!r} is out of range")
            for word in words_in(item) if name != "train" else ():
                require(counts[word] >= SEEN_IN_TRAIN, f"{word} of {name} is too rare in training")
    for language in ("en", "fr"):
        require(sum(x == language for x, _ in counts) >= LEAST_WORDS, f"too few {language} words")
    per_construction = Counter(x.construction for x in sets["train"])
    for names, least in ((CONSTRUCTIONS, LEAST_PER_CONSTRUCTION), (EVERYDAY, LEAST_PER_EVERYDAY)):
        for name in names:
            count = per_construction[name]
            require(count >= least, f"only {count} of {name!r}")


def report(sets):
    """A short table of what was made."""
    yield "set            pairs  en words  fr words  en mean  fr mean   sure  unlinked"
    for name, examples in sets.items():
        items, words = [x.sentence for x in examples], Counter(side for side, _ in word_counts(examples))
        en, fr = (sum(len(text.split()) for text in side) for side in zip(*((x.en, x.fr) for x in items)))
        links = [x for item in items for x in item.gold.split()]
        ends = (zip(*(re.split("[-?]", x) for x in item.gold.split())) for item in items)
        linked, sure = sum(len(set(side)) for item in ends for side in item), sum("-" in x for x in links)
        lengths = f"{en / len(items):>9.2f}{fr / len(items):>9.2f}"
        shares = f"{sure / len(links):>7.1%}{1 - linked / (en + fr):>10.2%}"
        yield f"{name:<12}{len(items):>8}{words['en']:>10}{words['fr']:>10}{lengths}{shares}"
    counts = Counter(x.construction for x in sets["train"]).values()
    yield f"{len(counts)} constructions, {min(counts)} to {max(counts)} training pairs each"
