"""Arguments of any type, data frames, and what is said about wrong ones."""

import pytest
import softalign
from conftest import MODEL

SENTENCES = ["She sleeps.", "He sings."]
TRANSLATIONS = ["Elle dort.", "Il chante."]


def frames():
    """The data frame libraries that are installed."""
    for name in ("pandas", "polars"):
        try:
            yield __import__(name)
        except ImportError:
            pass


FRAMES = pytest.mark.parametrize("library", [pytest.param(one, id=one.__name__) for one in frames()])


def test_the_version_is_that_of_the_package():
    assert softalign.__version__.count(".") == 2 and "__version__" in softalign.__all__


@FRAMES
def test_a_table_of_two_columns_holds_pairs(model, library):
    table = library.DataFrame({"id": [1, 2], "en": SENTENCES, "fr": TRANSLATIONS})
    pairs = list(zip(SENTENCES, TRANSLATIONS))
    expected = [one.links for one in model.align(pairs)]
    assert [one.links for one in model.align(table[["en", "fr"]])] == expected
    assert [one.links for one in model.align(zip(table["en"], table["fr"]))] == expected
    assert model.evaluate(table[["en", "fr"]]).bleu == model.evaluate(pairs).bleu
    with pytest.raises(softalign.ArgumentError, match="two columns.*'id', 'en', 'fr'"):
        model.align(table)


@FRAMES
def test_a_column_holds_sentences(model, library):
    table = library.DataFrame({"en": SENTENCES})
    assert model.translate(table["en"]) == TRANSLATIONS
    assert softalign.bleu(table["en"], table["en"]).score == softalign.bleu(SENTENCES, SENTENCES).score
    with pytest.raises(softalign.ArgumentError, match="one column, not a table"):
        model.translate(table)


def test_wrong_types_are_refused_at_the_call(model):
    for wrong in (5, None, 2.5, object()):
        with pytest.raises(softalign.ArgumentError, match="sentences: expected text or a list"):
            model.translate(wrong)
        with pytest.raises(softalign.ArgumentError, match="pairs: expected text or a list"):
            model.align(wrong)


def test_unknown_keywords_have_a_proposal(model):
    for call, proposal in (
        (lambda: model.translate("a", beem=3), "beam"),
        (lambda: model.translate("a", n_bests=3), "n_best"),
        (lambda: model.evaluate([("a", "b")], golds=[]), "gold"),
        (lambda: softalign.train([], "m", max_minute=3), "max_minutes"),
        (lambda: softalign.train([], "m", init_form="x"), "init_from"),
    ):
        with pytest.raises(TypeError, match=f"Did you mean '{proposal}'"):
            call()


def test_messages_are_about_python(model, tmp_path, training_pairs):
    existing = tmp_path / "model"
    existing.mkdir()
    (existing / "config.json").write_text("{}", encoding="utf-8")
    wrong = (
        lambda: softalign.load(tmp_path / "none"),
        lambda: softalign.load(MODEL / "model.safetensors"),
        lambda: softalign.Aligner.load(tmp_path),
        lambda: softalign.Aligner([]),
        lambda: softalign.train(tmp_path / "none.tsv", tmp_path / "new"),
        lambda: softalign.train([], tmp_path / "new"),
        lambda: softalign.train(training_pairs, existing),
        lambda: softalign.train(None, tmp_path / "new", resume=True),
        lambda: softalign.train(None, tmp_path / "new"),
        lambda: softalign.train(training_pairs, tmp_path / "new", dropout=2.0),
        lambda: softalign.train(training_pairs, tmp_path / "new", init_from=tmp_path),
        lambda: softalign.train(training_pairs, MODEL / "config.json"),
        lambda: model.translate("a", beam=0),
        lambda: model.translate("a", beam="wide"),
        lambda: model.translate("a", top_k=3),
        lambda: model.translate("a", head=9),
        lambda: model.align([("a", "b")], threshold=2.0),
        lambda: model.align(tmp_path),
        lambda: model.evaluate([]),
    )
    for call in wrong:
        with pytest.raises(softalign.Error) as raised:
            call()
        message = str(raised.value)
        for of_the_command in ("--", "softalign train", "softalign clean", "os error", "PAIRS"):
            assert of_the_command not in message, message


def test_an_evaluation_declares_its_scores(model):
    found = model.evaluate(list(zip(SENTENCES, TRANSLATIONS)), confidence=True)
    declared = softalign.Evaluation.__annotations__
    assert set(found.to_dict()) - {"schema"} <= set(declared)
    assert isinstance(found.bleu, float) and isinstance(found.confidence["bleu"], dict)
