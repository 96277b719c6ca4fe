"""Hugging Face datasets and Spark, where they are installed."""

import os
import shutil
import signal
import sys

import pytest
from conftest import MODEL

SENTENCES = ["She sleeps.", "They bought a hat.", "", "Where is the station?"]


def test_a_dataset_is_mapped_in_batches_and_in_processes(model):
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"en": SENTENCES * 3})
    expected = [one.text for one in model.translate(SENTENCES)] * 3
    for processes in (None, 2):
        translated = table.map(model.mapper("en", "fr", beam=5), batched=True, batch_size=5, num_proc=processes)
        assert translated["fr"][:] == expected and translated["en"][:] == table["en"][:]


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_a_spark_column_is_translated(model):
    pyspark = pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import pandas_udf

    os.environ["PYSPARK_PYTHON"] = sys.executable
    interrupt = signal.getsignal(signal.SIGINT)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        table = spark.createDataFrame([(number, text) for number, text in enumerate(SENTENCES)], ["id", "en"])
        translate = pandas_udf(model.series(beam=5), "string")
        rows = table.repartition(2).withColumn("fr", translate("en")).orderBy("id").collect()
    finally:
        spark.stop()
        # Spark's own handler would stay.
        signal.signal(signal.SIGINT, interrupt)
    assert [row["fr"] for row in rows] == [one.text for one in model.translate(SENTENCES)]


def test_a_series_keeps_its_index(model):
    pandas = pytest.importorskip("pandas")
    found = model.series()(pandas.Series(["She sleeps.", "He sings."], index=[7, 3]))
    assert list(found.index) == [7, 3] and list(found) == ["Elle dort.", "Il chante."]
    assert type(found.iloc[0]) is str and str(MODEL) in repr(model)
