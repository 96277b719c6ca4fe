"""Runs softalign on sentences or pairs on a Spark cluster.

    spark-submit scripts/spark_translate.py --input corpus.txt --output translations -- \\
        /opt/softalign translate --model /shared/en-fr --threads 1 --quiet
    spark-submit scripts/spark_translate.py --input pairs.tsv --output links -- \\
        /opt/softalign align --pairs - --model /shared/en-fr --threads 1 --format pharaoh --quiet

The command after `--` runs once per partition of the input, on the machine that holds the partition. It must write one line
per line it reads, and its files must exist under the same names on every machine. The output is a directory with one file per
partition; concatenated from part-00000 on, they have the order of the input. If a command fails, the job fails; its messages
are in the log of its machine.

Needs: pip install pyspark, and a Java runtime. To try it on one machine with two workers:

    python3 scripts/spark_translate.py --master "local-cluster[2,1,1024]" --parts 4 --input … --output … -- …
"""

import argparse
import shlex

from pyspark.sql import SparkSession

# Lines end at line feeds, as in softalign; Hadoop would also split them at carriage returns.
DELIMITER = {"textinputformat.record.delimiter": "\n"}
TEXT = ("org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
        "org.apache.hadoop.io.LongWritable",
        "org.apache.hadoop.io.Text")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", required=True, help="a file or directory that every machine can read")
    parser.add_argument("--output", required=True, help="a directory that does not exist yet")
    parser.add_argument("--parts", type=int, help="number of partitions of the input [default: one per block]")
    parser.add_argument("--master", help="URL of the Spark master [default: that of spark-submit]")
    parser.add_argument("command", nargs="+", help="softalign with its options, after --")
    options = parser.parse_args()

    builder = SparkSession.builder.appName("softalign")
    if options.master:
        builder = builder.master(options.master)
    context = builder.getOrCreate().sparkContext
    configuration = dict(DELIMITER)
    if options.parts:
        # Split size that gives this number of partitions.
        path = context._jvm.org.apache.hadoop.fs.Path(options.input)
        length = path.getFileSystem(context._jsc.hadoopConfiguration()).getContentSummary(path).getLength()
        configuration["mapreduce.input.fileinputformat.split.maxsize"] = str(max(1, -(-length // options.parts)))
    lines = context.newAPIHadoopFile(options.input, *TEXT, conf=configuration).values()
    lines.pipe(shlex.join(options.command), checkCode=True).saveAsTextFile(options.output)


if __name__ == "__main__":
    main()
