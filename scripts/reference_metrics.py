"""Generates reference scores for the tests of BLEU, chrF, chrF++ and TER with sacrebleu.

This writes tests/reference/metrics.json: small corpora that cover edge cases, each with its corpus
BLEU (exponential smoothing, order 4) and the tokenized hypotheses by tokenization, chrF (character
order 6, beta 2), chrF++ (with words and pairs of words) and TER. tests/reference/significance.json has the hypotheses of two systems,
the confidence intervals of their scores, and the p-values of their differences. The output is
deterministic.

Needs: pip install sacrebleu
Run from the repository root: python scripts/reference_metrics.py
With a program and files of text, this compares the program's scores of thousands of odd lines with
sacrebleu's: python scripts/reference_metrics.py target/release/softalign data/test.tsv
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

OUTPUT = Path("tests/reference/metrics.json")
TOKENIZERS = ["13a", "zh", "char", "intl", "none"]
SIGNIFICANCE = Path("tests/reference/significance.json")

# name: pairs of hypothesis and reference
CORPORA = {
    "identical": [
        ("The baker opens the shop before dawn.", "The baker opens the shop before dawn."),
        ("Nobody had watered the tomatoes.", "Nobody had watered the tomatoes."),
    ],
    "partly right": [
        ("The old ferry leaves at noon today.", "The old ferry departs at noon."),
        ("My sister is painting a kitchen wall.", "My sister is painting the kitchen wall."),
        ("the the the the the the", "the cat sat beside the stove"),
    ],
    "empty hypotheses": [
        ("", "A hypothesis without any words."),
        ("", "And one more of the kind."),
    ],
    "some empty": [
        ("", "This sentence was not translated."),
        ("The bridge is closed until the spring.", "The bridge is closed until spring."),
        ("Words for an empty reference.", ""),
        ("   ", "Only blanks were given."),
        ("", ""),
    ],
    "shorter than four words": [
        ("Good morning", "Good morning"),
        ("Run", "Run!"),
        ("Come here", "Come over here now"),
    ],
    "one four-word sentence": [
        ("Rivers", "Rivers"),
        ("Birds sing before sunrise", "Birds sing before sunset"),
    ],
    "no overlap": [
        ("zzz qqq xxx jjj", "the moon above a hut"),
    ],
    "only characters overlap": [
        ("bakers walked slowly homewards yesterday", "the baker walks slow on home ways"),
    ],
    "only single words overlap": [
        ("red house by a blue lake", "a lake, blue; by it the house: red"),
    ],
    "too long": [
        (
            "The goat really did eat the whole of the long letter on the table there.",
            "The goat ate the letter.",
        ),
    ],
    "numbers": [
        ("It cost $5, not $1,000.5, i.e. 50% less.", "It cost $5, not $1,000.50, i.e. 50% off."),
        ("Scores: 3-4, 12-0 and -7; pi is 3.14.", "Scores: 3-4, 12-0, -7; pi is 3.14159."),
        ("Call 555-0199 at 10:45, room 4/b.", "Call 555-0199 at 10:45 (room 4/b)."),
        (".5 or ,5 or 5. or 5, or 1.2.3 or 1..2", ".5, ,5, 5., 5, 1.2.3, 1..2"),
        ("v2.x x.2 2,a a,2 9.", "v2.x x.2 2,a a,2 9"),
    ],
    "punctuation": [
        ('She said "quoted" words... twice?!', 'She said: "quoted words", twice.'),
        ("The U.S.A. and A.B. of the E.U.", "The USA and A.B. of the E.U."),
        ("A well-known mother-in-law -- yes - no", "A well known mother-in-law - yes, no"),
        ("Don't use 'single' quotes, o'clock `ticks`", "Do not use 'single' quotes `ticks`"),
        ("(a) [b] {c} <d> *e* _f_ ~g ^h |i \\j", "(a) [b] {c} <d> *e* _f_ ~g ^h |i \\j k"),
        ("mail me@example.org #3 a+b=c; x:y/z", "mail me@example.org, #3: a+b = c; x:y/z"),
        ("Wait.,what.,.now", "Wait., what. ,.now"),
    ],
    "entities": [
        ("Salt &amp; pepper &lt;b&gt; &quot;now&quot;", 'Salt & pepper <b> "now"'),
        ("twice &amp;quot; &amp;amp; &amp;lt; &apos; &nbsp;", "twice &quot; &amp; &lt; ' "),
        ("a <skipped> word & a co<skipped>operation", "a word and a cooperation"),
    ],
    "unicode": [
        ("Le café était fermé hier, «déjà vu»…", "Le café est fermé depuis hier : « déjà vu »."),
        ("中文句子没有空格。", "中文的句子没有空格。"),
        ("我有3.5个苹果,你有2个。", "我有3.5个苹果，你有2个。"),
        (
            "Nice \U0001f600\U0001f44d\U0001f3fd work \U0001f469\u200d\U0001f680!",
            "Nice \U0001f600 work!",
        ),
        ("Cafe\u0301 and nin\u0303o", "Caf\u00e9 and ni\u00f1o"),
        ("ذهب الولد إلى المدرسة، اليوم؟", "ذهب الولد إلى البيت اليوم."),
        ("Straße – “Zitat” ‘x’ 5€ £3 №7 ٣٫٥", "Straße — “Zitat” 5€ £3 №7 ٣٫٥"),
        ("¿Dónde está el niño? ¡Allí!", "¿Dónde está la niña? ¡Aquí!"),
    ],
    "scripts without spaces": [
        ("我们昨天看了一本非常有意思的书。", "我们昨天读了一本很有意思的书。"),
        ("“Rust”——速度快、安全！（2015年）", "“Rust”——速度快，安全！(2015年)"),
        ("自分の事をしろ。カメラ、ﾊﾝｶｸ・ー々〇", "自分のことをしろ。カメラ、半角・ー々〇"),
        ("ฉันรักคุณมาก ๒๕๖๒ ๆลๆ ๚", "ผมรักคุณมาก ๒๕๖๒ ฯลฯ"),
        ("ខ្ញុំស្រឡាញ់អ្នក។ ຂ້ອຍຮັກເຈົ້າ", "ខ្ញុំស្រលាញ់អ្នក។ ຂ້ອຍຮັກເຈົ້າ"),
        ("ကျွန်တော် မင်းကို ချစ်တယ်။", "ကျွန်တော်မင်းကိုချစ်တယ်။"),
        ("\U00020000\U0002a6d6\U0002f800\u2000\u2001\u2a6d\u2a6e\u4db6\u9fbc\ufa2e 你", "\U00020000\u4db5\u9fbb 你"),
        ("A,我.我 ,5,我5.我-3-", "A,我. 我,5, 我5 .我 -3-"),
    ],
    "white space": [
        ("two  spaces   and    more", "two spaces and more"),
        ("  leading and trailing words here  ", "leading and trailing words here"),
        ("a\ttab\t\tbetween the words\t", "a tab between the words"),
        ("no\u00a0break and ideographic\u3000space", "no break and ideographic space"),
        ("a line\nbreak and a hyphen-\nated word", "a line break and a hyphenated word"),
    ],
    "case": [
        ("THE LAST Train leaves At Nine", "the last train leaves at nine"),
        ("Paris in May is lovely indeed.", "paris in may is lovely indeed."),
    ],
}

SUBJECTS = ["The farmer", "A tired nurse", "My uncle", "Every child", "The new mayor"]
VERBS = ["sells", "paints", "forgets", "repairs"]
OBJECTS = ["a red bicycle", "the garden gate", "three old clocks"]
ENDINGS = ["in the rain.", "on Sunday, perhaps.", "with great care!", "again and again."]


def many_sentences():
    """Returns twenty pairs that differ in the verb, in word order, at the end or not at all."""
    pairs = []
    for i in range(20):
        subject, verb = SUBJECTS[i % 5], VERBS[i % 4]
        thing, ending = OBJECTS[i % 3], ENDINGS[i * 3 % 4]
        reference = f"{subject} {verb} {thing} {ending}"
        hypothesis = [
            reference,
            f"{subject} {VERBS[(i + 1) % 4]} {thing} {ending}",
            f"{thing} {subject} {verb} {ending}",
            f"{subject} {verb} {thing}.",
        ][i * 7 % 4]
        pairs.append((hypothesis, reference))
    return pairs


def shuffled_sentences():
    """Returns sixty pairs of up to 40 words, with phrases moved and words changed, deleted and inserted."""
    rng = random.Random(1)
    pairs = []
    for number in range(60):
        reference = [rng.choice("the a fox owl wood sings , . runs red".split()) for _ in range(rng.randint(1, 40))]
        words = list(reference)
        for _ in range(rng.randint(0, 4)):
            start, length = rng.randrange(len(words)), rng.randint(1, 12)
            phrase, words = words[start : start + length], words[:start] + words[start + length :]
            start = rng.randint(0, len(words))
            words = words[:start] + phrase + words[start:]
        for _ in range(number % 5):
            start = rng.randint(0, len(words))
            words[start : start + rng.randint(0, 1)] = [rng.choice(["The", "fox", "new"])] * rng.randint(0, 2)
        pairs.append((" ".join(words), " ".join(reference)))
    return pairs


def two_systems():
    """Returns 200 references and the hypotheses of two systems, the second slightly better."""
    rng = random.Random(2)
    references, systems = [], [[], []]
    for _ in range(200):
        words = f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)} {rng.choice(ENDINGS)}".split()
        references.append(" ".join(words))
        for system, share in zip(systems, (0.25, 0.22)):
            system.append(" ".join("thing" if rng.random() < share else word for word in words))
    return references, systems


def significance():
    references, (baseline, system) = two_systems()
    metrics = {"bleu": BLEU(references=[references]), "chrf": CHRF(references=[references]), "ter": TER(references=[references])}
    entry = {"references": references, "baseline": baseline, "system": system}
    for kind, name, samples in [("bs", "bootstrap", 1000), ("ar", "randomization", 10000)]:
        named = [("baseline", baseline), ("system", system)]
        results = PairedTest(named, metrics, None, test_type=kind, n_samples=samples)()[1]
        for metric, values in results.items():
            if metric != "System":
                found = entry.setdefault(metric.lower().rstrip("2"), {})
                found[name] = values[1].p_value
                if kind == "bs":
                    found["mean"], found["half_width"] = float(values[1].mean), float(values[1].ci)
    return entry


def score(name, pairs):
    hypotheses = [hypothesis for hypothesis, _ in pairs]
    references = [reference for _, reference in pairs]
    by_tokenizer = {}
    for tokenizer in TOKENIZERS:
        metric = BLEU(tokenize=tokenizer)
        found = metric.corpus_score(hypotheses, [references])
        by_tokenizer[tokenizer] = {
            "bleu": found.score,
            "precisions": found.precisions,
            "brevity_penalty": found.bp,
            "tokenized": [" ".join(metric._preprocess_segment(text).split()) for text in hypotheses],
            "signature": str(metric.get_signature()),
        }
    return {
        "name": name,
        "hypotheses": hypotheses,
        "references": references,
        "tokenizers": by_tokenizer,
        "chrf": CHRF().corpus_score(hypotheses, [references]).score,
        "chrf_pp": CHRF(word_order=2).corpus_score(hypotheses, [references]).score,
        "ter": TER().corpus_score(hypotheses, [references]).score,
    }


ODD = "a1 .,-'\"&<>()。、・“—…€№½٣๒ー々ก็ម្မྱ\u2001\u2028\x1c\xa0\u200b\u0301\ufe0f\U0001f600\U00020000\uff11\uac00"


def odd_pairs(lines, count):
    """Returns pairs of lines, and of the same lines with characters replaced, moved and inserted at random."""
    rng = random.Random(3)
    pairs = []
    for _ in range(count):
        reference = rng.choice(lines) if rng.random() < 0.8 else "".join(rng.choices(ODD, k=rng.randint(0, 30)))
        hypothesis = list(reference)
        for _ in range(rng.randint(0, 8)):
            place = rng.randint(0, len(hypothesis))
            hypothesis[place : place + rng.randint(0, 2)] = rng.choices(ODD, k=rng.randint(0, 2))
        pairs.append(["".join(side).replace("\t", " ").strip() or "a" for side in (hypothesis, reference)])
    return pairs


def compare(program, files):
    """Compares the program's scores of thousands of odd lines with sacrebleu's, BLEU for each tokenization."""
    lines = [line for file in files for line in Path(file).read_text(encoding="utf-8").split("\n") if line.strip()]
    pairs = odd_pairs(lines, 5000)
    hypotheses, references = map(list, zip(*pairs))
    with tempfile.TemporaryDirectory() as folder:
        named, scored = Path(folder, "pairs.tsv"), Path(folder, "hypotheses.txt")
        named.write_text("".join(f"two words\t{reference}\n" for reference in references), encoding="utf-8")
        scored.write_text("".join(f"{hypothesis}\n" for hypothesis in hypotheses), encoding="utf-8")
        for tokenizer in TOKENIZERS:
            command = [program, "evaluate", "--pairs", named, "--hypotheses", scored, "--tokenize", tokenizer, "--json"]
            found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            expected = BLEU(tokenize=tokenizer).corpus_score(hypotheses, [references]).score
            print(f"{tokenizer}: BLEU {found['bleu']:.6f}, sacrebleu's {expected:.6f}")
            assert abs(found["bleu"] - expected) < 1e-9, tokenizer
        for key, metric in [("chrf", CHRF()), ("chrf_pp", CHRF(word_order=2))]:
            expected = metric.corpus_score(hypotheses, [references]).score
            print(f"{key}: {found[key]:.6f}, sacrebleu's {expected:.6f}")
            assert abs(found[key] - expected) < 1e-9, key


def main():
    if len(sys.argv) > 2:
        compare(sys.argv[1], sys.argv[2:])
        return
    corpora = {**CORPORA, "many sentences": many_sentences(), "shuffled": shuffled_sentences()}
    scores = [score(name, pairs) for name, pairs in corpora.items()]
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(scores, ensure_ascii=False, indent=1)
    OUTPUT.write_text(text + "\n", encoding="utf-8")
    SIGNIFICANCE.write_text(json.dumps(significance(), indent=1) + "\n", encoding="utf-8")
    for entry in scores:
        bleu = ", ".join(f"{tokenizer} {found['bleu']:.2f}" for tokenizer, found in entry["tokenizers"].items())
        print(f"{entry['name']}: BLEU {bleu}, chrF {entry['chrf']:.2f}, TER {entry['ter']:.2f}")


if __name__ == "__main__":
    main()
