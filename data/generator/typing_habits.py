"""Typing habits: without the final mark, without capitals, without commas and apostrophes.

The French follows: what is typed without capitals or marks is translated without them. No token comes or
goes, so the links stay right.
"""

import re

import lexicon
from draw import chance, pick, weighted
from surface import Sentence

# Words with a capital of their own.
_ROWS = (*lexicon.NAMES["m"], *lexicon.NAMES["f"], *lexicon.CITIES, *lexicon.MORE_CITIES,
         *(x[0] for x in lexicon.COUNTRIES + lexicon.MORE_COUNTRIES))
PROPER = {"I", *(x for row in _ROWS for x in row),
          *(x for names in (lexicon.GIVEN_NAMES, lexicon.RARE_NAMES) for x in names["m"] + names["f"])}
# Which habits go together, those that are common more than once.
HABITS = weighted({"mark": 3, "mark comma": 1, "mark capital": 2, "mark capital comma": 2},
    "mark capitals comma; mark capitals comma apostrophe; capital; capitals")
# Short forms that are no other words without their apostrophe.
WITHOUT_APOSTROPHE = {x.replace("'", ""): x for x in
                      "don't doesn't didn't can't isn't aren't i'm what's where's that's name's".split()}


def _without(text, habits):
    if "mark" in habits:
        text = text.rstrip(".!?")
    if "comma" in habits:
        text = text.replace(",", "")
    if "capitals" in habits:
        return text.lower()
    return text


def _is_proper(text):
    return re.match(r"\w+", text)[0] in PROPER


def _without_apostrophe(text):
    return " ".join(x.replace("'", "") if x in WITHOUT_APOSTROPHE.values() else x for x in text.split())


def typed(item, casual):
    """A sentence as somebody types it; only casual ones lose more than the mark and the first capital."""
    habits = pick(HABITS if casual else weighted({"mark": 2}, "mark capital; capital")).split()
    en, fr = (_without(x, habits) for x in (item.en, item.fr))
    if "capital" in habits and not _is_proper(en):
        en, fr = (x if _is_proper(x) else x[0].lower() + x[1:] for x in (en, fr))
    return Sentence(_without_apostrophe(en) if "apostrophe" in habits else en, fr, item.gold)


def maybe_typed(item, probability, casual=False):
    """A sentence as it is printed, or with the given probability as somebody types it."""
    return typed(item, casual) if chance(probability) else item
