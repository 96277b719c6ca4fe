import json
import pickle

import numpy as np
import pytest
import softalign
from conftest import MODEL, ROOT, command
from softalign._options import AlignerOptions


@pytest.fixture(scope="module")
def file(pairs, tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def links_of(alignments):
    return [alignment.pharaoh() for alignment in alignments]


def test_links_of_a_model_are_those_of_the_command(model, pairs, file):
    for options in [{}, {"links_from": "attention"}, {"symmetrize": "intersection"}, {"threshold": 0.3}]:
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        arguments = ["--model", MODEL, "--pairs", file, "--format", "pharaoh", "--quiet", *arguments]
        assert links_of(model.align(pairs, **options)) == command("align", *arguments).splitlines(), options


def test_links_of_the_aligner_are_those_of_the_command(pairs, file):
    arguments = ["--links-from", "pairs", "--pairs", file, "--format", "pharaoh", "--quiet"]
    printed = command("align", *arguments, "--symmetrize", "grow-diag-final-and").splitlines()
    assert links_of(softalign.align(pairs, symmetrize="grow-diag-final-and")) == printed
    assert links_of(softalign.align(file, symmetrize="grow-diag-final-and")) == printed


def test_an_aligner_is_saved_and_loaded(pairs, tmp_path):
    aligner = softalign.Aligner(pairs)
    aligner.save(tmp_path / "aligner")
    loaded = softalign.Aligner.load(tmp_path / "aligner")
    links = list(zip(links_of(loaded.align(pairs)), links_of(aligner.align(pairs))))
    assert sum(one == other for one, other in links) >= 0.9 * len(links)
    more = softalign.Aligner([("zebra", "zèbre")], prior=aligner)
    assert more.align([("zebra", "zèbre")])[0].links == [(0, 0)]
    assert loaded.align([]) == []
    with pytest.raises(softalign.ArgumentError):
        softalign.Aligner([])
    with pytest.raises(FileNotFoundError):
        softalign.Aligner.load(tmp_path / "none")


@pytest.mark.parametrize("name", AlignerOptions.__annotations__)
def test_every_option_of_the_aligner_is_read(name):
    with pytest.raises(softalign.ArgumentError):
        softalign.align([("a", "b")], **{name: {"no": "such value"}})


def test_arrays_share_the_alignment_and_cannot_be_changed(model):
    alignment = model.translate("She sleeps.").alignment
    assert np.shares_memory(alignment.attention, alignment.attention)
    attention = alignment.attention
    before = attention.copy()
    with pytest.raises(ValueError):
        attention[0, 0] = 1
    with pytest.raises(ValueError):
        attention.flags.writeable = True
    del alignment
    np.testing.assert_array_equal(attention, before)


def test_an_alignment_is_made_of_arrays():
    alignment = softalign.Alignment(["a", "cat"], ["un", "chat"], [[0.9, 0.1], [0.1, 0.7]])
    assert alignment.links == [(0, 0), (1, 1)] and alignment.pharaoh() == "0-0 1-1"
    np.testing.assert_allclose(alignment.eos, [0, 0.2], atol=1e-6)
    assert alignment.texts == ("a cat", "un chat") and np.isnan(alignment.score) and alignment.unknown is None
    given = softalign.Alignment(["a"], [], np.zeros((0, 1)), links=[])
    assert given.links == [] and given.attention.shape == (0, 1)
    repr(given), given._repr_html_()
    with pytest.raises(softalign.ArgumentError, match=r"\[2, 2\]"):
        softalign.Alignment(["a", "cat"], ["un", "chat"], [[1.0], [1.0]])
    with pytest.raises(softalign.ArgumentError, match="outside"):
        softalign.Alignment(["a"], ["un"], [[1.0]], links=[(0, 1)])
    with pytest.raises(softalign.ArgumentError, match=r"expected shape \[1\]"):
        softalign.Alignment(["a"], ["un"], [[1.0]], eos=[0.0, 0.0])


def test_alignments_are_pickled(model):
    alignment = model.align([("She sleeps.", "Elle dort.")])[0]
    copy = pickle.loads(pickle.dumps(alignment))
    assert copy.links == alignment.links and copy.texts == alignment.texts and copy.score == alignment.score
    np.testing.assert_array_equal(copy.attention, alignment.attention)


def test_files_have_the_format_of_their_extension(model, tmp_path):
    found = model.translate(["She sleeps.", "He sings."])
    softalign.save(found, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert len(arrays.files) > 0
    softalign.save(found, tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["target"] for line in lines] == [one.target for one in found]
    softalign.save(found, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found[0].alignment.save(tmp_path / "a.svg", view="links")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    softalign.save(found, tmp_path / "a.pharaoh")
    assert (tmp_path / "a.pharaoh").read_text() == "0-0 1-1\n0-0 1-1\n"
    softalign.save(found, tmp_path / "a.txt")
    assert "█" in (tmp_path / "a.txt").read_text(encoding="utf-8")
    with pytest.raises(softalign.ArgumentError, match="pdf"):
        softalign.save(found, tmp_path / "a.pdf")
    with pytest.raises(FileNotFoundError, match="cannot write"):
        softalign.save(found, tmp_path / "no" / "a.svg")
    with pytest.raises(softalign.FileError, match="cannot write"):
        (tmp_path / "b.svg").mkdir()
        softalign.save(found, tmp_path / "b.svg")
    assert not (tmp_path / "a.pdf").exists()


def test_figures_follow_the_page_and_hold_no_markup_of_words():
    alignment = softalign.Alignment(["<b>", "&"], ["<script>"], [[0.5, 0.5]])
    html = alignment._repr_html_()
    assert html.count("<svg") == 2 and "currentColor" in html
    assert "<script" not in html and "<b>" not in html
    assert "<text" in alignment.svg(numbers=True, width=300)
    for wrong in ({"view": "tree"}, {"width": 0}, {"width": 10, "font_size": 10}):
        with pytest.raises(softalign.ArgumentError):
            alignment.svg(**wrong)


def test_tables_and_plots(model):
    pandas = pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    alignment = model.translate("She sleeps.").alignment
    table = alignment.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["She", "sleeps.", "</s>"] and list(table.index) == ["Elle", "dort."]
    axes = alignment.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Elle", "dort."]
    assert alignment.plot(axes) is axes


def test_pairs_come_from_files_lists_and_frames(model, file, pairs):
    assert len(model.align(file)) == len(model.align(str(file))) == len(pairs)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(pairs[:3], columns=["en", "fr"])
    assert links_of(model.align(frame)) == links_of(model.align(pairs[:3]))
    for wrong in (["ab"], [("a",)], [("a", None)], [("a", "b", "c")], [{"en": "a", "fr": "b"}]):
        with pytest.raises(softalign.ArgumentError, match=r"pairs\[0\]"):
            model.align(wrong)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        model.align(ROOT / "nowhere.tsv")
