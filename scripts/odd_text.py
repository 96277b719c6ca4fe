#!/usr/bin/env python3
"""Mixes the words of standard input with letters, marks, digits and emoji of many scripts, and prints so many lines, always the same.

    cut -f1 data/test.tsv | scripts/odd_text.py 1000
"""

import random
import sys

CHARACTERS = [
    "กขคงจ่้๊ิีึ", "漢字東京日本", "ひらがなカタカナーﾞ゙", "éèêëñçÅ", "👍🏽❤️🇫🇷😀👨‍👩‍👧", "\u200b\u200d\u00a0\u2009\u202f\u00ad\u3000", "абвгд", "שלום",
    "ሰላም", "मराठी्", "ខ្មែរ", "“”‘’«»…—–", "①½Ⅷ²", "ǅßİıſﬁ", "a\u0301\u0323", "٣٤५६", "𝐀𝓫𐍈",
    ["&amp;", "&eacute;", "&#8217;", "&hellip;", "&#x41;", "&nbsp;"],
]


def word(generator, words):
    """Returns a word, odd characters, or a word with odd characters in it."""
    kind = generator.random()
    own = generator.choice(words)
    if kind < 0.5:
        return own
    characters = generator.choice(CHARACTERS)
    if kind < 0.8:
        return "".join(generator.choices(characters, k=generator.randint(1, 5)))
    place = generator.randint(0, len(own))
    return own[:place] + "".join(generator.choices(characters, k=generator.randint(1, 2))) + own[place:]


def main():
    generator = random.Random(7)
    words = sys.stdin.read().split()
    lines = set()
    while len(lines) < int(sys.argv[1]):
        line = " ".join(word(generator, words) for _ in range(generator.randint(1, 8))).strip()
        lines.update([line] if line else [])
    print("\n".join(sorted(lines)))


main()
