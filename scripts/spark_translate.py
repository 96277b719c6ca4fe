"""Send sentences, or pairs, through softalign on the machines of a Spark cluster.

    spark-submit scripts/spark_translate.py --input corpus.txt --output translations -- \\
        /opt/softalign translate --model /shared/en-fr --threads 1 --quiet
    spark-submit scripts/spark_translate.py --input pairs.tsv --output links -- \\
        /opt/softalign align --pairs - --model /shared/en-fr --threads 1 --format pharaoh --quiet

What stands after `--` runs once for each part of the input, on the machine where the part is; it has to be a command that
gives a line for each line, and its files have to be there under these names on every machine. The output is a folder with a
file for each part; one after the other, part-00000 first, they are in the order of the input. A part whose command fails
fails the whole; what it said stands in the log of the machine where it ran.

Needs: pip install pyspark, and a Java runtime. To try it on one machine with two workers:

    python3 scripts/spark_translate.py --master "local-cluster[2,1,1024]" --parts 4 --input … --output … -- …
"""

import argparse
import shlex

from pyspark.sql import SparkSession

# Lines end where softalign ends them; Hadoop would also break them at carriage returns.
DELIMITER = {"textinputformat.record.delimiter": "\n"}
TEXT = ("org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
        "org.apache.hadoop.io.LongWritable",
        "org.apache.hadoop.io.Text")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", required=True, help="a file or folder that every machine can read")
    parser.add_argument("--output", required=True, help="a folder that is not there yet")
    parser.add_argument("--parts", type=int, help="into how many parts the input is cut [default: as its blocks lie]")
    parser.add_argument("--master", help="where Spark runs [default: as spark-submit says]")
    parser.add_argument("command", nargs="+", help="softalign with its options, after --")
    options = parser.parse_args()

    builder = SparkSession.builder.appName("softalign")
    if options.master:
        builder = builder.master(options.master)
    context = builder.getOrCreate().sparkContext
    reading = dict(DELIMITER)
    if options.parts:
        # Blocks as large as make so many of them.
        path = context._jvm.org.apache.hadoop.fs.Path(options.input)
        length = path.getFileSystem(context._jsc.hadoopConfiguration()).getContentSummary(path).getLength()
        reading["mapreduce.input.fileinputformat.split.maxsize"] = str(max(1, -(-length // options.parts)))
    lines = context.newAPIHadoopFile(options.input, *TEXT, conf=reading).values()
    lines.pipe(shlex.join(options.command), checkCode=True).saveAsTextFile(options.output)


if __name__ == "__main__":
    main()
