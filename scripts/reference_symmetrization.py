"""Generates reference links for the symmetrization test with the algorithm of Moses' symal.

This writes tests/reference/symmetrization.json. Each case is one sentence pair: the links of both
directions, and the results of union, intersection and the grow-diag heuristics. The functions below
follow symal (symal/symal.cpp of Moses; Koehn, Och & Marcu 2003), which scans a sorted set of points
while inserting into it, repeats the scan until a pass adds nothing, and visits the neighbors of a
point in a fixed order. `--differences` also prints how many of 2,000 cases fast_align's atools links
differently. The output is deterministic.

Run from the repository root: python scripts/reference_symmetrization.py
"""

import bisect
import json
import random
import sys
from pathlib import Path

OUTPUT = Path("tests/reference/symmetrization.json")

# Steps of (target, source) in symal's order: first the straight ones, then the diagonal ones.
NEIGHBORS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]


def grow_diag(direct, inverse, final, both):
    """Returns sorted 1-based (target, source) points, like symal -a=grow -d=yes with -f and -b.

    direct[j] is the target word of source word j, inverse[i] the source word of target word i;
    0 means no word, and element 0 is unused.
    """
    sources, targets = len(direct) - 1, len(inverse) - 1
    source_covered = [False] * (sources + 1)
    target_covered = [False] * (targets + 1)
    kind = {}
    current = []
    for j in range(1, sources + 1):
        i = direct[j]
        if i:
            if inverse[i] == j:
                source_covered[j] = target_covered[i] = True
                kind[i, j] = "linked"
                bisect.insort(current, (i, j))
            else:
                kind[i, j] = "direct"
    for i in range(1, targets + 1):
        j = inverse[i]
        if j and direct[j] != i:
            kind[i, j] = "inverse"
    union = sorted(kind)

    def take(point):
        kind[point] = "linked"
        bisect.insort(current, point)
        target_covered[point[0]] = source_covered[point[1]] = True

    added = True
    while added:
        added = False
        index = 0
        while index < len(current):
            here = current[index]
            for step in NEIGHBORS:
                point = (here[0] + step[0], here[1] + step[1])
                if not (0 < point[0] <= targets and 0 < point[1] <= sources):
                    continue
                if inverse[point[0]] != point[1] and direct[point[1]] != point[0]:
                    continue
                if not (target_covered[point[0]] and source_covered[point[1]]):
                    take(point)
                    added = True
            # An iterator of a sorted set stays at its element when others are inserted before it.
            index = bisect.bisect_right(current, here)

    for direction in ["inverse", "direct"] if final else []:
        for point in union:
            if kind[point] == direction:
                covered = (target_covered[point[0]], source_covered[point[1]])
                if (not any(covered)) if both else (not all(covered)):
                    take(point)
    return current


def atools(forward, backward, final, both):
    """Returns the set of 0-based (source, target) points of fast_align's atools."""
    linked = forward & backward

    def covered(point):
        return any(point[0] == s for s, _ in linked), any(point[1] == t for _, t in linked)

    rest = sorted((forward | backward) - linked)
    growing = True
    while growing:
        growing = False
        for point in list(rest):
            adjacent = any((point[0] + s, point[1] + t) in linked for s, t in NEIGHBORS)
            if adjacent and not all(covered(point)):
                linked = linked | {point}
                rest.remove(point)
                growing = True
    for direction in [forward, backward] if final else []:
        for point in sorted(direction - linked):
            if (not any(covered(point))) if both else (not all(covered(point))):
                linked = linked | {point}
    return linked


def links(points):
    """Formats 1-based (target, source) points in Pharaoh format, in softalign's order."""
    return " ".join(f"{j - 1}-{i - 1}" for j, i in sorted((j, i) for i, j in points))


HEURISTICS = {"grow-diag": (False, False), "grow-diag-final": (True, False), "grow-diag-final-and": (True, True)}


def case(direct, inverse):
    """Returns one sentence pair with the links of each heuristic."""
    forward = {(i, j) for i, j in enumerate(inverse) if i and j}
    backward = {(i, j) for j, i in enumerate(direct) if j and i}
    ways = {"intersection": forward & backward, "union": forward | backward}
    for name, (final, both) in HEURISTICS.items():
        ways[name] = grow_diag(direct, inverse, final, both)
    return {"forward": links(forward), "backward": links(backward)} | {name: links(way) for name, way in ways.items()}


def scattered(generator):
    """Returns dense random links of both directions, for which the order of visits matters."""
    sources, targets = generator.randint(1, 7), generator.randint(1, 7)
    direct = [0] + [generator.randint(0, targets) for _ in range(sources)]
    inverse = [0] + [generator.randint(0, sources) for _ in range(targets)]
    return direct, inverse


def realistic(generator):
    """Returns a sentence pair with links near the diagonal, some missing and some far away."""
    sources = generator.randint(3, 16)
    targets = max(1, sources + generator.randint(-3, 3))

    def towards(words, others):
        found = [0]
        for word in range(1, words + 1):
            kind = generator.random()
            near = round(word * others / words + generator.gauss(0, 1.2))
            far = generator.randint(1, others)
            found.append(0 if kind < 0.12 else far if kind < 0.22 else min(max(near, 1), others))
        return found

    return towards(sources, targets), towards(targets, sources)


def edge_cases():
    """Yields pairs without links, with links of one direction, or that grow against the order of the scan."""
    yield [0], [0]
    yield [0, 0, 0], [0, 0]
    yield [0, 1, 2, 3], [0, 0, 0, 0]
    yield [0, 0, 0, 0], [0, 1, 2, 3]
    yield [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]
    yield [0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 5]
    yield [0, 5, 4, 3, 2, 1], [0, 0, 0, 3, 0, 0]


def differs_from_atools(direct, inverse):
    forward = {(j - 1, i - 1) for i, j in enumerate(inverse) if i and j}
    backward = {(j - 1, i - 1) for j, i in enumerate(direct) if j and i}
    return any(
        {(j - 1, i - 1) for i, j in grow_diag(direct, inverse, *flags)} != atools(forward, backward, *flags)
        for flags in HEURISTICS.values()
    )


def main():
    generator = random.Random(30)
    pairs = list(edge_cases())
    pairs += [scattered(generator) for _ in range(80)]
    pairs += [realistic(generator) for _ in range(80)]
    cases = ",\n".join(json.dumps(case(*pair)) for pair in pairs)
    OUTPUT.write_text(f"[\n{cases}\n]\n", encoding="utf-8")
    if "--differences" in sys.argv:
        count = sum(differs_from_atools(*realistic(generator)) for _ in range(2000))
        print(f"atools links {count} of 2000 differently")


if __name__ == "__main__":
    main()
