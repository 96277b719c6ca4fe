import pytest
import softalign

HYPOTHESES = ["the cat sat on the mat", "a dog barked at me", "it rains today !", "she sings"]
REFERENCES = ["the cat sat on a mat", "the dog barked at me loudly", "it rains today!", "she sang"]


def test_scores_are_those_of_sacrebleu():
    sacrebleu = pytest.importorskip("sacrebleu")
    for name in ("bleu", "chrf", "ter"):
        expected = getattr(sacrebleu, f"corpus_{name}")(HYPOTHESES, [REFERENCES]).score
        assert float(getattr(softalign, name)(HYPOTHESES, REFERENCES)) == pytest.approx(expected, abs=1e-9)


def test_bleu_follows_the_script():
    hypotheses, references = ["猫が好きだ。"], ["猫が好きです。"]
    for tokenize, name in ((None, "char"), ("zh", "zh"), ("intl", "intl"), ("none", "none")):
        score = softalign.bleu(hypotheses, references, tokenize=tokenize)
        assert f"|tok:{name}|" in score.signature
    assert softalign.bleu(hypotheses, references).score > 30
    assert softalign.paired_test(hypotheses, references, references, tokenize="none").baseline == 0
    with pytest.raises(softalign.ArgumentError, match="tokenize must be one of 13a, zh"):
        softalign.bleu(hypotheses, references, tokenize="ja-mecab")


def test_intervals_and_signatures():
    score = softalign.bleu(HYPOTHESES, REFERENCES, confidence=True)
    assert score.confidence > 0 and str(score).startswith("BLEU ") and "±" in str(score)
    assert "smooth:exp" in score.signature
    assert softalign.chrf(HYPOTHESES, REFERENCES).confidence is None
    assert softalign.bleu(HYPOTHESES, REFERENCES, confidence=True, seed=2) != score


def test_paired_tests_tell_equal_systems_from_different_ones():
    equal = softalign.paired_test(HYPOTHESES, HYPOTHESES, REFERENCES)
    assert equal.baseline == equal.system and equal.randomization == 1
    better = softalign.paired_test(HYPOTHESES * 20, REFERENCES * 20, REFERENCES * 20, metric="chrf")
    assert better.system == pytest.approx(100) and better.bootstrap < 0.01 and better.randomization < 0.01


def test_wrong_arguments_are_named():
    for hypotheses, references in (([], []), (["a"], ["a", "b"])):
        with pytest.raises(softalign.ArgumentError):
            softalign.bleu(hypotheses, references)
    with pytest.raises(softalign.ArgumentError, match=r"references\[0\]"):
        softalign.bleu(["a"], [["a"]])
    with pytest.raises(softalign.ArgumentError, match="metric"):
        softalign.paired_test(["a"], ["a"], ["a"], metric="meteor")
