import itertools
import json
import pickle

import numpy as np
import pytest
import softalign
from conftest import MODEL, command
from softalign._options import AlignOptions, EvaluateOptions, TranslateOptions

SENTENCE = "They bought a hat."


def test_translations_are_those_of_the_command(model, pairs):
    sentences = [source for source, _ in pairs]
    printed = command("translate", "--model", MODEL, "--quiet", text="\n".join(sentences) + "\n")
    assert [one.text for one in model.translate(sentences)] == printed.splitlines()


def test_scores_links_and_weights_are_those_of_the_command(model):
    printed = command(
        "translate", "--model", MODEL, "--format", "jsonl", "--n-best", 3, "--beam", 8, SENTENCE
    )
    expected = [json.loads(line) for line in printed.splitlines()]
    found = model.translate(SENTENCE, n_best=3, beam=8)
    assert len(found) == len(expected) == 3
    for translation, line in zip(found, expected):
        assert translation.text == line["translation"]
        assert translation.source == line["source"] and translation.target == line["target"]
        assert translation.score == pytest.approx(line["score"], abs=1e-4)
        np.testing.assert_allclose(translation.attention, line["attention"], atol=1e-4)
        assert translation.links == [tuple(link) for link in line["links"]]
        link_scores = [translation.alignment.link_scores[target, source] for source, target in translation.links]
        np.testing.assert_allclose(link_scores, line["link_scores"], atol=1e-4)
        alignment = translation.alignment
        assert alignment.confidence == pytest.approx(line["confidence"])
        assert alignment.word_confidence == pytest.approx(line["word_confidence"])
        assert alignment.nonwords == line["nonwords"]
        assert translation.doubts == line.get("doubts", [])
        assert translation.uncovered == line.get("uncovered", [])


def test_a_translation_is_a_str_with_its_alignment(model):
    translation = model.translate(SENTENCE)
    assert isinstance(translation, str) and translation == translation.text == str(translation)
    assert type(translation.text) is str
    assert translation.source == SENTENCE.split() and " ".join(translation.target) == translation
    assert translation.attention.shape == (len(translation.target), len(translation.source))
    np.testing.assert_allclose(translation.attention.sum(axis=1) + translation.eos, 1, atol=1e-5)
    assert translation.log_probability < 0 and translation.unmet_constraints == 0
    assert {translation: 1}[translation.text] == 1
    copy = pickle.loads(pickle.dumps(translation))
    assert copy == translation and copy.links == translation.links and copy.score == translation.score


def test_lists_give_lists_and_streams_give_streams(model):
    assert model.translate([]) == []
    assert model.translate(["She sleeps.", "", "  "])[1:] == ["", ""]
    assert model.translate(("She sleeps.",)) == ["Elle dort."]
    endless = model.translate(itertools.repeat("She sleeps.\n"))
    assert next(endless) == next(endless) == "Elle dort."
    [two] = list(model.translate(iter(["She sleeps."]), n_best=2))
    assert two[0] == "Elle dort." and len(two) == 2


def test_numpy_and_pandas_columns_are_lists(model):
    pandas = pytest.importorskip("pandas")
    assert model.translate(pandas.Series(["She sleeps."])) == ["Elle dort."]
    assert model.translate(np.array(["She sleeps."])) == ["Elle dort."]


def test_options_act_as_those_of_the_command(model, tmp_path):
    cases = [
        {"prefix": "Ils ont"},
        {"require": ["chapeau"]},
        {"avoid": "chapeau"},
        {"terms": {"hat": "casquette"}},
        {"sample": True, "seed": 7, "temperature": 2.0},
        {"mbr": 8, "seed": 3},
        {"attention_temperature": 2.0},
        {"markup": "html"},
    ]
    terms = tmp_path / "terms.tsv"
    terms.write_text("hat\tcasquette\n", encoding="utf-8")
    for options in cases:
        arguments = []
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            value = terms if name == "terms" else value
            for one in value if isinstance(value, list) else [value]:
                arguments += [flag] if one is True else [flag, one]
        printed = command("translate", "--model", MODEL, "--quiet", *arguments, text=SENTENCE + "\n")
        assert model.translate(SENTENCE, **options).text == printed.rstrip("\n"), options


#: A value that no option takes.
WRONG = [{"no": "such value"}]


@pytest.mark.parametrize("name", TranslateOptions.__annotations__)
def test_every_option_of_translate_is_read(model, name):
    with pytest.raises(softalign.ArgumentError):
        model.translate(SENTENCE, **{name: WRONG})


@pytest.mark.parametrize("name", AlignOptions.__annotations__)
def test_every_option_of_align_is_read(model, name):
    with pytest.raises(softalign.ArgumentError):
        model.align([("a", "b")], **{name: WRONG})


@pytest.mark.parametrize("name", EvaluateOptions.__annotations__)
def test_every_option_of_evaluate_is_read(model, name):
    with pytest.raises(softalign.ArgumentError):
        model.evaluate([("a", "b")], **{name: WRONG})


def test_an_ensemble_averages_its_models(model):
    twice = softalign.load(MODEL, MODEL)
    assert twice.translate(SENTENCE) == model.translate(SENTENCE)


def test_scores_are_those_of_the_command(model, pairs, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    printed = command("score", "--model", MODEL, "--pairs", file, "--quiet")
    expected = [float(line.split("\t")[0]) for line in printed.splitlines()]
    found = model.score(pairs)
    np.testing.assert_allclose([one.log_probability for one in found], expected, atol=1e-3)
    assert all(one.tokens > len(one.words) for one in found)
    assert sum(p for _, p in found[0].words) + found[0].end == pytest.approx(found[0].log_probability, abs=1e-4)


def test_an_evaluation_is_that_of_the_command(model, pairs, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    expected = json.loads(command("evaluate", "--model", MODEL, "--pairs", file, "--json"))
    found = model.evaluate(file)
    assert found.bleu == expected["bleu"] and found.to_dict()["chrf"] == expected["chrf"]
    assert len(found.translations) == len(pairs)
    assert "BLEU" in repr(found) and "<table>" in found._repr_html_()
    with pytest.raises(AttributeError):
        found.bleurt


def test_gold_links_give_an_error_rate(model):
    pairs = [("She sleeps.", "Elle dort.")]
    assert model.evaluate(pairs, gold=[[(0, 0), (1, 1)]]).aer == pytest.approx(0.0)
    with pytest.raises(softalign.ArgumentError, match="beyond the words"):
        model.evaluate(pairs, gold=[[(0, 9)]])


def test_figures_of_lists_are_shown(model):
    found = model.translate(["She sleeps."] * 22)
    assert repr(found).startswith("['Elle dort.', ")
    html = found._repr_html_()
    assert html.count("<svg") == 40 and "2 more" in html
