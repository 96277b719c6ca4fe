import logging
import signal
import threading

import numpy as np
import pytest
import softalign
from conftest import TINY
from softalign._options import TrainOptions


def files_of(directory):
    """Return the contents of the files that make a model."""
    names = ("model.safetensors", "source.tokenizer.json", "target.tokenizer.json")
    return {name: (directory / name).read_bytes() for name in names}


def test_pairs_in_memory_and_in_a_file_train_the_same_model(training_pairs, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in training_pairs), encoding="utf-8")
    memory = softalign.train(training_pairs, tmp_path / "memory", **TINY)
    softalign.train(file, tmp_path / "file", **TINY)
    assert files_of(tmp_path / "memory") == files_of(tmp_path / "file")
    assert memory.path == str(tmp_path / "memory")
    assert memory.summary()["parameters"] > 0
    assert isinstance(memory.translate("You know Spain."), str)


def test_nothing_is_printed_and_logging_gets_the_messages(training_pairs, tmp_path, capfd, caplog):
    with caplog.at_level(logging.INFO, logger="softalign"):
        softalign.train(training_pairs, tmp_path / "model", **TINY)
    assert capfd.readouterr() == ("", "")
    assert any("training pairs" in record.message for record in caplog.records)
    assert caplog.records[-1].message.startswith("2 epochs completed")
    assert "\x1b" not in caplog.text


def test_monolingual_sentences_and_teachers_in_memory_and_in_a_file(training_pairs, tmp_path):
    lines = ["tu connais la ville .", "", "nous dormons ."]
    file = tmp_path / "more.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = {**TINY, "teachers": 1}
    seen = []
    softalign.train(training_pairs, tmp_path / "memory", monolingual_target=lines, callback=seen.append, **options)
    assert list(dict.fromkeys(one.get("model") for one in seen)) == ["reverse", "teacher 1", None]
    softalign.train(training_pairs, tmp_path / "file", monolingual_target=file, **options)
    assert files_of(tmp_path / "memory") == files_of(tmp_path / "file")
    assert isinstance(softalign.load(tmp_path / "memory" / "auxiliary" / "reverse").translate("nous dormons ."), str)
    with pytest.raises(softalign.ArgumentError, match=r"monolingual_target\[1\]: expected str, not int"):
        softalign.train(training_pairs, tmp_path / "wrong", monolingual_target=["oui", 2], **options)
    longer = softalign.train(
        training_pairs, tmp_path / "memory", monolingual_target=lines, resume=True, max_epochs=TINY["max_epochs"] + 1
    )
    assert longer.curves.records


def test_progress_is_shown_on_request(training_pairs, tmp_path, capfd):
    softalign.train(training_pairs, tmp_path / "model", progress=True, **TINY)
    printed = capfd.readouterr()
    assert printed.out == "" and "training" in printed.err and "100%" in printed.err.replace(" ", "")


def test_callbacks_get_validations_and_curves_grow(training_pairs, tmp_path):
    seen = []
    model = softalign.train(training_pairs, tmp_path / "model", callback=seen.append, keep_attention=True, **TINY)
    assert len(seen) >= 2 and {"step", "best", "loss", "bleu"} <= set(seen[0])
    assert len(model.curves.records) >= 2 and "<svg" in model.curves._repr_html_()
    assert list(model.curves.attention) == [one["step"] for one in seen]
    first = model.curves.attention[seen[0]["step"]]
    assert len(first) == 5
    np.testing.assert_allclose(first[0].attention.sum(axis=1) + first[0].eos, 1, atol=0.01)
    pytest.importorskip("pandas")
    assert list(model.curves.to_pandas()["step"]) == [one["step"] for one in seen]


def test_an_interrupt_stops_the_training_which_resumes_to_the_same_bytes(training_pairs, tmp_path):
    options = {**TINY, "max_epochs": 6, "validate_every": 5}
    softalign.train(training_pairs, tmp_path / "whole", **options)

    def interrupt(validation):
        if validation["step"] == 10:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        softalign.train(training_pairs, tmp_path / "stopped", callback=interrupt, **options)
    resumed = softalign.train(training_pairs, tmp_path / "stopped", resume=True, **options)
    assert files_of(tmp_path / "stopped") == files_of(tmp_path / "whole")
    assert resumed.curves.records


def test_a_signal_from_outside_stops_the_training_in_good_order(training_pairs, tmp_path):
    started = threading.Event()
    timer = threading.Thread(target=lambda: (started.wait(), signal.raise_signal(signal.SIGINT)))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        softalign.train(
            training_pairs, tmp_path / "model", callback=lambda _: started.set(), **{**TINY, "max_epochs": 10_000}
        )
    timer.join()
    softalign.load(tmp_path / "model").translate("You know Spain.")


def test_an_exception_of_the_callback_stops_the_training(training_pairs, tmp_path):
    def fail(validation):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        softalign.train(training_pairs, tmp_path / "model", callback=fail, **{**TINY, "max_epochs": 10_000})
    softalign.load(tmp_path / "model")


def test_a_model_is_not_overwritten(training_pairs, tmp_path):
    softalign.train(training_pairs, tmp_path / "model", **TINY)
    before = files_of(tmp_path / "model")
    with pytest.raises(softalign.Error, match="holds a model"):
        softalign.train(training_pairs, tmp_path / "model", **TINY)
    assert files_of(tmp_path / "model") == before
    softalign.train(training_pairs, tmp_path / "model", replace=True, **{**TINY, "max_epochs": 1})
    assert files_of(tmp_path / "model") != before
    assert files_of(tmp_path / "model" / "previous") == before
    with pytest.raises(softalign.ArgumentError, match="not both"):
        softalign.train(training_pairs, tmp_path / "model", resume=True, replace=True)


def test_warm_starts(training_pairs, tmp_path):
    softalign.train(training_pairs, tmp_path / "base", **TINY)
    softalign.train(training_pairs[:100], tmp_path / "more", init_from=tmp_path / "base", max_epochs=1)
    with pytest.raises(FileNotFoundError):
        softalign.train(training_pairs, tmp_path / "other", init_from=tmp_path / "none")
    with pytest.raises(softalign.ArgumentError, match="init_from"):
        softalign.train(training_pairs, tmp_path / "other", init_vocabulary="keep")


def test_errors_of_arguments(training_pairs, tmp_path):
    out = tmp_path / "model"
    with pytest.raises(FileNotFoundError, match="nowhere.tsv"):
        softalign.train(tmp_path / "nowhere.tsv", out)
    with pytest.raises(TypeError, match="Did you mean 'max_epochs'"):
        softalign.train(training_pairs, out, max_epoch=3)
    with pytest.raises(softalign.ArgumentError, match="max_epochs: expected int"):
        softalign.train(training_pairs, out, max_epochs="three")
    with pytest.raises(softalign.ArgumentError, match=r"pairs\[1\]"):
        softalign.train([("a", "b"), ("c", 4)], out)
    with pytest.raises(softalign.Error):
        softalign.train([], out)
    assert not out.exists()


@pytest.mark.parametrize("name", TrainOptions.__annotations__)
def test_every_option_is_read(training_pairs, tmp_path, name):
    with pytest.raises(softalign.ArgumentError):
        softalign.train(training_pairs, tmp_path / "model", **{name: [{"no": "such value"}]})
